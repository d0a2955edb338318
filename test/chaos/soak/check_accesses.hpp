#ifndef HOLDFAST_TEST_SOAK_CHECK_ACCESSES_HPP
#define HOLDFAST_TEST_SOAK_CHECK_ACCESSES_HPP

#include "soak/findings.hpp"
#include "soak/record.hpp"

#include <cstdint>
#include <map>

namespace holdfast::soak {

/// Checks what the protected resource was asked for and what it accepted. `newest_accepted` is the
/// greatest token of each lock so far.
void check_accesses(
    record const& said,
    std::map<std::int64_t, std::int64_t>& newest_accepted,
    findings& found
);

}  // namespace holdfast::soak

#endif
