// Connections, the server itself, and channels.

#include "commands.hpp"

#include <algorithm>
#include <array>

namespace holdfast::sim {

namespace {

bool is_replica(server_state const& server) {
    return server.refuses == refusal::read_only || server.refuses == refusal::masterdown;
}

// --- log-in

constexpr std::string_view wrong_password =
    "WRONGPASS invalid username-password pair or user is disabled.";

bool log_in(call& of, std::string_view name, std::string_view password) {
    auto const user = of.server.users.find(name);
    if (user == of.server.users.end() || !user->second.enabled ||
        (user->second.password && *user->second.password != password)) {
        return false;
    }
    of.who.user = name;
    of.who.authenticated = true;
    return true;
}

value auth(call& of) {
    if (of.size() > 3) {
        return syntax_error();
    }
    if (of.size() == 2) {
        auto const user = of.server.users.find(std::string_view{"default"});
        if (user != of.server.users.end() && !user->second.password) {
            return general_error(
                "AUTH <password> called without any password configured for the default user. Are "
                "you sure your configuration is correct?"
            );
        }
        return log_in(of, "default", of[1]) ? value::status("OK") : value::error(wrong_password);
    }
    return log_in(of, of[1], of[2]) ? value::status("OK") : value::error(wrong_password);
}

bool set_name(call& of, std::string_view name) {
    if (!std::ranges::all_of(name, [](char letter) { return letter >= '!' && letter <= '~'; })) {
        return false;
    }
    of.who.name = name;
    return true;
}

value bad_name() {
    return general_error("Client names cannot contain spaces, newlines or special characters.");
}

value greeting(call const& of) {
    auto const text = [](std::string_view one) { return value::bulk(one); };
    return value::map({
        text("server"),
        text("redis"),
        text("version"),
        text("7.0.15"),
        text("proto"),
        value::integer(of.who.resp),
        text("id"),
        value::integer(static_cast<std::int64_t>(of.who.id)),
        text("mode"),
        text("standalone"),
        text("role"),
        text(is_replica(of.server) ? "replica" : "master"),
        text("modules"),
        value::array(),
    });
}

value hello(call& of) {
    std::int64_t version = 0;
    if (of.size() >= 2) {
        auto const number = to_integer(of[1]);
        if (!number) {
            return general_error("Protocol version is not an integer or out of range");
        }
        if (*number < 2 || *number > 3) {
            return value::error("NOPROTO unsupported protocol version");
        }
        version = *number;
    }
    bool logged_in = of.who.authenticated && of.server.refuses != refusal::noauth;
    for (std::size_t i = 2; i < of.size(); ++i) {
        auto const left = of.size() - 1 - i;
        if (same_word(of[i], "auth") && left >= 2) {
            if (!log_in(of, of[i + 1], of[i + 2])) {
                return value::error(wrong_password);
            }
            logged_in = true;
            i += 2;
        } else if (same_word(of[i], "setname") && left >= 1) {
            if (!set_name(of, of[i + 1])) {
                return bad_name();
            }
            ++i;
        } else {
            return general_error(
                "Syntax error in HELLO option '" + std::string{c_string(of[i])} + "'"
            );
        }
    }
    if (!logged_in) {
        return value::error(
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the "
            "HELLO AUTH <user> <pass> option can be used to authenticate the client and select the "
            "RESP protocol version at the same time"
        );
    }
    if (version != 0) {
        of.who.resp = static_cast<int>(version);
    }
    return greeting(of);
}

// --- the connection

value select(call& of) {
    auto const number = to_integer(of[1]);
    if (!number || *number != static_cast<int>(*number)) {
        return not_an_integer();
    }
    if (*number < 0 || *number >= server_state::databases) {
        return general_error("DB index is out of range");
    }
    of.who.database = static_cast<int>(*number);
    return value::status("OK");
}

value ping(call& of) {
    if (of.size() > 2) {
        return wrong_arity("ping");
    }
    if (of.resp == 2 && !(of.who.channels.empty() && of.who.shard_channels.empty())) {
        return value::array({value::bulk("pong"), value::bulk(of.size() == 1 ? "" : of[1])});
    }
    return of.size() == 1 ? value::status("PONG") : value::bulk(of[1]);
}

value echo(call& of) {
    return value::bulk(of[1]);
}

value quit(call&) {
    return value::status("OK");
}

value reset(call& of) {
    of.server.unsubscribe_all(of.who);
    auto const user = of.server.users.find(std::string_view{"default"});
    of.who.resp = 2;
    of.who.database = 0;
    of.who.user = "default";
    of.who.name.clear();
    of.who.authenticated =
        user != of.server.users.end() && user->second.enabled && !user->second.password;
    return value::status("RESET");
}

value client_id(call& of) {
    return value::integer(static_cast<std::int64_t>(of.who.id));
}

value client_set_name(call& of) {
    return set_name(of, of[2]) ? value::status("OK") : bad_name();
}

value client_get_name(call& of) {
    return of.who.name.empty() ? value::nil() : value::bulk(of.who.name);
}

// --- the server

value time(call& of) {
    constexpr std::int64_t second = 1'000'000;
    auto const now = of.server.now_us;
    return value::array(
        {value::bulk(std::to_string(now / second)), value::bulk(std::to_string(now % second))}
    );
}

value role(call& of) {
    if (!is_replica(of.server)) {
        return value::array({value::bulk("master"), value::integer(0), value::array()});
    }
    bool const connected = of.server.refuses == refusal::read_only;
    return value::array({
        value::bulk("slave"),
        value::bulk("127.0.0.1"),
        value::integer(6379),
        value::bulk(connected ? "connected" : "connect"),
        value::integer(connected ? 0 : -1),
    });
}

value info(call& of) {
    auto const wants = [&](std::string_view section) {
        for (std::size_t i = 1; i < of.size(); ++i) {
            for (auto const name :
                 {section, std::string_view{"default"}, std::string_view{"all"}}) {
                if (same_word(of[i], name)) {
                    return true;
                }
            }
        }
        return of.size() == 1;
    };
    std::string text;
    auto const start = [&](std::string_view title) {
        text += text.empty() ? "# " : "\r\n# ";
        text += title;
        text += "\r\n";
    };
    if (wants("server")) {
        start("Server");
        text += "redis_version:7.0.15\r\nredis_mode:standalone\r\n";
    }
    if (wants("memory")) {
        start("Memory");
        text += "used_memory:1000000\r\nmaxmemory:" + std::to_string(of.server.maxmemory) +
                "\r\nmaxmemory_policy:" + of.server.maxmemory_policy + "\r\n";
    }
    if (wants("replication")) {
        start("Replication");
        text += is_replica(of.server) ? "role:slave\r\n" : "role:master\r\n";
    }
    return value::verbatim(text);
}

std::optional<value> bad_flush_mode(call const& of) {
    bool const fine = of.size() == 1 ||
                      (of.size() == 2 && (same_word(of[1], "sync") || same_word(of[1], "async")));
    return fine ? std::nullopt : std::optional{syntax_error()};
}

value flush_all(call& of) {
    if (auto error = bad_flush_mode(of)) {
        return std::move(*error);
    }
    for (auto& one : of.server.data) {
        one.clear();
    }
    return value::status("OK");
}

value flush_database(call& of) {
    if (auto error = bad_flush_mode(of)) {
        return std::move(*error);
    }
    of.data().clear();
    return value::status("OK");
}

value database_size(call& of) {
    return value::integer(static_cast<std::int64_t>(of.data().entries().size()));
}

value keys(call& of) {
    std::vector<std::string_view> names;
    for (auto const& [name, content] : of.data().entries()) {
        if (!content.ended(of.now_ms()) && matches(of[1], name)) {
            names.push_back(name);
        }
    }
    std::ranges::sort(names);
    auto reply = value::array();
    for (auto const name : names) {
        reply.elements.push_back(value::bulk(name));
    }
    return reply;
}

// There are no replicas.
value wait(call& of) {
    auto const replicas = to_integer(of[1]);
    auto const limit = to_integer(of[2]);
    if (!replicas) {
        return not_an_integer();
    }
    if (!limit) {
        return general_error("timeout is not an integer or out of range");
    }
    if (*limit < 0) {
        return general_error("timeout is negative");
    }
    if (is_replica(of.server)) {
        return general_error(
            "WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if "
            "a replica is configured to be writable (which is not the default) writes to replicas "
            "are just local and are not propagated."
        );
    }
    return value::integer(0);
}

// --- channels

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

value subscribe_to(call& of, channel_kind const& kind) {
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

void unsubscribe_one(call& of, channel_kind const& kind, std::string const& name) {
    auto& names = of.who.*kind.names;
    if (std::erase(names, name) > 0) {
        auto& map = of.server.*kind.map;
        auto const at = map.find(name);
        std::erase(at->second, &of.who);
        if (at->second.empty()) {
            map.erase(at);
        }
    }
    send(
        of.who,
        {value::bulk(kind.unsubscribe), value::bulk(name), subscribed_count(of.who, kind)}
    );
}

value unsubscribe_from(call& of, channel_kind const& kind) {
    of.answered = true;
    std::vector<std::string> const wanted =
        of.size() == 1 ? of.who.*kind.names
                       : std::vector<std::string>{of.words.begin() + 1, of.words.end()};
    for (auto const& name : wanted) {
        unsubscribe_one(of, kind, name);
    }
    if (wanted.empty()) {
        send(of.who, {value::bulk(kind.unsubscribe), value::nil(), subscribed_count(of.who, kind)});
    }
    return {};
}

value publish_to(call& of, channel_kind const& kind) {
    auto const& map = of.server.*kind.map;
    auto const at = map.find(of[1]);
    if (at == map.end()) {
        return value::integer(0);
    }
    for (auto const* const listener : at->second) {
        send(*listener, {value::bulk(kind.message), value::bulk(of[1]), value::bulk(of[2])});
    }
    return value::integer(static_cast<std::int64_t>(at->second.size()));
}

value subscribe(call& of) {
    return subscribe_to(of, plain);
}
value unsubscribe(call& of) {
    return unsubscribe_from(of, plain);
}
value publish(call& of) {
    return publish_to(of, plain);
}
value shard_subscribe(call& of) {
    return subscribe_to(of, sharded);
}
value shard_unsubscribe(call& of) {
    return unsubscribe_from(of, sharded);
}
value shard_publish(call& of) {
    return publish_to(of, sharded);
}

value pubsub_channels(call& of) {
    auto reply = value::array();
    for (auto const& [name, listeners] : of.server.channels) {
        if (of.size() == 2 || matches(of[2], name)) {
            reply.elements.push_back(value::bulk(name));
        }
    }
    return reply;
}

value pubsub_count(call& of) {
    auto reply = value::array();
    for (auto const name : of.words.subspan(2)) {
        auto const at = of.server.channels.find(name);
        auto const count = at == of.server.channels.end() ? 0 : at->second.size();
        reply.elements.push_back(value::bulk(name));
        reply.elements.push_back(value::integer(static_cast<std::int64_t>(count)));
    }
    return reply;
}

constexpr unsigned always = no_script | loading | stale | no_auth | while_busy;
constexpr word_range first_word{1, 1};
constexpr word_range all_words{1, -1};

constexpr std::array commands{
    command_spec{"hello", -1, always, {}, hello},
    command_spec{"auth", -2, always, {}, auth},
    command_spec{"quit", -1, always, {}, quit},
    command_spec{"reset", 1, always, {}, reset},
    command_spec{"select", 2, loading | stale, {}, select},
    command_spec{"ping", -1, 0, {}, ping},
    command_spec{"echo", 2, loading | stale, {}, echo},
    command_spec{"client", -2, 0},
    command_spec{"client|id", 2, no_script | loading | stale, {}, client_id},
    command_spec{"client|setname", 3, no_script | loading | stale, {}, client_set_name},
    command_spec{"client|getname", 2, no_script | loading | stale, {}, client_get_name},
    command_spec{"time", 1, loading | stale, {}, time},
    command_spec{"role", 1, no_script | loading | stale, {}, role},
    command_spec{"info", -1, loading | stale, {}, info},
    command_spec{"flushall", -1, writes, {}, flush_all},
    command_spec{"flushdb", -1, writes, {}, flush_database},
    command_spec{"dbsize", 1, 0, {}, database_size},
    command_spec{"keys", 2, 0, {}, keys},
    command_spec{"wait", 3, no_script, {}, wait},
    command_spec{"subscribe", -2, no_script | loading | stale, {}, subscribe, all_words},
    command_spec{"unsubscribe", -1, no_script | loading | stale, {}, unsubscribe},
    command_spec{"publish", 3, loading | stale | may_replicate, {}, publish, first_word},
    command_spec{"ssubscribe", -2, no_script | loading | stale, {}, shard_subscribe, all_words},
    command_spec{"sunsubscribe", -1, no_script | loading | stale, {}, shard_unsubscribe},
    command_spec{"spublish", 3, loading | stale | may_replicate, {}, shard_publish, first_word},
    command_spec{"pubsub", -2, 0},
    command_spec{"pubsub|channels", -2, loading | stale, {}, pubsub_channels},
    command_spec{"pubsub|numsub", -2, loading | stale, {}, pubsub_count},
};

}  // namespace

std::span<command_spec const> server_commands() {
    return commands;
}

}  // namespace holdfast::sim
