#include "protocol/permissions.hpp"

#include "protocol/derived_keys.hpp"
#include "protocol/hand_over_message.hpp"
#include "protocol/lock.hpp"
#include "protocol/names.hpp"
#include "protocol/scripts.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace holdfast::detail {

namespace {

constexpr script const* all_scripts[] = {
#define HOLDFAST_SCRIPT(symbol, ...) &scripts::symbol,
#include "protocol/scripts.inc"
#undef HOLDFAST_SCRIPT
};

struct kind_parts {
    std::string_view purpose;
    permissions::need needed;
    /// The folders of its scripts.
    std::vector<std::string_view> scripts;
    /// What its keys begin with; the tag of the lock follows.
    std::vector<std::string_view> keys;
    /// The same of the channels on which it publishes.
    std::vector<std::string_view> channels;
};

// Keys that begin with the tag itself.
constexpr std::string_view tag_itself;

std::vector<kind_parts> const& parts_of_kinds() {
    static std::vector<kind_parts> const all{
        {"locks",
         permissions::need::always,
         {"lock", "multi_lock", "quorum_lock"},
         {beginning::token, beginning::lock_channel},
         {beginning::lock_channel}},
        {"hand-over",
         permissions::need::better,
         {"lock"},
         {beginning::queue},
         {beginning::waiters, beginning::client}},
        {"learned leases",
         permissions::need::kind,
         {},
         {beginning::hold, beginning::read_hold, beginning::write_hold, beginning::semaphore_hold},
         {}},
        {"fair locks",
         permissions::need::kind,
         {"fair_lock"},
         {beginning::fair_queue, beginning::fair_timeout, beginning::fair_trust},
         {}},
        {"read/write locks",
         permissions::need::kind,
         {"read_lock", "write_lock", "read_write_lock"},
         {tag_itself, beginning::rw_queue, beginning::rw_heard, beginning::rw_channel},
         {beginning::rw_channel}},
        {"semaphores",
         permissions::need::kind,
         {"semaphore"},
         {tag_itself,
          beginning::semaphore_token,
          beginning::semaphore_queue,
          beginning::semaphore_heard,
          beginning::semaphore_channel,
          beginning::semaphore_turns},
         {beginning::semaphore_channel, beginning::semaphore_turns}},
        {"latches",
         permissions::need::kind,
         {"counted", "latch"},
         {beginning::done, beginning::latch_channel},
         {beginning::latch_channel}},
        {"counting semaphores",
         permissions::need::kind,
         {"counted", "counting_semaphore"},
         {beginning::done, beginning::semaphore_channel},
         {beginning::semaphore_channel}},
        {"elections",
         permissions::need::kind,
         {"election"},
         {beginning::leader},
         {beginning::leader}},
    };
    return all;
}

// Of the commands in the scripts of a lock, those that clients can do without.
bool is_of_hand_over(std::string_view command) {
    return command.starts_with('z') || command.starts_with("pubsub") || command == "pexpireat";
}

// What the scripts of some folders call.
std::set<std::string> commands_in(
    std::vector<std::string_view> const& folders,
    script_dialect dialect
) {
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
            std::string word{text.substr(begins, ends - begins)};
            std::ranges::transform(word, word.begin(), [](char c) {
                return c >= 'A' && c <= 'Z' ? static_cast<char>(c ^ 0x20) : c;
            });
            return word;
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

}  // namespace

std::vector<permissions> permissions_for(
    config const& settings,
    std::string_view name,
    std::string_view client_id,
    script_dialect dialect
) {
    bool const in_cluster = dialect != script_dialect::single;
    auto const lock = make_lock_target({}, name);
    auto const tag = tag_of(name);
    auto const full = [&](std::string_view begins) {
        if (begins == beginning::client) {
            return in_cluster ? channel_of_client(client_id, lock) : channel_of_client(client_id);
        }
        if (begins == tag_itself) {
            return tag + std::string{ending::permits};
        }
        // Redisson puts the name in braces here also if it has some.
        bool const in_braces = begins == beginning::latch_channel && !in_cluster;
        return std::string{begins} + (in_braces ? "{" + lock.lock + "}" : tag);
    };

    std::vector<permissions> all;
    // Every kind needs what plain locks need.
    std::set<std::string> of_locks;
    for (auto const& one : parts_of_kinds()) {
        if (one.needed == permissions::need::better && !settings.hand_over) {
            continue;
        }
        auto& made = all.emplace_back(permissions{one.purpose, one.needed});
        made.commands = commands_in(one.scripts, dialect);
        std::erase_if(made.commands, [&](std::string const& command) {
            bool const is_wanted =
                one.needed == permissions::need::kind ||
                is_of_hand_over(command) == (one.needed == permissions::need::better);
            return !is_wanted || of_locks.contains(command);
        });
        if (one.needed == permissions::need::always) {
            bool const sharded = dialect == script_dialect::sharded;
            made.commands.insert({"ping", "time", "eval", "evalsha"});
            made.commands.insert(sharded ? "ssubscribe" : "subscribe");
            made.commands.insert(sharded ? "sunsubscribe" : "unsubscribe");
            made.keys.push_back(lock.lock);
            of_locks = made.commands;
        }
        std::ranges::transform(one.keys, std::back_inserter(made.keys), full);
        std::ranges::transform(one.channels, std::back_inserter(made.channels), full);
    }
    if (settings.replicas.count > 0) {
        all.push_back({"config::replicas", permissions::need::always, {"wait"}});
    }
    return all;
}

}  // namespace holdfast::detail
