// The server itself.

#include "memory_server/commands.hpp"

#include <algorithm>
#include <array>

namespace holdfast::memory {

namespace {

value time(command_call& of) {
    constexpr std::int64_t second = 1'000'000;
    auto const now = of.server.now_us;
    return value::array(
        {value::bulk(std::to_string(now / second)), value::bulk(std::to_string(now % second))}
    );
}

value role(command_call& of) {
    if (!of.server.is_replica()) {
        return value::array({value::bulk("master"), value::integer(0), value::array()});
    }
    bool const connected = of.server.refuses != refusal::masterdown;
    return value::array({
        value::bulk("slave"),
        value::bulk("127.0.0.1"),
        value::integer(6379),
        value::bulk(connected ? "connected" : "connect"),
        value::integer(connected ? 0 : -1),
    });
}

value info(command_call& of) {
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
        text += "redis_version:7.0.15\r\nredis_mode:";
        text += of.server.mode();
        text += "\r\n";
        if (!of.server.run_id.empty()) {
            constexpr std::int64_t second = 1'000'000;
            auto const uptime = (of.server.now_us - of.server.began_us) / second;
            text += "run_id:" + of.server.run_id +
                    "\r\nuptime_in_seconds:" + std::to_string(uptime) + "\r\n";
        }
    }
    if (wants("memory")) {
        start("Memory");
        text += "used_memory:1000000\r\nmaxmemory:" + std::to_string(of.server.maxmemory) +
                "\r\nmaxmemory_policy:" + of.server.maxmemory_policy + "\r\n";
    }
    if (wants("replication")) {
        start("Replication");
        text += of.server.is_replica() ? "role:slave\r\n" : "role:master\r\n";
    }
    return value::verbatim(text);
}

std::optional<value> bad_flush_mode(command_call const& of) {
    bool const fine = of.size() == 1 ||
                      (of.size() == 2 && (same_word(of[1], "sync") || same_word(of[1], "async")));
    return fine ? std::nullopt : std::optional{syntax_error()};
}

value flush_all(command_call& of) {
    if (auto error = bad_flush_mode(of)) {
        return std::move(*error);
    }
    for (auto& one : of.server.databases()) {
        one.clear();
    }
    return value::status("OK");
}

value flush_database(command_call& of) {
    if (auto error = bad_flush_mode(of)) {
        return std::move(*error);
    }
    of.data().clear();
    return value::status("OK");
}

value database_size(command_call& of) {
    return value::integer(static_cast<std::int64_t>(of.data().entries().size()));
}

value keys(command_call& of) {
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
value wait(command_call& of) {
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
    if (of.server.is_replica()) {
        return general_error(
            "WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if "
            "a replica is configured to be writable (which is not the default) writes to replicas "
            "are just local and are not propagated."
        );
    }
    return value::integer(0);
}

constexpr std::array commands{
    command_spec{"time", 1, loading | stale, {}, time},
    command_spec{"role", 1, no_script | loading | stale, {}, role},
    command_spec{"info", -1, loading | stale, {}, info},
    command_spec{"flushall", -1, writes, {}, flush_all},
    command_spec{"flushdb", -1, writes, {}, flush_database},
    command_spec{"dbsize", 1, 0, {}, database_size},
    command_spec{"keys", 2, 0, {}, keys},
    command_spec{"wait", 3, no_script, {}, wait},
};

}  // namespace

std::span<command_spec const> server_commands() {
    return commands;
}

}  // namespace holdfast::memory
