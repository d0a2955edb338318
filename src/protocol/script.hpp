#ifndef HOLDFAST_PROTOCOL_SCRIPT_HPP
#define HOLDFAST_PROTOCOL_SCRIPT_HPP

#include <string_view>

namespace holdfast::detail {

/// A Lua script. Redis knows it by the SHA-1 of its text.
struct script {
    std::string_view name;
    std::string_view text;
    std::string_view sha1;
};

}  // namespace holdfast::detail

#endif
