#include "core/sharing.hpp"

namespace holdfast::detail {

bool sharing::admits(bool waited, hold_fsm const& of, lease_terms const& wanted, time_point now)
    const noexcept {
    bool const in_time = to_ == extent::all && now - asked_at_ <= longest_ignorance;
    bool const asked = waited ? to_ != extent::none : in_time;
    return asked && !of.doubtful() && of.has_time_for(wanted, now);
}

}  // namespace holdfast::detail
