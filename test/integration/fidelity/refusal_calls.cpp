#include "fidelity/refusal_calls.hpp"

#include "fidelity/random_calls.hpp"
#include "protocol/scripts.hpp"

#include <string>
#include <string_view>

namespace holdfast::test {

namespace scripts = detail::scripts;

namespace {

using command = twin::words;

std::string text(std::string_view one) {
    return std::string{one};
}

constexpr std::string_view holder = "2b5c1f9e-0d53-4c53-8a3e-1f0b6f4d9a01:1";

// A lease that was given before is extended, however long ago that was.
constexpr std::string_view first_lease = "3600000";
constexpr std::string_view later_lease = "5400000";

command acquire(
    std::string const& name,
    bool preflight = false,
    std::string_view lease = later_lease
) {
    command words{"EVAL", text(scripts::lock_acquire.text), "2", name, name + ":counter"};
    auto const tries = preflight ? "1" : "0";
    words.insert(
        words.end(),
        {text(lease), text(holder), "0", "1", "0", "0", tries, "0", "0", "a_nonce"}
    );
    if (preflight) {
        words[2] = "3";
        words.insert(words.begin() + 5, name + ":channel");
    }
    return words;
}

command learned_acquire(std::string const& name) {
    auto words = acquire(name);
    words[2] = "3";
    words.insert(words.begin() + 5, "usual");
    words[words.size() - 3] = "5000";
    words[words.size() - 2] = "6";
    return words;
}

command by_name(command words) {
    for (auto const* const one : holdfast::test::library_scripts()) {
        if (words[1] == one->text) {
            words[0] = "EVALSHA";
            words[1] = one->sha1;
        }
    }
    return words;
}

commands calls_of_scripts() {
    commands all;
    for (auto const* const name : {"held", "theirs", "free"}) {
        all.push_back(acquire(name));
        all.push_back(acquire(name, true));
        command renews{"EVAL", text(scripts::lock_renew.text), "1", name, "7200000"};
        renews.insert(renews.end(), {text(holder), "0", "0", "0", "0", "0", "0", "n"});
        all.push_back(std::move(renews));
        command many{"EVAL", text(scripts::lock_renew_many.text), "2", name, "hash"};
        many.insert(many.end(), {"7200000", text(holder), "7200000", "field", "n"});
        all.push_back(std::move(many));
        all.push_back(
            {"EVAL", text(scripts::lock_inspect.text), "2", name, text(name) + ":counter", "n"}
        );
        command releases{"EVAL", text(scripts::lock_release.text), "2", name, "channel"};
        releases.insert(releases.end(), {text(holder), "", "", "0", "0", "0", "0", "n"});
        all.push_back(std::move(releases));
        all.push_back({"EVAL", text(scripts::lock_force_release.text), "2", name, "channel", "n"});
        all.push_back(learned_acquire(name));
        command told{"EVAL", text(scripts::lock_release.text), "3", name, "channel", "usual"};
        told.insert(told.end(), {text(holder), "", "", "0", "0", "1", "50000", "n"});
        all.push_back(std::move(told));
        auto const leader = text(name) + ":leader";
        command proclaims{"EVAL", text(scripts::election_proclaim.text), "2", name, leader};
        proclaims.insert(proclaims.end(), {text(holder), "7", "1", "3600000", "a value", "n"});
        all.push_back(std::move(proclaims));
        all.push_back({"EVAL", text(scripts::election_look.text), "2", name, leader, "n"});
        command over{
            "EVAL",
            text(scripts::lock_take_over.text),
            "2",
            name,
            std::string{name} + ":counter"
        };
        over.insert(over.end(), {"3600000", text(holder), "0", "1", "", "field", "1", "n"});
        all.push_back(std::move(over));
    }
    for (auto const* const name : {"number", "nothing", "string"}) {
        auto const kept = "3600000";
        all.push_back({"EVAL", text(scripts::counted_read.text), "1", name, "n"});
        command counts{"EVAL", text(scripts::latch_count_down.text), "3", name, "channel"};
        counts.insert(counts.end(), {text(name) + ":1", "2", kept, "n"});
        all.push_back(std::move(counts));
        command takes{"EVAL", text(scripts::counting_semaphore_acquire.text), "2", name};
        takes.insert(takes.end(), {text(name) + ":2", "2", kept, "n"});
        all.push_back(std::move(takes));
        command adds{"EVAL", text(scripts::counting_semaphore_add.text), "3", name, "channel"};
        adds.insert(adds.end(), {text(name) + ":3", "2", kept, "n"});
        all.push_back(std::move(adds));
        command gives{"EVAL", text(scripts::counting_semaphore_withdraw.text), "3", name};
        gives.insert(gives.end(), {"channel", text(name) + ":4", "2", kept, "n"});
        all.push_back(std::move(gives));
    }
    auto const once = all.size();
    for (std::size_t i = 0; i < once; ++i) {
        all.push_back(by_name(all[i]));
    }
    return all;
}

// Scripts that write, do not write, or write late.
commands calls_of_programs() {
    constexpr std::string_view programs[] = {
        "return redis.call('SET', 'a', '1')",
        "return redis.call('HSET', 'b', 'f', '1')",
        "return redis.call('DEL', 'a')",
        "redis.call('DEL', 'nothing') return redis.call('SET', 'a', '2')",
        "redis.pcall('SET', 'a', '3') return redis.call('DEL', 'a')",
        "return redis.pcall('SET', 'a', '4')",
        "local r = redis.pcall('INCR', 'n') return {type(r), r.err and r.err or r}",
        "return redis.call('PEXPIRE', 'string', '3600000')",
        "return redis.call('GET', 'string')",
        "return redis.call('EXISTS', 'string')",
        "return redis.call('PUBLISH', 'channel', 'x')",
        "return redis.call('PING')",
        "return 1",
    };
    commands all;
    for (auto const one : programs) {
        all.push_back({"EVAL", text(one), "0"});
    }
    return all;
}

}  // namespace

commands scene() {
    commands all;
    // Beyond the clock, from which tokens come otherwise.
    for (auto const* const name : {"held", "theirs", "free", "gone"}) {
        all.push_back({"SET", text(name) + ":counter", "4000000000000000"});
    }
    all.push_back(acquire("held", false, first_lease));
    all.push_back({"HSET", "theirs", "other:1", "1"});
    all.push_back({"HSET", "hash", "field", "1"});
    all.push_back({"SET", "string", "text"});
    all.push_back({"SET", "number", "9"});
    for (auto const* const one : holdfast::test::library_scripts()) {
        all.push_back({"SCRIPT", "LOAD", text(one->text)});
    }
    return all;
}

commands plain_commands() {
    return {
        {"GET", "string"},
        {"SET", "string", "changed"},
        {"SET", "string"},
        {"DEL", "nothing"},
        {"DEL", "string"},
        {"HSET", "hash", "field", "2"},
        {"HDEL", "hash", "nothing"},
        {"HGETALL", "hash"},
        {"INCR", "n"},
        {"RPUSH", "list", "a"},
        {"LREM", "list", "1", "a"},
        {"ZADD", "zset", "1", "a"},
        {"PEXPIRE", "hash", "3600000"},
        {"PERSIST", "hash"},
        {"EXISTS", "hash"},
        {"PTTL", "hash"},
        {"PUBLISH", "channel", "x"},
        {"SPUBLISH", "channel", "x"},
        {"PING"},
        {"PING", "word"},
        {"SELECT", "0"},
        {"SELECT", "99"},
        {"WAIT", "0", "0"},
        {"SCRIPT", "LOAD", "return 7"},
        {"EVALSHA", "0123456789012345678901234567890123456789", "0"},
        {"EVALSHA", "short", "0"},
        {"EVAL", "return 1"},
        {"EVAL", "return 1", "1"},
        {"HELLO", "4"},
        {"HELLO", "3", "AUTH", "nobody", "password"},
        {"UNHEARD", "of", "it"},
        {"PUBSUB", "NUMSUB", "channel"},
        {"SUBSCRIBE", "channel", "other"},
        {"UNSUBSCRIBE", "channel", "other"},
        {"FLUSHALL"},
    };
}

commands all_calls() {
    auto all = calls_of_scripts();
    for (auto const& part : {calls_of_programs(), plain_commands()}) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

}  // namespace holdfast::test
