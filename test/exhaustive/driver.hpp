#ifndef HOLDFAST_EXHAUSTIVE_DRIVER_HPP
#define HOLDFAST_EXHAUSTIVE_DRIVER_HPP

#include "core/acquire_fsm.hpp"
#include "core/lease_terms.hpp"
#include "core/server_reply.hpp"
#include "exhaustive/context.hpp"
#include "exhaustive/world.hpp"

#include <boost/asio/cancellation_type.hpp>

#include <cstddef>
#include <cstdint>

namespace holdfast::exhaustive {

detail::lease_terms terms_of(scope const& of);

/// What a client does after a setback, or when its subscription was renewed, is spread over a part
/// of a tick in which anything else may happen: it comes in the next one.
inline constexpr tick spread = 1;

/// What `src/ops` and the port do with the verdicts of the machines, for one client and one key,
/// without Asio: each function is one turn of a strand, from the event that starts it to its end.
/// The names are those of `src/ops`, to be read side by side.
///
/// Left out, because they do not touch the machines: owners and further leases of one grant, the
/// release's own caller, statistics and logs.
class driver {
public:
    driver(context& ctx, client& self, tick now) : ctx_{ctx}, c_{self}, now_{now} {}

    // What the callers do. `i` is an acquisition.
    void start(int i);
    void cancel(int i, boost::asio::cancellation_type type);
    void release(int i);

    // What the command connection brings.
    /// The answer to the first request is read.
    void on_reply();
    /// The posted answer to request `at`.
    void on_not_sent(std::size_t at);
    void on_timeout();
    void on_commands_poisoned() { c_.commands = link::poisoned; }
    void on_commands_down();
    void on_commands_up();

    // What the notice connection brings.
    void on_push();
    void on_notices_down();
    void on_notices_up();

    // Timers and posted turns.
    void on_room_timer();
    void on_release_timer();
    void on_sweep();
    void on_limit(int i);
    void run_keep_alive(int i);
    void send_renewal(int i);
    void hand_over(int i);

private:
    using acquire_verdict = detail::acquire_fsm::verdict;

    [[nodiscard]] acquisition& at(int i) { return c_.acquisitions[static_cast<std::size_t>(i)]; }
    [[nodiscard]] bool commands_up() const { return c_.commands == link::up; }
    [[nodiscard]] bool waits() const { return !ctx_.of.one_attempt; }
    [[nodiscard]] bool in_room(int i) const;
    template <class Change>
    auto acquire_machine(int i, Change change) {
        return machines::run(ctx_.all.acquires, at(i).acquire, change);
    }
    template <class Change>
    auto room_machine(Change change) {
        return machines::run(ctx_.all.rooms, c_.waiting.machine, change);
    }
    [[nodiscard]] detail::acquire_fsm const& acquire_of(int i) {
        return ctx_.all.acquires[at(i).acquire];
    }
    [[nodiscard]] detail::room_fsm const& room_state() const {
        return ctx_.all.rooms[c_.waiting.machine];
    }

    // acquire_op
    void attempt(int i);
    void on_acquire_answer(int i, detail::exec_status status, request const& r);
    void on_time_up(int i);
    void carry_out(int i, acquire_verdict const& verdict);
    void check_answer(int i, detail::attempt_answer answer, acquire_verdict const& verdict);

    // client_state
    void enter(int i);
    void leave(int i);
    void make_lease(int i);
    void withdraw(int i);
    void exec(script what, int of, std::size_t task = 0);

    // waiting_room
    void join(int i);
    void update();
    void arm(tick at);
    void on_room_answer(detail::attempt_answer answer, request const& r);
    void on_left(bool undecided);
    void on_news();
    void on_subscribed(bool again);

    // room_table
    void subscribe();
    void on_room_empty();
    void close_room();
    void arm_sweep(tick at);
    void on_released(bool told);

    // grant
    template <class Change>
    auto apply(int i, Change change);
    void wake(int i);
    void on_disconnected(int i);
    void on_connected(int i);
    void on_renewal_answer(int i, detail::exec_status status, request const& r);

    // releaser
    void add_release(release_task const& task);
    void send_release(std::size_t task);
    void on_release_answer(std::size_t task, detail::exec_status status, request const& r);
    void retry_release(std::size_t task, tick after);
    void finish_release(std::size_t task);
    void arm_release_timer(tick at);

    // The port
    void answer(request const& r, detail::exec_status status);
    void port_subscribe();
    void port_unsubscribe();
    void send_notice_request(bool subscribe);

    /// Forgets what nothing looks at any more, so that worlds that differ in nothing else are one.
    void tidy();

    context& ctx_;
    client& c_;
    tick now_;
};

}  // namespace holdfast::exhaustive

#endif
