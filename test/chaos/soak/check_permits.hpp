#ifndef HOLDFAST_TEST_SOAK_CHECK_PERMITS_HPP
#define HOLDFAST_TEST_SOAK_CHECK_PERMITS_HPP

#include "soak/findings.hpp"
#include "soak/record.hpp"
#include "soak/rules.hpp"

namespace holdfast::soak {

/// Checks that no more permits of a semaphore were taken at a time than there are. Those of a
/// holder that does not give them up, such as one that was killed, are taken until its deadline.
void check_permits(rules const& by, record const& said, findings& found);

}  // namespace holdfast::soak

#endif
