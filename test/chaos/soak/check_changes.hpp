#ifndef HOLDFAST_TEST_SOAK_CHECK_CHANGES_HPP
#define HOLDFAST_TEST_SOAK_CHECK_CHANGES_HPP

#include "soak/findings.hpp"
#include "soak/record.hpp"
#include "soak/rules.hpp"

namespace holdfast::soak {

/// Checks what follows when locks have another server: how soon they are granted there, and how
/// often clients ask the wrong one.
void check_changes(rules const& by, record const& said, findings& found);

}  // namespace holdfast::soak

#endif
