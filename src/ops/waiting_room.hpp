#ifndef HOLDFAST_OPS_WAITING_ROOM_HPP
#define HOLDFAST_OPS_WAITING_ROOM_HPP

#include "core/acquire_fsm.hpp"
#include "core/room_fsm.hpp"
#include "core/server_reply.hpp"
#include "ops/runtime.hpp"

#include <list>
#include <memory>
#include <optional>

namespace holdfast::detail {

class acquire_op;
class client_state;
struct key_names;

/// This client's waiters for one key, in order. Only the first one tries; one subscription serves
/// all.
class waiting_room : public std::enable_shared_from_this<waiting_room> {
public:
    waiting_room(client_state& client, std::shared_ptr<key_names const> key);

    void join(std::shared_ptr<acquire_op> op);
    void leave(acquire_op& op);
    /// Lets the first waiter try if there is reason to, else sees to it that one will be noticed.
    void update();

    void on_answer(attempt_answer answer, script_reply const& reply);
    /// A waiter has gone for another reason than an answer. `undecided`: it left an attempt behind.
    void on_left(bool undecided);
    void on_news();
    void on_subscribed(bool again);
    void on_notices_down();
    void on_commands_up();
    void on_commands_down();
    void end_all(error_code cause);

    [[nodiscard]] std::size_t size() const noexcept { return waiters_.size(); }
    [[nodiscard]] bool empty() const noexcept { return waiters_.empty(); }
    [[nodiscard]] bool subscribed() const noexcept { return wants_subscription_; }
    [[nodiscard]] bool confirmed() const noexcept { return confirmed_; }
    [[nodiscard]] bool last_answer_was_busy() const noexcept { return fsm_.last_answer_was_busy(); }
    [[nodiscard]] std::shared_ptr<key_names const> const& key() const noexcept { return key_; }
    [[nodiscard]] time_point empty_since() const noexcept { return empty_since_; }

private:
    void arm(time_point at);
    void count_wait(acquire_op& op);

    client_state& client_;
    std::shared_ptr<key_names const> key_;
    room_fsm fsm_;
    std::list<std::shared_ptr<acquire_op>> waiters_;
    std::optional<timer> timer_;
    time_point armed_for_ = time_point::max();
    time_point empty_since_{};
    bool wants_subscription_ = false;
    bool confirmed_ = false;
    bool warned_ = false;
};

}  // namespace holdfast::detail

#endif
