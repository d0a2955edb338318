#ifndef HOLDFAST_TEST_UNIT_MEMORY_SERVER_CLUSTER_PAIR_HPP
#define HOLDFAST_TEST_UNIT_MEMORY_SERVER_CLUSTER_PAIR_HPP

#include "unit/memory_server/asking.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace holdfast::memory {

// Two primaries, each with half of the slots, and a replica of the first. "a" is in slot 15495 and
// belongs to the second, "b" is in slot 3300 and belongs to the first.
inline cluster_view view_of(std::size_t self) {
    cluster_view made{
        .nodes = {{"first", 1}, {"second", 2}, {"third", 3, 0}},
        .self = self,
    };
    auto const half = made.owners.begin() + detail::slot_count / 2;
    std::fill(made.owners.begin(), half, static_cast<std::uint8_t>(0));
    std::fill(half, made.owners.end(), static_cast<std::uint8_t>(1));
    return made;
}

/// The two primaries.
struct cluster_pair {
    asking one;
    asking other;

    cluster_pair() {
        one.server.set_cluster(view_of(0));
        other.server.set_cluster(view_of(1));
        other.server.share_data(one.server);
    }
};

}  // namespace holdfast::memory

#endif
