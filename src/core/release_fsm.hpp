#ifndef HOLDFAST_CORE_RELEASE_FSM_HPP
#define HOLDFAST_CORE_RELEASE_FSM_HPP

#include "core/lease_terms.hpp"

#include <holdfast/error.hpp>
#include <holdfast/lease_state.hpp>

#include <cstdint>

namespace holdfast::detail {

/// One release, from its first request until it was answered, or until the server has freed the
/// lock by itself. It decides when the release is sent again, and what its caller is told.
///
/// Time is an argument.
class release_fsm {
public:
    struct terms {
        /// After this the server has freed the lock by itself.
        time_point until;
        nanos timeout{0};
        /// The lease was lost before: the release does not succeed, whatever the server says.
        bool was_lost = false;
        /// It is not known whether the lock was ever ours: "not ours" is as good as freed.
        bool withdrawal = false;

        /// The release of a lease. A renewal may have been executed and not answered.
        [[nodiscard]] static terms of_lease(lease_terms const& of, time_point now, bool was_lost) {
            return {now + of.lease, of.request_timeout, was_lost, false};
        }
        /// The release of what an attempt may have been granted.
        [[nodiscard]] static terms of_withdrawal(lease_terms const& of, time_point now) {
            return {now + of.lease, of.request_timeout, false, true};
        }
    };
    enum class answer : std::uint8_t {
        /// It was ours, and is free.
        freed,
        /// Our entry is not there.
        not_ours,
        /// The key holds something that is not a lock.
        corrupt,
        /// The server refuses the release for good.
        failed,
        /// The server refuses it for now, or it was not sent.
        refused,
        unknown,
    };
    struct verdict {
        /// The caller is told `error`, now.
        bool tell = false;
        error_code error;
        /// Nothing more will be sent.
        bool over = false;
        /// Something of ours may be left on the server.
        bool left_behind = false;
        /// The release found that the lease was lost, for this reason.
        loss_reason lost = loss_reason::none;
    };

    release_fsm(terms const& of, time_point now) noexcept : terms_{of}, started_{now} {}

    /// Whether it is to be sent now.
    [[nodiscard]] bool due(time_point now) const noexcept { return !in_flight_ && now >= send_at_; }
    void on_sent() noexcept;
    /// `why` is what the server said to `not_ours`. `pause` is how long to wait before the next
    /// request.
    verdict on_answer(
        answer what,
        error_code cause,
        loss_reason why,
        nanos pause,
        time_point now
    ) noexcept;
    /// Time has passed.
    verdict look(time_point now) noexcept;
    void on_disconnected() noexcept { connected_ = false; }
    /// It is sent after `delay`, which spreads many releases; earlier if that is more than half of
    /// the time that is left to tell the caller, or until the server has freed the lock by itself.
    void on_connected(nanos delay, time_point now) noexcept;
    /// Nothing will be answered any more.
    verdict on_stopped() noexcept;

    /// When to look again: never, while a request is in flight.
    [[nodiscard]] time_point wake_at() const noexcept;
    [[nodiscard]] terms const& of() const noexcept { return terms_; }

    friend bool operator==(release_fsm const& a, release_fsm const& b) noexcept {
        return a.started_ == b.started_ && a.send_at_ == b.send_at_ &&
               a.in_flight_ == b.in_flight_ && a.unsure_ == b.unsure_ && a.told_ == b.told_;
    }

private:
    [[nodiscard]] time_point answer_by() const noexcept { return started_ + 2 * terms_.timeout; }
    verdict finish(error_code error, bool left_behind) noexcept;
    [[nodiscard]] error_code gave_up() const noexcept;

    terms terms_;
    time_point started_;
    time_point send_at_ = time_point::min();
    bool connected_ = true;
    bool in_flight_ = false;
    // It was sent and not answered: "not ours" may be the work of our own request.
    bool unsure_ = false;
    bool told_ = false;
};

}  // namespace holdfast::detail

#endif
