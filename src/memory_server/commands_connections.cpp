// Log-in, and what belongs to one connection.

#include "memory_server/commands.hpp"

#include <algorithm>
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

value auth(command_call& of) {
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

bool set_name(command_call& of, std::string_view name) {
    if (!std::ranges::all_of(name, [](char letter) { return letter >= '!' && letter <= '~'; })) {
        return false;
    }
    of.who.name = name;
    return true;
}

value bad_name() {
    return general_error("Client names cannot contain spaces, newlines or special characters.");
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
    if (of.resp == 2 && !(of.who.channels.empty() && of.who.shard_channels.empty())) {
        return value::array({value::bulk("pong"), value::bulk(of.size() == 1 ? "" : of[1])});
    }
    return of.size() == 1 ? value::status("PONG") : value::bulk(of[1]);
}

value echo(command_call& of) {
    return value::bulk(of[1]);
}

value quit(command_call&) {
    return value::status("OK");
}

value reset(command_call& of) {
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

value client_id(command_call& of) {
    return value::integer(static_cast<std::int64_t>(of.who.id));
}

value client_set_name(command_call& of) {
    return set_name(of, of[2]) ? value::status("OK") : bad_name();
}

value client_get_name(command_call& of) {
    return of.who.name.empty() ? value::nil() : value::bulk(of.who.name);
}

constexpr unsigned always = no_script | loading | stale | no_auth | while_busy;

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
};

}  // namespace

std::span<command_spec const> connection_commands() {
    return commands;
}

}  // namespace holdfast::memory
