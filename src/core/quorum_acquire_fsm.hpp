#ifndef HOLDFAST_CORE_QUORUM_ACQUIRE_FSM_HPP
#define HOLDFAST_CORE_QUORUM_ACQUIRE_FSM_HPP

#include "core/acquire_fsm.hpp"
#include "core/lease_terms.hpp"
#include "core/quorum_tally.hpp"

#include <holdfast/detail/patience.hpp>
#include <holdfast/error.hpp>

#include <cstdint>

namespace holdfast::detail {

/// One acquisition of a quorum: whether it goes on after a round, and how it ends.
class quorum_acquire_fsm {
public:
    enum class step : std::uint8_t {
        /// Go on with what is under way; nothing, if that is so.
        wait,
        /// Give back what was granted, and try again later.
        retry,
        /// Complete with the lease.
        deliver,
        /// Complete with `error`, and with an empty lease.
        finish,
        /// Complete as cancelled.
        abort,
    };
    struct action {
        step what = step::wait;
        error_code error = {};
        friend bool operator==(action const&, action const&) = default;
    };

    explicit quorum_acquire_fsm(patience how_long) noexcept : patience_{how_long} {}

    void on_round() noexcept { in_round_ = true; }
    /// What a round came to, that is over. `sent`: nodes were asked; otherwise too few are
    /// connected, and one attempt waits for connections until `give_up_at`.
    action on_verdict(
        quorum_tally::verdict what,
        error_code cause,
        bool sent,
        time_point give_up_at,
        time_point now
    ) noexcept;
    /// The limit is reached. `busy`: since the operation began, a round of this client has found
    /// the lock busy. Otherwise the operation goes on if enough nodes can be asked (`reachable`).
    /// It is overdue then. The next round ends it, or the next call of this.
    action on_time_up(bool busy, bool reachable) noexcept;
    action on_cancel(cancel_request how) noexcept;
    /// It cannot wait.
    action on_ended(error_code cause) noexcept;

    [[nodiscard]] bool done() const noexcept { return done_; }
    [[nodiscard]] bool in_round() const noexcept { return in_round_; }
    /// Its time is up, and it waits for the end of a round.
    [[nodiscard]] bool overdue() const noexcept { return overdue_ && !done_; }

private:
    action finish(error_code cause) noexcept;
    action abort() noexcept;

    patience patience_;
    // Of the last round that was not decided.
    error_code why_not_ = errc::quorum_not_reached;
    bool in_round_ = false;
    bool cancelled_ = false;
    bool overdue_ = false;
    bool done_ = false;
};

}  // namespace holdfast::detail

#endif
