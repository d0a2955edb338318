#ifndef HOLDFAST_TEST_SUPPORT_RESP_HPP
#define HOLDFAST_TEST_SUPPORT_RESP_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// One reply of a Redis server, in RESP2's terms.
struct redis_value {
    enum class kind { nil, integer, string, error, array };

    kind type = kind::nil;
    std::int64_t number = 0;
    std::string text{};
    std::vector<redis_value> elements{};

    bool is_nil() const { return type == kind::nil; }
    bool is_error() const { return type == kind::error; }

    /// These throw `std::runtime_error`, with the value in it, when the value is another kind.
    std::int64_t as_integer() const;
    std::string const& as_string() const;
    std::vector<redis_value> const& as_array() const;

    /// For messages of failing tests.
    std::string describe() const;

    bool operator==(redis_value const&) const = default;
};

/// The length of the RESP2 or RESP3 message at the start of `bytes`; 0 while it is incomplete.
/// Throws `std::runtime_error` when `bytes` does not start like one.
std::size_t message_size(std::string_view bytes);

/// Reads one complete RESP2 message, and removes it from `bytes`.
redis_value parse_message(std::string_view& bytes);

/// A command as an array of bulk strings.
std::string serialize_command(std::vector<std::string> const& words);

}  // namespace holdfast::test

#endif
