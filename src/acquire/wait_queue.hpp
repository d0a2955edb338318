#ifndef HOLDFAST_ACQUIRE_WAIT_QUEUE_HPP
#define HOLDFAST_ACQUIRE_WAIT_QUEUE_HPP

#include "core/acquire_fsm.hpp"
#include "core/wait_queue_fsm.hpp"
#include "protocol/primitive.hpp"
#include "protocol/subscription.hpp"
#include "protocol/target.hpp"
#include "runtime/runtime.hpp"

#include <cstddef>
#include <list>
#include <memory>
#include <optional>

namespace holdfast::detail {

class acquire_op;
class acquisitions;

/// This client's waiters for one target, in order. Only the first one tries; one subscription
/// serves all. Used on the client's strand.
class wait_queue final : public std::enable_shared_from_this<wait_queue>, private subscriber {
public:
    wait_queue(acquisitions& all, std::shared_ptr<target const> on);

    void join(std::shared_ptr<acquire_op> op);
    void leave(acquire_op& op) noexcept;
    /// Lets the first waiter try if there is a reason to, else makes sure that a reason will be
    /// noticed. Without memory it tries again later.
    void update() noexcept;

    void on_answer(attempt_answer answer, attempt_reply const& reply, time_point now);
    /// A waiter has gone for another reason than an answer. `undecided`: it left an attempt behind.
    void on_left(bool undecided) noexcept;
    void on_news();
    void on_connected(nanos delay);
    void on_disconnected();
    void end_all(error_code cause);

    [[nodiscard]] std::size_t size() const noexcept { return waiters_.size(); }
    [[nodiscard]] bool empty() const noexcept { return waiters_.empty(); }
    [[nodiscard]] bool subscribed() const noexcept { return static_cast<bool>(subscription_); }
    /// Whether what is published now will arrive.
    [[nodiscard]] bool confirmed() const noexcept { return confirmed_; }
    [[nodiscard]] bool busy_since(time_point start) const noexcept {
        return fsm_.busy_since(start);
    }
    [[nodiscard]] std::shared_ptr<target const> const& on() const noexcept { return on_; }
    [[nodiscard]] time_point empty_since() const noexcept { return empty_since_; }

private:
    void on_confirmed(bool again) override;
    void on_unconfirmed() override;
    void on_refused(error_code cause) override;
    void on_notification() override { on_news(); }

    void attempt_or_sleep();
    void count_wait(acquire_op& op);
    void arm(time_point at);
    [[nodiscard]] time_point warn_at() const noexcept;
    void warn_of_own_lock();

    acquisitions& all_;
    std::shared_ptr<target const> on_;
    wait_queue_fsm fsm_;
    std::list<std::shared_ptr<acquire_op>> waiters_;
    subscription subscription_;
    std::optional<timer> timer_;
    time_point armed_for_ = time_point::max();
    time_point empty_since_{};
    bool confirmed_ = false;
    bool warned_of_expiry_ = false;
    bool warned_of_own_lock_ = false;
};

}  // namespace holdfast::detail

#endif
