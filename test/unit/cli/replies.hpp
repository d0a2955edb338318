#ifndef HOLDFAST_TEST_UNIT_CLI_REPLIES_HPP
#define HOLDFAST_TEST_UNIT_CLI_REPLIES_HPP

#include "redis/replies.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

// What a server might say.
namespace holdfast::test {

inline detail::raw_reply words(std::initializer_list<std::string> all) {
    detail::raw_reply made;
    for (auto const& word : all) {
        made.values.emplace_back(word);
    }
    return made;
}

inline detail::raw_reply number(std::int64_t value) {
    detail::raw_reply made;
    made.values.emplace_back(value);
    return made;
}

/// What RESP3 has in the place of a value that is not there.
inline detail::raw_reply nil() {
    return words({""});
}

inline detail::raw_reply refusal(std::string text) {
    detail::raw_reply made;
    made.is_error = true;
    made.error = std::move(text);
    return made;
}

}  // namespace holdfast::test

#endif
