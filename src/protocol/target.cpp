#include "protocol/target.hpp"

#include <fmt/format.h>

namespace holdfast::detail {

void target::set_parts(std::array<std::string, 4> const& parts) {
    parts_.clear();
    std::size_t size = 0;
    for (auto const& each : parts) {
        size += each.size();
    }
    parts_.reserve(size);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        parts_ += parts[i];
        ends_[i] = static_cast<std::uint16_t>(parts_.size());
    }
}

// On a cluster their slots would have to be the same, too.
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
