// Log-in, and what belongs to one connection.

#include "memory_server/commands.hpp"

#include <array>

namespace holdfast::memory {

namespace {

// --- log-in

constexpr std::string_view wrong_password =
    "WRONGPASS invalid username-password pair or user is disabled.";

bool log_in(command_call& of, std::string_view name, std::string_view password) {
    auto const user = of.server.users.find(name);
    if (user == of.server.users.end() || !user->second.enabled ||
        (user->second.password && *user->second.password != password)) {
        return false;
    }
    of.who.user = name;
    of.who.authenticated = true;
    return true;
}

value greeting(command_call const& of) {
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
        text(of.server.mode()),
        text("role"),
        text(of.server.is_replica() ? "replica" : "master"),
        text("modules"),
        value::array(),
    });
}

value hello(command_call& of) {
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

value select(command_call& of) {
    auto const number = to_integer(of[1]);
    if (!number || *number != static_cast<int>(*number)) {
        return not_an_integer();
    }
    if (*number < 0 || *number >= server_state::database_count) {
        return general_error("DB index is out of range");
    }
    of.who.database = static_cast<int>(*number);
    return value::status("OK");
}

value ping(command_call& of) {
    if (of.size() > 2) {
        return wrong_arity("ping");
    }
    return of.size() == 1 ? value::status("PONG") : value::bulk(of[1]);
}

constexpr unsigned always = no_script | loading | stale | no_auth | while_busy;

constexpr std::array commands{
    command_spec{"hello", -1, always, {}, hello},
    command_spec{"select", 2, loading | stale, {}, select},
    command_spec{"ping", -1, 0, {}, ping},
};

}  // namespace

std::span<command_spec const> connection_commands() {
    return commands;
}

}  // namespace holdfast::memory
