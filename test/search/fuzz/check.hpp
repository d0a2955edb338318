#ifndef HOLDFAST_TEST_FUZZ_CHECK_HPP
#define HOLDFAST_TEST_FUZZ_CHECK_HPP

#include <cstdio>
#include <source_location>
#include <string>

namespace holdfast::fuzz {

/// A property that does not hold. Not a `std::exception`: no target takes it for one that the
/// library throws.
struct violation {
    std::string what;
};

/// Throws `violation` unless `holds`. A fuzzer has no handler for it, so that it ends with the
/// stack of the check.
inline void check(
    bool holds,
    char const* property,
    std::source_location where = std::source_location::current()
) {
    if (!holds) {
        auto const what =
            std::string{where.file_name()} + ":" + std::to_string(where.line()) + ": " + property;
        std::fprintf(stderr, "violated: %s\n", what.c_str());
        throw violation{what};
    }
}

}  // namespace holdfast::fuzz

#endif
