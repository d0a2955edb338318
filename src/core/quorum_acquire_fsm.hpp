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
    /// `busy`: the one before in line was refused because another holder has the lock.
    action on_time_up(bool busy) noexcept;
    action on_cancel(cancel_request how) noexcept;
    /// There is no memory, or it cannot wait.
    action on_ended(error_code cause) noexcept;

    [[nodiscard]] bool done() const noexcept { return done_; }
    [[nodiscard]] bool in_round() const noexcept { return in_round_; }
    /// A round has come to something.
    [[nodiscard]] bool has_asked() const noexcept { return asked_; }
    [[nodiscard]] bool busy() const noexcept { return busy_; }

private:
    action finish(error_code cause) noexcept;
    action abort() noexcept;

    patience patience_;
    // Of the last round that was not decided.
    error_code why_not_ = errc::quorum_not_reached;
    bool in_round_ = false;
    bool asked_ = false;
    // The last round said that another holder has it.
    bool busy_ = false;
    bool cancelled_ = false;
    bool done_ = false;
};

}  // namespace holdfast::detail

#endif
