#ifndef HOLDFAST_ACQUIRE_WAIT_QUEUE_HPP
#define HOLDFAST_ACQUIRE_WAIT_QUEUE_HPP

#include "acquire/acquisitions.hpp"
#include "acquire/candidate.hpp"
#include "acquire/client_channel.hpp"
#include "acquire/op_list.hpp"
#include "acquire/own_lock_watch.hpp"
#include "core/orphan_watch.hpp"
#include "core/wait_queue_fsm.hpp"
#include "lease/holds.hpp"
#include "protocol/hand_over_message.hpp"
#include "protocol/primitive.hpp"
#include "protocol/subscription.hpp"
#include "protocol/target.hpp"
#include "runtime/counters.hpp"
#include "runtime/runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string_view>

namespace holdfast::detail {

class acquire_op;
class hold;

/// This client's waiters for one target, in order. One attempt, one subscription and one place in
/// the server's queue serve all. Used on the client's strand.
class wait_queue final : public std::enable_shared_from_this<wait_queue>, private subscriber {
public:
    wait_queue(acquisitions& all, std::shared_ptr<target const> on);

    void join(std::shared_ptr<acquire_op> op, time_point now);
    void leave(acquire_op& op);
    /// The time of this waiter is up: it waits for the next answer only.
    void on_overdue(std::shared_ptr<acquire_op> const& op);
    /// Tries if there is a reason to, else makes sure that a reason will be noticed.
    void update() { update(lease_clock::now()); }

    void on_news();
    void on_connected(nanos delay);
    void on_disconnected();
    void end_all(error_code cause);

    // Hand-over
    /// This client has the lock: its waiters get it from there.
    void on_own(hold& of) noexcept;
    /// This client does not have it any more.
    void on_gone();
    /// It lost it: those behind that hold have to ask the server.
    void on_lost(hold const& of);
    /// Gives a hold of this client to the first waiter.
    void take(hold& of);
    /// Another client gave the lock to this one. False if it is not what was asked for.
    [[nodiscard]] bool on_grant(hand_over_message const& message);
    /// This client is the next one.
    void on_next(hand_over_message const& message);
    /// Whether the lock is still ours has to be asked.
    void on_doubt();
    /// One waits in the server's queue behind this holder. Of another holder it says nothing.
    void on_others_wait(hand_over_message const& message);
    /// The lock was taken by force from this holder. Of another one it says nothing.
    void on_forced(hand_over_message const& message);
    /// The hold is given back to the server: the place of those who still wait.
    [[nodiscard]] std::optional<primitive::queue_entry> next_entry();
    void on_given_back(released const& what);
    /// Places in the server's queue can be had from now on, or not any more.
    void on_hand_over_changed();

    /// It has a place in the server's queue.
    [[nodiscard]] bool queued() const noexcept { return candidate_ && candidate_->place; }

    [[nodiscard]] std::size_t size() const noexcept { return waiters_.size(); }
    [[nodiscard]] bool empty() const noexcept { return waiters_.empty(); }
    [[nodiscard]] acquire_op& front() const noexcept { return *waiters_.front(); }
    [[nodiscard]] bool subscribed() const noexcept { return static_cast<bool>(subscription_); }
    /// It is of use to a waiter that comes when it is empty.
    [[nodiscard]] bool lingers() const noexcept {
        return subscribed() && !on_->speaks->queues_each();
    }
    /// Whether what is published now will arrive.
    [[nodiscard]] bool confirmed() const noexcept { return confirmed_; }
    /// Whether the lock was known to be held, after `start`.
    [[nodiscard]] bool busy_since(time_point start) const noexcept;
    [[nodiscard]] std::shared_ptr<target const> const& on() const noexcept { return on_; }
    [[nodiscard]] time_point empty_since() const noexcept { return empty_since_; }

private:
    // What was sent, and for whom.
    struct attempt {
        std::shared_ptr<candidate> by;
        std::weak_ptr<acquire_op> first;
        lease_terms terms;
        time_point sent_at;
        acquisitions::rights with;
        std::uint32_t tokens;
        bool wants_place;
        // A message was its reason.
        bool told;
        // It takes this one over.
        std::shared_ptr<orphan const> seen;
        std::int64_t limit;
    };
    // Where a primitive keeps the places of those that wait, and says whose turn it is.
    struct turn_listener final : subscriber {
        explicit turn_listener(wait_queue& queue) : of{queue} {}
        void on_confirmed(bool) override {}
        void on_unconfirmed() override {}
        void on_refused(error_code cause) override { of.on_refused(cause); }
        void on_notification(std::string_view message) override { of.on_turn(message); }

        wait_queue& of;
    };

    void on_confirmed(bool again) override;
    void on_unconfirmed() override;
    void on_refused(error_code cause) override;
    void on_notification(std::string_view message) override;
    void on_turn(std::string_view message);

    void update(time_point now);
    void listen(time_point now);
    void attempt_or_sleep(time_point now);
    void send_attempt(time_point now);
    void on_answer(attempt const& what, exec_result const& result);
    void on_busy(attempt const& what, attempt_reply const& reply, time_point now);
    void on_unreplicated(error_code cause, time_point now);
    void give_up_again(candidate const& by);
    void on_granted(attempt const& what, acquisitions::reading const& read, time_point now);
    void take_grant(candidate::grant const& granted);
    void deliver(
        std::shared_ptr<acquire_op> const& to,
        lease granted,
        time_point now,
        grant_kind how
    );
    /// The lock was granted to one of those that wait here.
    void let_others_follow(time_point now);
    void share_with_waiters(time_point now);
    /// What an attempt came to that was sent at that time; or this client has the lock since then.
    void tell_overdue(attempt_answer answer, error_code cause, time_point sent_at);
    void drop_candidate();
    [[nodiscard]] std::shared_ptr<candidate> end_candidate() noexcept;
    [[nodiscard]] std::shared_ptr<candidate> const& the_candidate();
    [[nodiscard]] client_channel& own_channel() noexcept;
    [[nodiscard]] hold* own(time_point now) const noexcept;
    [[nodiscard]] bool may_queue() noexcept;
    [[nodiscard]] std::int64_t stated_limit() const noexcept;
    void count_wait(acquire_op& op);
    void arm(time_point at);
    [[nodiscard]] time_point look_for_own_at() const noexcept;
    void warn_of_orphan(bool may_be_taken_over);

    acquisitions& all_;
    std::shared_ptr<target const> on_;
    wait_queue_fsm fsm_;
    op_list waiters_;
    // How many of them state the limit of a semaphore.
    std::size_t limits_ = 0;
    // Those whose time is up, and some that have gone since. None stays for long.
    std::list<std::weak_ptr<acquire_op>> overdue_;
    std::shared_ptr<candidate> candidate_;
    std::weak_ptr<hold> own_;
    orphan_watch orphans_;
    turn_listener turns_{*this};
    // On a cluster it is this lock's alone.
    std::optional<client_channel> channel_;
    subscription subscription_;
    subscription waiters_channel_;
    std::optional<timer> timer_;
    time_point armed_for_ = time_point::max();
    time_point empty_since_{};
    bool confirmed_ = false;
    bool told_ = false;
    // What comes next on the lock's own channel was said already.
    bool said_ = false;
    // The last message began a turn of clients that do not queue.
    bool turn_is_announced_ = false;
    bool warned_of_expiry_ = false;
    own_lock_watch own_lock_;
};

}  // namespace holdfast::detail

#endif
