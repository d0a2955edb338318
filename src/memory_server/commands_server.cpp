// The server itself.

#include "memory_server/commands.hpp"

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

value info(command_call& of) {
    auto const wants = [&](std::string_view section) {
        for (auto const word : of.words.subspan(1)) {
            if (same_word(word, section)) {
                return true;
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
        text += "maxmemory:0\r\nmaxmemory_policy:noeviction\r\n";
    }
    return value::verbatim(text);
}

value flush_all(command_call& of) {
    for (auto& one : of.server.databases()) {
        one.clear();
    }
    return value::status("OK");
}

// There are no replicas.
value wait(command_call& of) {
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
    command_spec{"info", -1, loading | stale, {}, info},
    command_spec{"flushall", 1, writes, {}, flush_all},
    command_spec{"wait", 3, no_script, {}, wait},
};

}  // namespace

std::span<command_spec const> server_commands() {
    return commands;
}

}  // namespace holdfast::memory
