// What a Sentinel is asked for.

#include "memory_server/commands.hpp"

#include <array>

namespace holdfast::memory {

namespace {

// Nothing if it watches over no primary of this name.
redis_model::watched_primary const* find_watched(command_call const& of) {
    auto const& watched = of.server.watched;
    return watched && watched->name == of[2] ? &*watched : nullptr;
}

value unknown(command_call const& of) {
    return of.server.watched
               ? general_error("No such master with that name")
               : general_error("unknown command 'SENTINEL', with args beginning with: ");
}

value address(command_call& of) {
    auto const* const found = find_watched(of);
    if (found == nullptr) {
        return of.server.watched ? value::nil() : unknown(of);
    }
    return value::array({value::bulk(found->host), value::bulk(std::to_string(found->port))});
}

value primary(command_call& of) {
    auto const* const found = find_watched(of);
    if (found == nullptr) {
        return unknown(of);
    }
    return value::map({
        value::bulk("name"),
        value::bulk(found->name),
        value::bulk("ip"),
        value::bulk(found->host),
        value::bulk("port"),
        value::bulk(std::to_string(found->port)),
        value::bulk("config-epoch"),
        value::bulk(std::to_string(found->config_epoch)),
    });
}

constexpr std::array commands{
    command_spec{"sentinel", -2, no_script},
    command_spec{"sentinel|get-master-addr-by-name", 3, no_script, {}, address},
    command_spec{"sentinel|master", 3, no_script, {}, primary},
};

}  // namespace

std::span<command_spec const> sentinel_commands() {
    return commands;
}

}  // namespace holdfast::memory
