#include "protocol/target.hpp"

#include "core/lease_terms.hpp"
#include "protocol/names.hpp"
#include "protocol/slot.hpp"

#include <fmt/format.h>

#include <functional>

namespace holdfast::detail {

target make_target(
    primitive const* speaks,
    target_kind kind,
    std::string_view prefix,
    std::string_view name,
    target::key_beginnings const& beginnings
) {
    target made;
    made.speaks = speaks;
    made.kind = kind;
    if (name.empty() || name.size() > max_name_length ||
        prefix.size() > max_name_length - name.size()) {
        return made;
    }
    made.lock.reserve(prefix.size() + name.size());
    made.lock.append(prefix).append(name);
    made.beginnings = &beginnings;
    made.hash = hash_of(made.lock);
    made.slot = slot_of(made.lock);
    return made;
}

std::string target::channel() const {
    return braced_channel ? std::string{(*beginnings)[1]}.append("{").append(lock).append("}")
                          : derived(1);
}

std::string target::derived(std::size_t which) const {
    std::string key{beginnings ? (*beginnings)[which] : std::string_view{}};
    return key.append(tag_of(lock));
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
