#include "cli/rights.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast::cli {

namespace {

using words = std::vector<std::string>;

// Behind the command and a key that is not there, so that nothing is changed.
words harmless_arguments(std::string_view command) {
    static std::vector<std::pair<std::vector<std::string_view>, words>> const all{
        {{"hexists", "hdel"}, {"field"}},
        // A field without a value is refused after the user's rights were looked at.
        {{"hset"}, {"field", "value", "field"}},
        {{"set"}, {"", "XX"}},
        {{"incrby"}, {"no number"}},
        {{"pexpire", "pexpireat"}, {"1"}},
        {{"zadd"}, {"XX", "0", "member"}},
        {{"zrem", "zrank", "zscore"}, {"member"}},
        {{"zrange", "zcount", "zrangebyscore", "lrange"}, {"0", "0"}},
        {{"lindex"}, {"0"}},
        {{"lrem"}, {"1", "element"}},
        {{"rpush"}, {"element"}},
    };
    for (auto const& [commands, arguments] : all) {
        if (std::ranges::find(commands, command) != commands.end()) {
            return arguments;
        }
    }
    return {};
}

right make_right(right::kind what, std::string rule, std::vector<words> tries) {
    // Boost.Redis knows that subscriptions have no replies by their names in capitals.
    for (auto& tried : tries) {
        std::ranges::transform(tried.front(), tried.front().begin(), [](char c) {
            return c >= 'a' && c <= 'z' ? static_cast<char>(c ^ 0x20) : c;
        });
    }
    bool const writes = rule == "+incr" || rule == "+rpush";
    bool const subscribes = rule == "+subscribe" || rule == "+unsubscribe";
    return {what, std::move(rule), std::move(tries), writes, subscribes};
}

right right_to(std::string const& command, std::string const& name, std::string const& channel) {
    words tried{command};
    if (command == "evalsha") {
        tried.insert(tried.end(), {std::string(40, '0'), "0"});
    } else if (command == "eval") {
        tried.insert(tried.end(), {"return 1", "0"});
    } else if (command == "wait") {
        tried.insert(tried.end(), {"0", "1"});
    } else if (command.ends_with("subscribe")) {
        tried.push_back(channel);
    } else if (command.ends_with("publish")) {
        tried.insert(tried.end(), {channel, ""});
    } else if (auto const bar = command.find('|'); bar != command.npos) {
        tried = {command.substr(0, bar), command.substr(bar + 1), channel};
    } else if (command != "ping" && command != "time") {
        tried.push_back(name);
        std::ranges::copy(harmless_arguments(command), std::back_inserter(tried));
    }
    return make_right(right::kind::command, "+" + command, {std::move(tried)});
}

std::string joined(words const& all, std::string_view between = " ") {
    std::string text;
    for (auto const& word : all) {
        text.append(text.empty() ? "" : between).append(word);
    }
    return text;
}

// The rules of what was refused that no other covers; they are noted as said.
words not_said(words& said, rights_group const& of) {
    words left;
    for (auto const& one : of.rights) {
        auto const all = one.rule.substr(0, 1) + "*";
        bool const covered = std::ranges::any_of(said, [&](std::string const& by) {
            return by == one.rule || by == all;
        });
        if (one.refused && !covered) {
            left.push_back(one.rule);
            said.push_back(one.rule);
        }
    }
    return left;
}

}  // namespace

