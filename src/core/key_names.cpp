#include "core/key_names.hpp"

#include "core/lease_terms.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace holdfast::detail {

key_names make_key_names(std::string_view prefix, std::string_view name) {
    if (name.empty() || name.size() > max_name_length ||
        prefix.size() > max_name_length - name.size()) {
        return {};
    }
    key_names keys;
    keys.lock.reserve(prefix.size() + name.size());
    keys.lock.append(prefix).append(name);
    // The whole name is the hash tag, unless the user gave one: any `{` counts, closed or not.
    bool const tagged = keys.lock.find('{') != std::string::npos;
    auto const with = [&](std::string_view kind) {
        std::string key;
        key.reserve(kind.size() + keys.lock.size() + 3);
        key.append(kind).append(tagged ? ":" : ":{").append(keys.lock).append(tagged ? "" : "}");
        return key;
    };
    keys.counter = with("redisson_lock_token");
    keys.channel = with("redisson_lock__channel");
    return keys;
}

std::string escaped(std::string_view name, std::size_t longest) {
    std::string text;
    for (char const c : name.substr(0, longest)) {
        auto const byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte > 0x7e || c == '\\') {
            text += fmt::format("\\x{:02x}", byte);
        } else {
            text += c;
        }
    }
    if (name.size() > longest) {
        text += "…";
    }
    return text;
}

}  // namespace holdfast::detail
