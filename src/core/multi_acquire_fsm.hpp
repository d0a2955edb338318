#ifndef HOLDFAST_CORE_MULTI_ACQUIRE_FSM_HPP
#define HOLDFAST_CORE_MULTI_ACQUIRE_FSM_HPP

#include "core/acquire_fsm.hpp"

#include <holdfast/detail/patience.hpp>
#include <holdfast/error.hpp>

#include <cstddef>
#include <cstdint>

namespace holdfast::detail {

/// One acquisition of several locks: which are asked for next, which are kept, and how it ends.
///
/// All are asked for together first, where that can be done. Then they are taken one by one in
/// their order, and those before are kept: two that wait for each other's locks would have to
/// disagree about the order.
///
/// Until all are held, those that are kept are renewed without limits. Then the limits that the
/// user set begin for all together. If one is lost in that moment, all are taken anew: those whose
/// limits have begun cannot be kept while it is waited for.
class multi_acquire_fsm {
public:
    enum class step : std::uint8_t {
        /// Something is under way.
        wait,
        /// Ask for all at once.
        together,
        /// Acquire the first one that is not kept.
        take,
        /// All are kept: have their limits begin.
        limit,
        /// Complete with the leases of all.
        deliver,
        /// Complete with `error`, and with an empty lease.
        finish,
        /// Complete as cancelled.
        abort,
    };
    /// Before the step, what is under way is cancelled, and all are given back but the first `kept`
    /// ones.
    struct action {
        step what = step::wait;
        std::size_t kept = 0;
        error_code error = {};
        friend bool operator==(action const&, action const&) = default;
    };

    /// `limits`: the user has set some.
    multi_acquire_fsm(std::size_t members, patience how_long, bool limits = false) noexcept
        : members_{members},
          patience_{how_long},
          limits_{limits} {}

    /// `together`: all can be asked for at once.
    action start(bool together) noexcept;
    /// What asking for all came to: the first `held` ones are held. `busy`: one is known to be
    /// another holder's; `cause` is why others are not held, if that is another.
    action on_together(std::size_t held, bool busy, error_code cause) noexcept;
    /// The member that was asked for was granted, and of those before and itself the first `held`
    /// ones are valid.
    action on_taken(std::size_t held) noexcept;
    /// It was not: it is busy, if there is no cause.
    action on_refused(error_code cause) noexcept;
    /// The limits have begun, and the first `held` ones are valid.
    action on_limited(std::size_t held) noexcept;
    /// One of those that are kept is lost. `cause` is what one attempt ends with then: success if
    /// the server said that the lock is not ours.
    action on_lost(std::size_t member, error_code cause) noexcept;
    /// The limit is reached. If no member was busy, or the limits are about to begin, and an answer
    /// may come soon (`reachable`), it is waited for: asking for all is the last thing that is done
    /// then, and what is taken one by one goes on. The next call of this is the end.
    action on_time_up(bool reachable) noexcept;
    action on_cancel(cancel_request how) noexcept;
    /// It cannot go on.
    action on_ended(error_code cause) noexcept;

    /// The number of members that are kept while others are asked for.
    [[nodiscard]] std::size_t kept() const noexcept { return kept_; }
    [[nodiscard]] bool done() const noexcept { return done_; }
    /// Its time is up, and it waits for an answer.
    [[nodiscard]] bool overdue() const noexcept { return overdue_ && !done_; }

private:
    action go_on() noexcept;
    action take_again(std::size_t kept, error_code cause) noexcept;
    action deliver() noexcept;
    action finish(error_code cause) noexcept;
    action abort() noexcept;

    std::size_t members_;
    std::size_t kept_ = 0;
    patience patience_;
    bool limits_;
    // The limits of all are about to begin. Some of them may have.
    bool limiting_ = false;
    // An answer was that one of them is busy.
    bool busy_ = false;
    bool cancelled_ = false;
    bool overdue_ = false;
    bool done_ = false;
};

}  // namespace holdfast::detail

#endif
