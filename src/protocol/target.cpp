#include "protocol/target.hpp"

#include "core/lease_terms.hpp"
#include "protocol/names.hpp"
#include "protocol/slot.hpp"

#include <fmt/format.h>

#include <functional>

namespace holdfast::detail {

target make_target(
    primitive const& speaks,
    target_kind kind,
    std::string_view prefix,
    std::string_view name,
    std::array<std::string_view, 4> const& beginnings
) {
    target made;
    made.speaks = &speaks;
    made.kind = kind;
    if (name.empty() || name.size() > max_name_length ||
        prefix.size() > max_name_length - name.size()) {
        return made;
    }
    made.lock.reserve(prefix.size() + name.size());
    made.lock.append(prefix).append(name);
    auto const tag = tag_of(made.lock);
    auto const with = [&](std::string_view beginning) {
        std::string key;
        key.reserve(beginning.size() + tag.size());
        key.append(beginning).append(tag);
        return key;
    };
    made.parts = joined_texts{
        {with(beginnings[0]), with(beginnings[1]), with(beginnings[2]), with(beginnings[3])}
    };
    made.hash = hash_of(made.lock);
    made.slot = slot_of(made.lock);
    return made;
}

std::uint32_t hash_of(std::string_view name) noexcept {
    return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
}

bool may_share_a_call(target const& a, target const& b) noexcept {
    return a.speaks == b.speaks;
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
