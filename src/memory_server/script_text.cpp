#include "memory_server/script_text.hpp"

#include <utility>

namespace holdfast::memory {

// The words of `#!lua name=value ...`; an error text, or nothing.
std::optional<std::string> read_shebang(std::string_view line, script_flags& flags) {
    flags.compatible = false;
    bool first = true;
    while (!line.empty()) {
        auto const space = line.find(' ');
        auto const word = line.substr(0, space);
        line = space == std::string_view::npos ? std::string_view{} : line.substr(space + 1);
        if (word.empty()) {
            continue;
        }
        if (std::exchange(first, false)) {
            if (word != "#!lua") {
                return "Unexpected engine in script shebang: " + std::string{word};
            }
            continue;
        }
        constexpr std::string_view option = "flags=";
        if (!word.starts_with(option)) {
            return "Unknown lua shebang option: " + std::string{word};
        }
        for (auto rest = word.substr(option.size()); !rest.empty();) {
            auto const comma = rest.find(',');
            auto const flag = rest.substr(0, comma);
            rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
            if (flag == "no-writes") {
                flags.no_writes = true;
            } else if (flag == "allow-oom") {
                flags.allow_oom = true;
            } else if (flag == "allow-stale") {
                flags.allow_stale = true;
            } else if (flag != "no-cluster" && flag != "allow-cross-slot-keys") {
                return "Unexpected flag in script shebang: " + std::string{flag};
            }
        }
    }
    return std::nullopt;
}

// Where the Lua text starts: the line feed of a first line that is not Lua counts.
std::size_t shebang_size(std::string_view text) {
    return text.starts_with("#!") ? text.find('\n') : 0;
}

}  // namespace holdfast::memory
