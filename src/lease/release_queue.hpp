#ifndef HOLDFAST_LEASE_RELEASE_QUEUE_HPP
#define HOLDFAST_LEASE_RELEASE_QUEUE_HPP

#include "core/holder_id.hpp"
#include "core/release_fsm.hpp"
#include "protocol/primitive.hpp"
#include "protocol/target.hpp"
#include "runtime/client_context.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast::detail {

class tenure;

/// A lock to be freed: for a release that is waited for, for a lease that was dropped, for an
/// attempt that was left behind.
struct release_task {
    std::shared_ptr<target const> on;
    holder_id id;
    release_fsm::terms terms;
    /// What the lock is released for; none for a withdrawal.
    std::shared_ptr<tenure> of = {};
    std::shared_ptr<pending_handler<error_code>> caller = {};
    /// The holder id's entry in the server's queue is removed, too: its time to claim the lock.
    /// Zero: it has none.
    millis window{0};
    /// This client's next place in the server's queue. Only the first request asks for it: when a
    /// later one is executed, its holder id may be dead.
    std::optional<primitive::queue_entry> next = {};
    /// It is told only together with the release of a lock that is ours.
    usual_hold::report held = {};
};

/// What came of a request to release a lock.
struct released {
    /// Not used any more.
    holder_id id;
    /// What the request asked for.
    std::optional<primitive::queue_entry> next;
    /// Nothing without a definite answer.
    std::optional<release_reply> reply;
    time_point sent_at;
};

/// Sends releases, again and again until one is answered or the lease has ended by itself: the
/// caller's cancellation does not reach it. Used on the client's strand; it is a part of the
/// client.
class release_queue {
public:
    explicit release_queue(client_context& client);
    ~release_queue();

    void add(release_task task, time_point now = lease_clock::now());
    /// A connection was made, or broke, for the releases of `those`. Many are sent one after the
    /// other, over `spread_of` their number.
    void on_connected(client_context::some const& those = client_context::everything());
    void on_disconnected(client_context::some const& those = client_context::everything());
    /// Nothing more will be answered.
    void stop();
    [[nodiscard]] bool idle() const noexcept { return pending_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return pending_.size(); }
    /// Whether a lock may be left on the server that was to be freed.
    [[nodiscard]] bool left_behind() const noexcept;

    struct observer {
        /// A request was answered, or will not be.
        std::function<void(std::shared_ptr<target const> const& on, released const& what)>
            on_answered;
        /// The last release was settled.
        std::function<void()> on_idle;
    };
    void set_observer(observer to) { observer_ = std::move(to); }

private:
    struct entry;
    using entry_ptr = std::shared_ptr<entry>;
    // Ordered by when they have to be looked at.
    using queue = std::multimap<time_point, entry_ptr>;

    [[nodiscard]] entry_ptr list(release_task task, time_point now);
    void send(entry_ptr const& e, time_point now);
    void on_answer(
        entry_ptr const& e,
        exec_result const& result,
        std::optional<primitive::queue_entry> next,
        time_point sent_at
    );
    void apply(entry_ptr const& e, release_fsm::verdict const& verdict);
    static void tell(entry& e, release_fsm::verdict const& verdict);
    void requeue(entry& e);
    void drop_a_withdrawal();
    void arm();
    void on_timer();

    client_context& client_;
    observer observer_;
    queue pending_;
    std::size_t withdrawals_ = 0;
    // Until then something that was to be freed may be on the server.
    time_point left_behind_until_ = time_point::min();
    std::optional<timer> timer_;
    time_point armed_for_ = time_point::max();
    bool stopped_ = false;
};

}  // namespace holdfast::detail

#endif
