#include "protocol/one_slot.hpp"

#include "protocol/slot.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace holdfast::detail {

bool has_one_slot(target const& of) noexcept {
    std::array const parts{of.counter(), of.channel(), of.queue(), of.waiters()};
    return std::all_of(parts.begin(), parts.end(), [&of](std::string_view part) {
        return part.empty() || slot_of(part) == of.slot;
    });
}

target allowed_by(config const& settings, target made) {
    if (!settings.cluster_nodes.empty() && made.valid() && !has_one_slot(made)) {
        made.lock.clear();
    }
    return made;
}

}  // namespace holdfast::detail
