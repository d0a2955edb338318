// Subscriptions and messages.

#include "memory_server/commands.hpp"

#include <algorithm>
#include <array>

namespace holdfast::memory {

namespace {

void send(session const& to, std::vector<value> elements) {
    if (to.out) {
        auto message = value::push(std::move(elements));
        to.out(to.resp == 2 ? to_resp2(std::move(message)) : std::move(message));
    }
}

struct channel_kind {
    channel_map server_state::* map;
    std::vector<std::string> session::* names;
    std::string_view subscribe;
    std::string_view unsubscribe;
    std::string_view message;
};

constexpr channel_kind
    plain{&server_state::channels, &session::channels, "subscribe", "unsubscribe", "message"};
constexpr channel_kind sharded{
    &server_state::shard_channels,
    &session::shard_channels,
    "ssubscribe",
    "sunsubscribe",
    "smessage"
};

value subscribed_count(session const& who, channel_kind const& kind) {
    return value::integer(static_cast<std::int64_t>((who.*kind.names).size()));
}

value subscribe_to(command_call& of, channel_kind const& kind) {
    of.answered = true;
    auto& names = of.who.*kind.names;
    for (auto const name : of.words.subspan(1)) {
        if (std::ranges::find(names, name) == names.end()) {
            names.emplace_back(name);
            (of.server.*kind.map)[std::string{name}].push_back(&of.who);
        }
        send(
            of.who,
            {value::bulk(kind.subscribe), value::bulk(name), subscribed_count(of.who, kind)}
        );
    }
    return {};
}

void unsubscribe_one(
    server_state& server,
    session& who,
    channel_kind const& kind,
    std::string const& name
) {
    auto& names = who.*kind.names;
    if (std::erase(names, name) > 0) {
        auto& map = server.*kind.map;
        auto const at = map.find(name);
        std::erase(at->second, &who);
        if (at->second.empty()) {
            map.erase(at);
        }
    }
    send(who, {value::bulk(kind.unsubscribe), value::bulk(name), subscribed_count(who, kind)});
}

value unsubscribe_from(command_call& of, channel_kind const& kind) {
    of.answered = true;
    std::vector<std::string> const wanted =
        of.size() == 1 ? of.who.*kind.names
                       : std::vector<std::string>{of.words.begin() + 1, of.words.end()};
    for (auto const& name : wanted) {
        unsubscribe_one(of.server, of.who, kind, name);
    }
    if (wanted.empty()) {
        send(of.who, {value::bulk(kind.unsubscribe), value::nil(), subscribed_count(of.who, kind)});
    }
    return {};
}

// Of those that hear of it, the ones at this node are told of.
value publish_to(command_call& of, bool is_sharded) {
    auto const told = of.server.deliver(is_sharded, of[1], of[2]);
    if (of.server.bus) {
        of.server.bus(is_sharded, of[1], of[2]);
    }
    return value::integer(static_cast<std::int64_t>(told));
}

value subscribe(command_call& of) {
    return subscribe_to(of, plain);
}
value unsubscribe(command_call& of) {
    return unsubscribe_from(of, plain);
}
value publish(command_call& of) {
    return publish_to(of, false);
}
value shard_subscribe(command_call& of) {
    return subscribe_to(of, sharded);
}
value shard_unsubscribe(command_call& of) {
    return unsubscribe_from(of, sharded);
}
value shard_publish(command_call& of) {
    return publish_to(of, true);
}

value count_listeners(command_call& of, channel_map const& channels) {
    auto reply = value::array();
    for (auto const name : of.words.subspan(2)) {
        auto const at = channels.find(name);
        auto const count = at == channels.end() ? 0 : at->second.size();
        reply.elements.push_back(value::bulk(name));
        reply.elements.push_back(value::integer(static_cast<std::int64_t>(count)));
    }
    return reply;
}

value pubsub_count(command_call& of) {
    return count_listeners(of, of.server.channels);
}
value pubsub_shard_count(command_call& of) {
    return count_listeners(of, of.server.shard_channels);
}

constexpr word_range first_word{1, 1};
constexpr word_range all_words{1, -1};

constexpr std::array commands{
    command_spec{"subscribe", -2, no_script | loading | stale, {}, subscribe, all_words},
    command_spec{"unsubscribe", -1, no_script | loading | stale, {}, unsubscribe},
    command_spec{"publish", 3, loading | stale, {}, publish, first_word},
    command_spec{"ssubscribe", -2, no_script | loading | stale, {}, shard_subscribe, all_words},
    command_spec{"sunsubscribe", -1, no_script | loading | stale, {}, shard_unsubscribe},
    command_spec{"spublish", 3, loading | stale, {}, shard_publish, first_word},
    command_spec{"pubsub", -2, 0},
    command_spec{"pubsub|numsub", -2, loading | stale, {}, pubsub_count},
    command_spec{"pubsub|shardnumsub", -2, loading | stale, {}, pubsub_shard_count},
};

}  // namespace

std::span<command_spec const> channel_commands() {
    return commands;
}

std::size_t server_state::deliver(
    bool is_sharded,
    std::string_view channel,
    std::string_view message
) const {
    auto const& kind = is_sharded ? sharded : plain;
    auto const& map = this->*kind.map;
    auto const at = map.find(channel);
    if (at == map.end()) {
        return 0;
    }
    for (auto const* const listener : at->second) {
        send(*listener, {value::bulk(kind.message), value::bulk(channel), value::bulk(message)});
    }
    return at->second.size();
}

void server_state::withdraw_channels(std::function<bool(std::uint16_t slot)> const& these) {
    auto const all = shard_channels;
    for (auto const& [name, listeners] : all) {
        if (these(detail::slot_of(name))) {
            for (auto* const one : listeners) {
                unsubscribe_one(*this, *one, sharded, name);
            }
        }
    }
}

}  // namespace holdfast::memory
