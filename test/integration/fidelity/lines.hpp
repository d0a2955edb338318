#ifndef HOLDFAST_TEST_FIDELITY_LINES_HPP
#define HOLDFAST_TEST_FIDELITY_LINES_HPP

#include "memory_server/value.hpp"

#include <cstdint>
#include <optional>

namespace holdfast::test {

/// A number, or a text that is one.
std::optional<std::int64_t> to_integer(memory::value const& one);

/// The words of a text with spaces in it, such as a script's reply, as an array: numbers and texts.
/// Nothing for another message.
std::optional<memory::value> words_of(memory::value const& line);

}  // namespace holdfast::test

#endif
