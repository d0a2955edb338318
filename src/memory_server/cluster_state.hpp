#ifndef HOLDFAST_MEMORY_SERVER_CLUSTER_STATE_HPP
#define HOLDFAST_MEMORY_SERVER_CLUSTER_STATE_HPP

#include "memory_server/cluster_view.hpp"
#include "memory_server/redis_model.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace holdfast::memory {

struct command_call;
struct command_spec;
struct server_state;

/// What a node of a Redis Cluster is besides a server.
struct cluster_state {
    cluster_view view;
    std::map<std::uint16_t, std::shared_ptr<moving_slot>> leaving{};
    std::map<std::uint16_t, std::shared_ptr<moving_slot>> coming{};

    [[nodiscard]] bool is_mine(std::uint16_t slot) const { return view.owners[slot] == view.self; }
    /// It is one of the nodes that have the slot: its primary, or a replica of that.
    [[nodiscard]] bool serves(std::uint16_t slot) const;
    /// Whether a key that is there is at this node.
    [[nodiscard]] bool has(std::string_view key) const;
};

/// Why this node does not execute the command: its keys are elsewhere, or in several slots.
std::optional<value> redirection_of(command_call const& of, command_spec const& command);

/// Whether a script that runs here may use these words.
bool are_local(server_state const& server, command_spec const& command, redis_model::words words);

/// The keys of the slot that have not arrived.
std::set<std::string, std::less<>> keys_to_come(
    server_state const& server,
    moving_slot const& moving
);

/// While it lives a command is executed: what that makes in a slot that is on its way to this node
/// has arrived.
class arrivals {
public:
    arrivals(command_call const& of, command_spec const& command);
    arrivals(arrivals const&) = delete;
    arrivals& operator=(arrivals const&) = delete;
    ~arrivals();

private:
    server_state const& server_;
    std::shared_ptr<moving_slot> moving_;
    std::set<std::string, std::less<>> elsewhere_;
};

}  // namespace holdfast::memory

#endif
