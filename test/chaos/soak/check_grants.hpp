#ifndef HOLDFAST_TEST_SOAK_CHECK_GRANTS_HPP
#define HOLDFAST_TEST_SOAK_CHECK_GRANTS_HPP

#include "soak/findings.hpp"
#include "soak/record.hpp"
#include "soak/rules.hpp"

#include <cstdint>
#include <map>

namespace holdfast::soak {

/// Checks who had each lock when, and under which token; of permits only what holds for several at
/// a time. `newest` is the greatest token of each
/// lock so far.
void check_grants(
    rules const& by,
    record const& said,
    std::map<std::int64_t, std::int64_t>& newest,
    findings& found
);

}  // namespace holdfast::soak

#endif