std::vector<rights_group> rights_for(
    config const& settings,
    std::string_view name,
    detail::script_dialect dialect
) {
    // `redisson_sc:{app:holdfast-doctor-1}` → `redisson_sc:{app:*`
    auto const pattern_of = [&](std::string const& which) {
        auto const at = which.find(name);
        return at == which.npos ? which.substr(0, which.find(':') + 1) + "*"
                                : which.substr(0, at) + settings.key_prefix + "*";
    };
    auto const wanted = detail::permissions_for(settings, name, "doctor", dialect);
    std::string const any_channel = wanted.front().channels.front();
    bool const sharded = dialect == detail::script_dialect::sharded;
    std::vector<rights_group> all;
    for (auto const& one : wanted) {
        auto& made = all.emplace_back(rights_group{std::string{one.purpose}, one.needed, {}});
        for (auto const& command : one.commands) {
            // Boost.Redis waits for replies to sharded subscriptions, which have none: a hand-over
            // shows whether they are allowed.
            if (command != "ssubscribe" && command != "sunsubscribe") {
                made.rights.push_back(right_to(command, std::string{name}, any_channel));
            }
        }
        // One that reads and one that writes: users may have one right without the other.
        for (auto const& key : one.keys) {
            std::vector<words> tries{{"PTTL", key}, {"DEL", key}};
            made.rights.push_back(
                make_right(right::kind::key, "~" + pattern_of(key), std::move(tries))
            );
        }
        for (auto const& channel : one.channels) {
            words publishing{sharded ? "spublish" : "publish", channel, ""};
            made.rights.push_back(
                make_right(right::kind::channel, "&" + pattern_of(channel), {std::move(publishing)})
            );
        }
    }
    return all;
}

bool is_refused(right::kind what, detail::raw_reply const& reply) {
    if (!reply.is_error) {
        return false;
    }
    auto const has = [&](std::string_view part) {
        return reply.error.find(part) != std::string::npos;
    };
    if (has("nknown command") || has("nknown Redis command") || has("nknown subcommand")) {
        return what == right::kind::command;
    }
    if (detail::classify(reply.error).error != errc::no_permission) {
        return false;
    }
    // Servers look at commands first, then at keys, then at channels.
    bool const of_channel = has("channel");
    bool const of_key = !of_channel && has(" key");
    switch (what) {
        case right::kind::command: return !of_channel && !of_key;
        case right::kind::key: return of_key;
        case right::kind::channel: return of_channel;
    }
    return false;
}

std::vector<finding> check_rights(std::vector<rights_group> const& groups, std::string_view user) {
    using need = rights_group::need;
    auto const whom = "the user \"" + std::string{user} + "\"";
    auto const grant = [user](words const& rules) {
        return "ACL SETUSER " + std::string{user} + " " + joined(rules);
    };
    std::vector<finding> found;
    words said;
    words kinds;
    words for_kinds;
    for (auto const& group : groups) {
        auto const rules = not_said(said, group);
        if (group.needed == need::kind) {
            if (std::ranges::any_of(group.rights, &right::refused)) {
                kinds.push_back(group.purpose);
                for_kinds.insert(for_kinds.end(), rules.begin(), rules.end());
            }
        } else if (!rules.empty()) {
            auto const lacks = whom + " lacks " + joined(rules);
            found.push_back(
                group.needed == need::always
                    ? fault("rights", group.purpose + " do not work: " + lacks, grant(rules))
                    : warning(
                          "rights",
                          group.purpose +
                              " is off, so that who waits is told and has to ask: " + lacks,
                          grant(rules)
                      )
            );
        }
    }
    if (!kinds.empty()) {
        auto const which = joined(kinds, ", ");
        found.push_back(warning(
            "rights",
            whom + " has not all rights for " + which,
            for_kinds.empty() ? "give it those that locks need"
                              : "if they are used: " + grant(for_kinds)
        ));
    }
    if (found.empty()) {
        found.push_back(good("rights", whom + " may do all that holdfast does"));
    }
    return found;
}

finding check_writes(std::vector<detail::raw_reply> const& replies) {
    for (auto const& reply : replies) {
        if (reply.is_error &&
            detail::classify(reply.error).what == detail::server_error::effect::transient) {
            return fault(
                "writes",
                "the server refuses writes: " + detail::loggable(reply.error),
                "remove the cause that the server names; its log may say more"
            );
        }
    }
    return good("writes", "the server takes them");
}

}  // namespace holdfast::cli
