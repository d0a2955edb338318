#ifndef HOLDFAST_MEMORY_SERVER_CLUSTER_VIEW_HPP
#define HOLDFAST_MEMORY_SERVER_CLUSTER_VIEW_HPP

#include "protocol/slot.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace holdfast::memory {

/// Which node of a Redis Cluster has which slots, as one of them knows it.
struct cluster_view {
    static constexpr std::uint8_t nobody = 0xff;

    struct node {
        std::string host;
        std::uint16_t port = 0;
        std::optional<std::size_t> replica_of{};
    };

    std::vector<node> nodes{};
    /// The number of the node that knows this.
    std::size_t self = 0;
    /// For each slot the number of its primary.
    std::vector<std::uint8_t> owners = std::vector<std::uint8_t>(detail::slot_count, nobody);
};

/// A slot on its way from one node to another. Both have the same object: a key that has arrived is
/// at one of them, and the others of the slot are at the other.
struct moving_slot {
    std::uint16_t slot = 0;
    std::size_t from = 0;
    std::size_t to = 0;
    std::set<std::string, std::less<>> arrived{};
};

}  // namespace holdfast::memory

#endif
