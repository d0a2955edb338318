#ifndef HOLDFAST_TEST_SOAK_CHECK_ANSWERS_HPP
#define HOLDFAST_TEST_SOAK_CHECK_ANSWERS_HPP

#include "soak/findings.hpp"
#include "soak/record.hpp"
#include "soak/rules.hpp"

namespace holdfast::soak {

/// Checks what every caller is owed: an answer, in time, and to be told when its lease is lost.
void check_answers(rules const& by, record const& said, findings& found);

}  // namespace holdfast::soak

#endif
