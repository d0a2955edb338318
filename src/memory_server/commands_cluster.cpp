// What a node of a cluster is asked for.

#include "memory_server/commands.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace holdfast::memory {

namespace {

value no_cluster() {
    return general_error("This instance has cluster support disabled");
}

value describe(cluster_view::node const& one, std::size_t number) {
    return value::array({
        value::bulk(one.host),
        value::integer(one.port),
        value::bulk("node-" + std::to_string(number)),
        value::array(),
    });
}

value slots(command_call& of) {
    auto const& cluster = of.server.cluster;
    if (!cluster) {
        return no_cluster();
    }
    auto const& [nodes, self, owners] = cluster->view;
    auto reply = value::array();
    for (std::size_t first = 0; first < owners.size();) {
        auto const owner = owners[first];
        auto const other = std::find_if(
            owners.begin() + static_cast<std::ptrdiff_t>(first),
            owners.end(),
            [owner](auto each) { return each != owner; }
        );
        auto const end = static_cast<std::size_t>(other - owners.begin());
        if (owner != cluster_view::nobody) {
            auto range = value::array({
                value::integer(static_cast<std::int64_t>(first)),
                value::integer(static_cast<std::int64_t>(end - 1)),
                describe(nodes[owner], owner),
            });
            for (std::size_t i = 0; i < nodes.size(); ++i) {
                if (nodes[i].replica_of == owner) {
                    range.elements.push_back(describe(nodes[i], i));
                }
            }
            reply.elements.push_back(std::move(range));
        }
        first = end;
    }
    return reply;
}

// The next command only.
value asking(command_call& of) {
    if (!of.server.cluster) {
        return no_cluster();
    }
    of.who.asking = true;
    return value::status("OK");
}

constexpr std::array commands{
    command_spec{"cluster", -2, 0},
    command_spec{"cluster|slots", 2, loading | stale, {}, slots},
    command_spec{"asking", 1, 0, {}, asking},
};

}  // namespace

std::span<command_spec const> cluster_commands() {
    return commands;
}

}  // namespace holdfast::memory
