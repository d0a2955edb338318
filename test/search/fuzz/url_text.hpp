#ifndef HOLDFAST_TEST_FUZZ_URL_TEXT_HPP
#define HOLDFAST_TEST_FUZZ_URL_TEXT_HPP

#include <holdfast/config.hpp>

#include <string>

namespace holdfast::fuzz {

/// A URL that says what a URL can say of the configuration.
[[nodiscard]] std::string url_of(config const& c);

}  // namespace holdfast::fuzz

#endif
