#ifndef HOLDFAST_MEMORY_SERVER_SCRIPT_TEXT_HPP
#define HOLDFAST_MEMORY_SERVER_SCRIPT_TEXT_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::memory {

/// What a script says of itself in a first line such as `#!lua flags=no-writes`.
struct script_flags {
    bool compatible = true;  // there is no such line
    bool no_writes = false;
    bool allow_oom = false;
    bool allow_stale = false;
};

/// A script that has been compiled once.
struct script_text {
    std::string text;
    std::string sha1;
    script_flags flags;
};

/// Reads `#!lua name=value ...`; returns what is wrong with it, or nothing.
std::optional<std::string> read_shebang(std::string_view line, script_flags& flags);

/// Where the Lua text starts: the line feed of a first line that is not Lua counts.
std::size_t shebang_size(std::string_view text);

}  // namespace holdfast::memory

#endif
