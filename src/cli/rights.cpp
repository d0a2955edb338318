#include "cli/rights.hpp"

#include "protocol/derived_keys.hpp"
#include "protocol/hand_over_message.hpp"
#include "protocol/lock.hpp"
#include "protocol/names.hpp"
#include "protocol/scripts.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace holdfast::cli {

namespace {

namespace beginning = detail::beginning;
using detail::script_dialect;
using right_kind = right::kind;
using words = std::vector<std::string>;
using views = std::vector<std::string_view>;

constexpr detail::script const* all_scripts[] = {
#define HOLDFAST_SCRIPT(symbol, ...) &detail::scripts::symbol,
#include "protocol/scripts.inc"
#undef HOLDFAST_SCRIPT
};

// What a kind of lock has on the server.
struct lock_parts {
    std::string purpose;
    rights_group::need needed;
    /// The folders of its scripts.
    views scripts;
    /// What its keys begin with; the tag of the lock follows.
    views keys;
    /// The same of the channels on which it publishes.
    views channels;
};
// The key is the tag itself, with more behind it.
constexpr std::string_view tag_itself;

std::vector<lock_parts> const& parts_of_locks() {
    static std::vector<lock_parts> const all{
        {"locks",
         rights_group::need::always,
         {"lock", "multi_lock", "quorum_lock"},
         {beginning::token, beginning::lock_channel},
         {beginning::lock_channel}},
        {"hand-over",
         rights_group::need::better,
         {"lock"},
         {beginning::queue},
         {beginning::waiters, beginning::client}},
        {"learned leases",
         rights_group::need::kind,
         {},
         {beginning::hold, beginning::read_hold, beginning::write_hold, beginning::semaphore_hold},
         {}},
        {"fair locks",
         rights_group::need::kind,
         {"fair_lock"},
         {beginning::fair_queue, beginning::fair_timeout, beginning::fair_trust},
         {}},
        {"read/write locks",
         rights_group::need::kind,
         {"read_lock", "write_lock", "read_write_lock"},
         {tag_itself, beginning::rw_queue, beginning::rw_heard, beginning::rw_channel},
         {beginning::rw_channel}},
        {"semaphores",
         rights_group::need::kind,
         {"semaphore"},
         {tag_itself,
          beginning::semaphore_token,
          beginning::semaphore_queue,
          beginning::semaphore_heard,
          beginning::semaphore_channel,
          beginning::semaphore_turns},
         {beginning::semaphore_channel, beginning::semaphore_turns}},
        {"latches",
         rights_group::need::kind,
         {"counted", "latch"},
         {beginning::done, beginning::latch_channel},
         {beginning::latch_channel}},
        {"counting semaphores",
         rights_group::need::kind,
         {"counted", "counting_semaphore"},
         {beginning::done, beginning::semaphore_channel},
         {beginning::semaphore_channel}},
        {"elections",
         rights_group::need::kind,
         {"election"},
         {beginning::leader},
         {beginning::leader}},
    };
    return all;
}

// Of the commands in the scripts of a lock, what clients can do without.
bool is_of_hand_over(std::string_view command) {
    return command.starts_with('z') || command.starts_with("pubsub") || command == "pexpireat";
}

std::string with_case(std::string_view text, char first, char last) {
    std::string made{text};
    for (char& c : made) {
        c = c >= first && c <= last ? static_cast<char>(c ^ 0x20) : c;
    }
    return made;
}

// What the scripts of some folders call, as rules have it: `hset`, `pubsub|numsub`.
std::set<std::string> commands_in(views const& folders, script_dialect dialect) {
    std::set<std::string> found;
    for (auto const* const one : all_scripts) {
        auto const folder = one->name.substr(0, one->name.find('.'));
        if (std::ranges::find(folders, folder) == folders.end()) {
            continue;
        }
        auto const text = one->in(dialect).text;
        // The next word between quotes.
        auto const word_behind = [text](std::size_t& at) {
            auto const begins = text.find('\'', at) + 1;
            auto const ends = text.find('\'', begins);
            at = ends + 1;
            return with_case(text.substr(begins, ends - begins), 'A', 'Z');
        };
        for (auto at = text.find("call('"); at != text.npos; at = text.find("call('", at)) {
            auto command = word_behind(at);
            if (command == "pubsub") {
                command += "|" + word_behind(at);
            }
            found.insert(std::move(command));
        }
    }
    return found;
}

// Behind the command and a key that is not there, so that nothing is changed.
words harmless_arguments(std::string_view command) {
    static std::vector<std::pair<views, words>> const all{
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

right make_right(right_kind what, std::string rule, std::vector<words> tries) {
    // Boost.Redis knows that subscriptions have no replies by their names in capitals.
    for (auto& tried : tries) {
        tried.front() = with_case(tried.front(), 'a', 'z');
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
        auto const arguments = harmless_arguments(command);
        tried.insert(tried.end(), arguments.begin(), arguments.end());
    }
    return make_right(right_kind::command, "+" + command, {std::move(tried)});
}

}  // namespace

std::vector<rights_group> rights_for(
    config const& settings,
    std::string_view name,
    script_dialect dialect
) {
    bool const sharded = dialect == script_dialect::sharded;
    bool const in_cluster = dialect != script_dialect::single;
    auto const lock = detail::make_lock_target({}, name);
    std::string const channel{lock.channel()};
    auto const tag = detail::tag_of(name);
    auto const full = [&](std::string_view begins) {
        if (begins == beginning::client) {
            return in_cluster ? detail::channel_of_client("doctor", lock)
                              : detail::channel_of_client("doctor");
        }
        if (begins == tag_itself) {
            return tag + ":doctor";
        }
        // Redisson puts the name in braces here also if it has some.
        bool const in_braces = begins == beginning::latch_channel && !in_cluster;
        return std::string{begins} + (in_braces ? "{" + lock.lock + "}" : tag);
    };
    // `redisson_sc:{app:holdfast-doctor-1}` → `redisson_sc:{app:*`
    auto const pattern_of = [&](std::string const& which) {
        auto const at = which.find(name);
        return at == which.npos ? which.substr(0, which.find(':') + 1) + "*"
                                : which.substr(0, at) + settings.key_prefix + "*";
    };
    // One that reads and one that writes: users may have one right without the other.
    auto const right_to_key = [&](std::string const& which) {
        return make_right(
            right_kind::key,
            "~" + pattern_of(which),
            {{"PTTL", which}, {"DEL", which}}
        );
    };

    std::vector<rights_group> all;
    // Every kind needs what locks need: it is not tried again.
    std::set<std::string> of_locks;
    for (auto const& parts : parts_of_locks()) {
        bool const hands_over = parts.needed == rights_group::need::better;
        if (hands_over && !settings.hand_over) {
            continue;
        }
        auto commands = commands_in(parts.scripts, dialect);
        rights_group made{parts.purpose, parts.needed, {}};
        if (parts.needed == rights_group::need::always) {
            made.rights.push_back(right_to_key(lock.lock));
            commands.insert({"ping", "time", "eval", "evalsha"});
            // Boost.Redis waits for replies to sharded subscriptions, which have none: a hand-over
            // shows whether they are allowed.
            if (!sharded) {
                commands.insert({"subscribe", "unsubscribe"});
            }
        }
        for (auto const& one : commands) {
            bool const is_better = parts.needed != rights_group::need::kind && is_of_hand_over(one);
            if (!of_locks.contains(one) && is_better == hands_over) {
                made.rights.push_back(right_to(one, lock.lock, channel));
            }
        }
        if (parts.needed == rights_group::need::always) {
            std::erase_if(commands, is_of_hand_over);
            of_locks = std::move(commands);
        }
        for (auto const begins : parts.keys) {
            made.rights.push_back(right_to_key(full(begins)));
        }
        for (auto const begins : parts.channels) {
            auto const which = full(begins);
            words publishing{sharded ? "spublish" : "publish", which, ""};
            made.rights.push_back(
                make_right(right_kind::channel, "&" + pattern_of(which), {std::move(publishing)})
            );
        }
        all.push_back(std::move(made));
    }
    if (settings.replicas.count > 0) {
        all.push_back({"config::replicas", rights_group::need::always, {right_to("wait", {}, {})}});
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
        return what == right_kind::command;
    }
    if (detail::classify(reply.error).error != errc::no_permission) {
        return false;
    }
    // Servers look at commands first, then at keys, then at channels.
    bool const of_channel = has("channel");
    bool const of_key = !of_channel && has(" key");
    switch (what) {
        case right_kind::command: return !of_channel && !of_key;
        case right_kind::key: return of_key;
        case right_kind::channel: return of_channel;
    }
    return false;
}

}  // namespace holdfast::cli
