#ifndef HOLDFAST_TEST_UNIT_CALLS_HPP
#define HOLDFAST_TEST_UNIT_CALLS_HPP

#include "protocol/call.hpp"
#include "protocol/reply.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>

namespace holdfast::test {

/// A call as it would be typed: the script's name, the number of keys, the keys, the arguments.
inline std::string typed(detail::call const& what) {
    auto text = std::string{what.what().name} + " " + std::to_string(what.keys());
    for (std::size_t i = 0; i < what.size(); ++i) {
        text += " ";
        text += what.word(i);
    }
    return text;
}

/// What a script returned.
template <class... Words>
detail::script_reply reply_of(Words const&... words) {
    std::string line{"nonce"};
    ((line += fmt::format(" {}", words)), ...);
    return detail::script_reply{std::move(line)};
}

}  // namespace holdfast::test

#endif
