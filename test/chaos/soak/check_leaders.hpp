#ifndef HOLDFAST_TEST_SOAK_CHECK_LEADERS_HPP
#define HOLDFAST_TEST_SOAK_CHECK_LEADERS_HPP

#include "soak/findings.hpp"
#include "soak/record.hpp"
#include "soak/rules.hpp"

namespace holdfast::soak {

/// Checks what the observers of an election were told: the right process for each term, never an
/// older term than before, and in calm times each leader that leads for a while.
void check_leaders(rules const& by, record const& said, findings& found);

}  // namespace holdfast::soak

#endif
