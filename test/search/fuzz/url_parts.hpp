#ifndef HOLDFAST_TEST_FUZZ_URL_PARTS_HPP
#define HOLDFAST_TEST_FUZZ_URL_PARTS_HPP

#include <string_view>

namespace holdfast::fuzz {

// Where the parts of a URL stand, found without the parser that is tested.

[[nodiscard]] bool is_unix(std::string_view text);
/// What is between `//` and the path or the query; nothing where that cannot be said.
[[nodiscard]] std::string_view authority_in(std::string_view text);
/// From the first colon of the authority to its last @.
[[nodiscard]] std::string_view password_in(std::string_view text);
/// Behind the last colon that follows the user and the address.
[[nodiscard]] std::string_view port_in(std::string_view text);

[[nodiscard]] std::string_view without_leading_zeros(std::string_view number);
/// Each percent sign is followed by two digits.
[[nodiscard]] bool is_percent_encoded(std::string_view text);

}  // namespace holdfast::fuzz

#endif
