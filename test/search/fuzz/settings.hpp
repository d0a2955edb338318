#ifndef HOLDFAST_TEST_FUZZ_SETTINGS_HPP
#define HOLDFAST_TEST_FUZZ_SETTINGS_HPP

#include "core/lease_terms.hpp"
#include "fuzz/input.hpp"

#include <holdfast/config.hpp>
#include <holdfast/options.hpp>

#include <chrono>
#include <cstdint>

namespace holdfast::fuzz {

/// `usual`, or any other time at all; those near a limit of the documentation are drawn often.
template <class Duration>
Duration any_time(input& in, Duration usual) {
    using std::chrono::duration_cast;
    using std::chrono::hours;
    using std::chrono::seconds;
    switch (in.below(9)) {
        case 0: return usual;
        case 1: return Duration::zero();
        case 2: return Duration{in.number<std::int64_t>()};
        case 3: return Duration{in.number<std::int8_t>()};
        case 4:
            return duration_cast<Duration>(detail::max_lease) + Duration{in.number<std::int8_t>()};
        case 5:
            return duration_cast<Duration>(detail::min_lease) + Duration{in.number<std::int8_t>()};
        case 6: return duration_cast<Duration>(seconds{in.number<std::uint16_t>()});
        case 7:
            return duration_cast<Duration>(hours{24 * 36'525}) + Duration{in.number<std::int8_t>()};
        default: return in.flag() ? Duration::max() : Duration::min();
    }
}

/// `usual`, or any other number at all.
double any_part(input& in, double usual);

/// Any configuration, sensible or not.
config any_config(input& in);

/// Any options, sensible or not.
acquire_options any_options(input& in);

/// Terms of a configuration and options that were accepted.
detail::lease_terms accepted_terms(input& in);

}  // namespace holdfast::fuzz

#endif
