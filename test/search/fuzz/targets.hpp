#ifndef HOLDFAST_TEST_FUZZ_TARGETS_HPP
#define HOLDFAST_TEST_FUZZ_TARGETS_HPP

#include "fuzz/check.hpp"

#include <cstdint>
#include <span>

// One per file of targets/. Each reads any bytes, and throws `violation` if the library does with
// them what it must not.
#define HOLDFAST_FUZZ_TARGETS(DO) \
    DO(replies)                   \
    DO(url)

namespace holdfast::fuzz {

using bytes = std::span<std::uint8_t const>;

#define HOLDFAST_FUZZ_DECLARE(name) void name(bytes data);
HOLDFAST_FUZZ_TARGETS(HOLDFAST_FUZZ_DECLARE)
#undef HOLDFAST_FUZZ_DECLARE

}  // namespace holdfast::fuzz

#endif
