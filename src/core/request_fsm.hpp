#ifndef HOLDFAST_CORE_REQUEST_FSM_HPP
#define HOLDFAST_CORE_REQUEST_FSM_HPP

#include "core/backoff.hpp"
#include "core/lease_terms.hpp"

#include <holdfast/error.hpp>

#include <optional>

namespace holdfast::detail {

/// One request, from its first sending until it was answered or is given up. It decides whether it
/// is sent again, and what its caller is told.
///
/// Time is an argument, and so is randomness.
class request_fsm {
public:
    struct terms {
        /// It is not sent again after this.
        time_point until;
        /// It changes something: its caller has to know if that may have happened.
        bool changes = false;
        nanos backoff_min{0};
        nanos backoff_max{0};
    };
    enum class failure : std::uint8_t {
        /// It was not executed, for a cause that somebody has to mend.
        failed,
        /// It was not executed, for a cause that passes.
        refused,
        /// It may have been executed, or may be later.
        unknown,
    };

    explicit request_fsm(terms const& of) noexcept
        : terms_{of},
          backoff_{of.backoff_min, of.backoff_max} {}

    /// What the caller is told; nothing if it is sent again.
    [[nodiscard]] std::optional<error_code> on_failure(
        failure what,
        error_code cause,
        time_point now
    ) noexcept;
    /// How long to wait before it is sent again. `part` is in [0, 1).
    [[nodiscard]] nanos pause(double part) noexcept { return backoff_.next(part); }
    /// It was sent once only: no other can come later.
    [[nodiscard]] bool sure() const noexcept { return !unsure_; }

private:
    terms terms_;
    backoff backoff_;
    bool unsure_ = false;
};

}  // namespace holdfast::detail

#endif
