#ifndef HOLDFAST_TEST_UNIT_CALLS_HPP
#define HOLDFAST_TEST_UNIT_CALLS_HPP

#include "protocol/call.hpp"
#include "protocol/reply.hpp"

#include <cstddef>
#include <initializer_list>
#include <string>

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

/// What a script returned, without the nonce.
inline detail::script_reply reply_of(std::initializer_list<detail::reply_value> values) {
    return {{values.begin(), values.end()}};
}

}  // namespace holdfast::test

#endif
