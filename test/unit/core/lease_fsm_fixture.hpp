#ifndef HOLDFAST_TEST_UNIT_CORE_LEASE_FSM_FIXTURE_HPP
#define HOLDFAST_TEST_UNIT_CORE_LEASE_FSM_FIXTURE_HPP

#include "core/lease_fsm.hpp"
#include "unit/printers.hpp"

#include <chrono>

// A lease of 30 s that was asked for at `sent`, for the tests of its life.
namespace holdfast::test::one_lease {

using namespace std::chrono_literals;
using detail::lease_fsm;
using detail::lease_terms;
using detail::time_point;
using step = lease_fsm::step;
using kind = lease_fsm::step_kind;

inline constexpr time_point sent{1'000s};
inline constexpr time_point granted = sent + 10ms;
inline constexpr time_point deadline = sent + 29'700ms;
inline constexpr time_point stop = deadline - 3s;

inline lease_terms terms() {
    return {
        .lease = 30s,
        .drift = 300ms,
        .loss_margin = 3s,
        .renew_after = 10s,
        .request_timeout = 3s
    };
}

/// By its keep-alive, on the same terms.
inline bool renewed(
    lease_fsm& fsm,
    time_point sent_at,
    time_point now,
    time_point until = time_point::max()
) {
    return fsm.on_renewed({fsm.terms(), sent_at, until}, now);
}

inline lease_terms fixed_terms() {
    auto fixed = terms();
    fixed.renew = false;
    return fixed;
}

inline lease_terms bounded_terms(std::chrono::seconds max_hold) {
    auto bounded = terms();
    bounded.max_hold = max_hold;
    return bounded;
}

inline lease_fsm fresh() {
    return {terms(), sent, granted};
}

}  // namespace holdfast::test::one_lease

#endif
