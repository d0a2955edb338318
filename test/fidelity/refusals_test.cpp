// The model against a server that refuses: each of its states, users with few rights, log-in.

#include "fidelity/random_calls.hpp"
#include "fidelity/twin.hpp"
#include "redis/scripts.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using holdfast::sim::refusal;
using holdfast::sim::user_rules;
using holdfast::test::redis_server;
using holdfast::test::server_link;
using holdfast::test::twin;
namespace scripts = holdfast::detail::scripts;

namespace {

using command = twin::words;
using commands = std::vector<command>;

std::string text(std::string_view one) {
    return std::string{one};
}

// --- commands that a server may refuse

constexpr std::string_view holder = "2b5c1f9e-0d53-4c53-8a3e-1f0b6f4d9a01:1";

command acquire(std::string const& name, std::string_view rehearse = "0") {
    command words{"EVAL", text(scripts::acquire.text), "2", name, name + ":counter", "3600000"};
    words.insert(words.end(), {text(holder), "0", text(rehearse), "a nonce"});
    if (rehearse == "1") {
        words[2] = "3";
        words.insert(words.begin() + 5, name + ":channel");
    }
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

// A lock that is held, one of somebody else, one that is free: in a server that refuses nothing
// yet. Their counters are there, so that tokens do not come from the clock.
commands scene() {
    commands all;
    for (auto const* const name : {"held", "theirs", "free", "gone"}) {
        all.push_back({"SET", text(name) + ":counter", "41"});
    }
    all.push_back(acquire("held"));
    all.push_back({"HSET", "theirs", "other:1", "1"});
    all.push_back({"HSET", "hash", "field", "1"});
    all.push_back({"SET", "string", "text"});
    for (auto const* const one : holdfast::test::library_scripts()) {
        all.push_back({"SCRIPT", "LOAD", text(one->text)});
    }
    return all;
}

commands calls_of_scripts() {
    commands all;
    for (auto const* const name : {"held", "theirs", "free"}) {
        all.push_back(acquire(name));
        all.push_back(acquire(name, "1"));
        all.push_back({"EVAL", text(scripts::renew.text), "1", name, "7200000", text(holder), "n"});
        all.push_back({"EVAL", text(scripts::inspect.text), "2", name, text(name) + ":counter", "n"}
        );
        all.push_back({"EVAL", text(scripts::release.text), "2", name, "channel", text(holder), "n"}
        );
        all.push_back({"EVAL", text(scripts::force_release.text), "2", name, "channel", "n"});
    }
    auto const once = all.size();
    for (std::size_t i = 0; i < once; ++i) {
        all.push_back(by_name(all[i]));
    }
    return all;
}

// Scripts that write, do not write, write late, and say so or not.
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
        "return {redis.call('TYPE', 'string'), redis.call('EXISTS', 'string')}",
        "return redis.call('PUBLISH', 'channel', 'x')",
        "return redis.call('PING')",
        "return 1",
        "#!lua\nreturn redis.call('SET', 'c', '1')",
        "#!lua\nreturn redis.call('GET', 'string')",
        "#!lua\nreturn 1",
        "#!lua flags=allow-oom\nreturn redis.call('SET', 'c', '2')",
        "#!lua flags=no-writes\nreturn redis.call('GET', 'string')",
        "#!lua flags=no-writes\nreturn redis.call('SET', 'c', '3')",
        "#!lua flags=no-writes\nreturn redis.call('PUBLISH', 'channel', 'x')",
        "#!lua flags=no-writes,allow-stale\nreturn redis.call('GET', 'string')",
        "#!lua flags=no-writes,allow-stale\nreturn redis.call('ECHO', 'x')",
        "#!lua flags=allow-stale\nreturn redis.call('SET', 'c', '4')",
        "#!lua flags=unheard-of\nreturn 1",
        "#!lua colour=blue\nreturn 1",
        "#!python\nreturn 1",
        "#!lua",
    };
    commands all;
    for (auto const one : programs) {
        all.push_back({"EVAL", text(one), "0"});
        all.push_back({"EVAL_RO", text(one), "0"});
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
        {"LPUSH", "list", "a"},
        {"LPOP", "list"},
        {"SADD", "set", "a"},
        {"ZADD", "zset", "1", "a"},
        {"EXPIRE", "hash", "3600"},
        {"PERSIST", "hash"},
        {"EXISTS", "hash"},
        {"TYPE", "hash"},
        {"PTTL", "hash"},
        {"PUBLISH", "channel", "x"},
        {"SPUBLISH", "channel", "x"},
        {"PING"},
        {"PING", "word"},
        {"ECHO", "word"},
        {"SELECT", "0"},
        {"SELECT", "99"},
        {"WAIT", "0", "0"},
        {"SCRIPT", "EXISTS", text(scripts::acquire.sha1), "x"},
        {"SCRIPT", "LOAD", "return 7"},
        {"SCRIPT", "FLUSH", "MAYBE"},
        {"EVALSHA", "0123456789012345678901234567890123456789", "0"},
        {"EVALSHA", "short", "0"},
        {"EVAL", "return 1"},
        {"EVAL", "return 1", "1"},
        {"CLIENT", "SETNAME", "somebody"},
        {"CLIENT", "GETNAME"},
        {"AUTH", "password"},
        {"AUTH", "nobody", "password"},
        {"AUTH", "one", "two", "three"},
        {"HELLO", "4"},
        {"HELLO", "3", "AUTH", "nobody", "password"},
        {"HELLO", "3", "SETNAME", "two words"},
        {"UNHEARD", "of", "it"},
        {"FLUSHDB", "MAYBE"},
        {"KEYS", "has*"},
        {"PUBSUB", "NUMSUB", "channel"},
        {"SUBSCRIBE", "channel", "other"},
        {"UNSUBSCRIBE", "channel", "other"},
        {"FLUSHDB"},
    };
}

commands all_calls() {
    auto all = calls_of_scripts();
    for (auto const& part : {calls_of_programs(), plain_commands()}) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

// The calls, in a state that `enter` brings about in the server; `leave` ends it.
template <class Enter, class Leave>
void compare_in_state(twin& both, refusal state, Enter enter, Leave leave) {
    both.compare({"EVAL", "return 1", "0"});
    both.tell({"HELLO", "3"});
    both.compare(scene());
    enter();
    both.model().set_refusal(state);
    both.compare(all_calls());
    leave();
    both.model().set_refusal(refusal::none);
    both.compare_data();
}

template <class Condition>
void wait_for(Condition condition) {
    auto const deadline = std::chrono::steady_clock::now() + 20s;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) {
            throw std::runtime_error{"the server does not get into the state that is tested"};
        }
        std::this_thread::sleep_for(2ms);
    }
}

void configure(redis_server const& server, std::string const& name, std::string const& setting) {
    auto const reply = server.probe().cmd("CONFIG", "SET", name, setting);
    if (reply.is_error()) {
        throw std::runtime_error{name + ": " + reply.text};
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_server_that_refuses_nothing) {
    twin both;
    compare_in_state(both, refusal::none, [] {}, [] {});
}

BOOST_AUTO_TEST_CASE(a_server_without_memory) {
    twin both;
    compare_in_state(
        both,
        refusal::oom,
        [&] { configure(both.server(), "maxmemory", "1"); },
        [&] { configure(both.server(), "maxmemory", "0"); }
    );
}

BOOST_AUTO_TEST_CASE(a_server_with_too_few_replicas) {
    twin both;
    compare_in_state(
        both,
        refusal::noreplicas,
        [&] { configure(both.server(), "min-replicas-to-write", "1"); },
        [&] { configure(both.server(), "min-replicas-to-write", "0"); }
    );
}

BOOST_AUTO_TEST_CASE(a_server_that_cannot_save_its_data) {
    twin both;
    compare_in_state(
        both,
        refusal::misconf,
        [&] {
            configure(both.server(), "save", "3600 1000000");
            std::filesystem::remove_all(both.server().folder() / "data");
            auto probe = both.server().probe();
            probe.cmd("BGSAVE");
            wait_for([&] { return probe.info("persistence")["rdb_last_bgsave_status"] == "err"; });
        },
        [&] { configure(both.server(), "save", ""); }
    );
}

BOOST_AUTO_TEST_CASE(a_replica) {
    twin both;
    compare_in_state(
        both,
        refusal::read_only,
        [&] { both.server().probe().cmd("REPLICAOF", "127.0.0.1", "1"); },
        [&] { both.server().probe().cmd("REPLICAOF", "NO", "ONE"); }
    );
}

BOOST_AUTO_TEST_CASE(a_replica_that_has_lost_its_master) {
    twin both;
    compare_in_state(
        both,
        refusal::masterdown,
        [&] {
            configure(both.server(), "replica-serve-stale-data", "no");
            both.server().probe().cmd("REPLICAOF", "127.0.0.1", "1");
        },
        [&] { both.server().probe().cmd("REPLICAOF", "NO", "ONE"); }
    );
}

BOOST_AUTO_TEST_CASE(a_server_that_is_busy_with_a_script) {
    twin both;
    server_link other{both.server().unix_socket()};
    compare_in_state(
        both,
        refusal::busy,
        [&] {
            configure(both.server(), "busy-reply-threshold", "1");
            other.add({"EVAL", "while true do end", "0"});
            other.send();
            server_link probe{both.server().unix_socket()};
            wait_for([&] { return probe.ask({"PING"}).is_error(); });
        },
        [&] {
            both.compare({"SCRIPT", "KILL"});
            BOOST_TEST(other.receive().is_error());
            both.compare({"SCRIPT", "KILL"});
        }
    );
}

BOOST_AUTO_TEST_CASE(a_server_that_loads_its_data) {
    twin both{{.extra = {"enable-debug-command yes"}}};
    server_link other{both.server().unix_socket()};
    compare_in_state(
        both,
        refusal::loading,
        [&] {
            // It looks at its connections after so many bytes, and takes its time for each key.
            configure(both.server(), "loading-process-events-interval-bytes", "1024");
            configure(both.server(), "rdbcompression", "no");
            configure(both.server(), "key-load-delay", "50000");
            for (int i = 0; i < 40; ++i) {
                auto const key = "filler:" + std::to_string(i);
                other.add({"SET", key, std::string(2'000, 'x')});
            }
            other.exchange();
            other.add({"DEBUG", "RELOAD"});
            other.send();
            server_link probe{both.server().unix_socket()};
            wait_for([&] { return probe.ask({"PING"}).is_error(); });
        },
        [&] {
            configure(both.server(), "key-load-delay", "0");
            other.receive();
            for (int i = 0; i < 40; ++i) {
                other.add({"DEL", "filler:" + std::to_string(i)});
            }
            other.exchange();
        }
    );
}

BOOST_AUTO_TEST_CASE(a_server_that_wants_a_password) {
    twin both{{.password = "secret"}};
    both.compare(plain_commands());
    both.compare({
        {"AUTH", "wrong"},
        {"HELLO", "3", "AUTH", "default", "wrong"},
        {"HELLO", "3", "AUTH", "nobody", "secret"},
        {"HELLO", "3"},
        {"PING"},
        {"AUTH", "default", "secret"},
        {"GET", "a"},
        {"RESET"},
        {"GET", "a"},
        {"AUTH", "secret"},
        {"GET", "a"},
    });
}

// With nobody logged in, a server that wants a password is the same as the refusal of all.
BOOST_AUTO_TEST_CASE(the_refusal_of_whoever_has_not_logged_in) {
    twin both{{.password = "secret"}};
    both.model().set_user("default", {});
    both.reconnect();
    both.model().set_refusal(refusal::noauth);
    auto commands = plain_commands();
    std::erase_if(commands, [](auto const& one) { return one[0] == "AUTH"; });
    both.compare(commands);
}

// A user who may do little, which shows at different points of the scripts.
BOOST_AUTO_TEST_CASE(a_user_with_few_rights) {
    constexpr std::string_view denied[] = {
        "nothing",
        "eval",
        "evalsha",
        "script|load",
        "script",
        "pttl",
        "hkeys",
        "incr",
        "hset",
        "pexpire",
        "set",
        "hdel",
        "publish",
        "ping",
        "subscribe",
    };
    twin both;
    both.tell({"HELLO", "3"});
    for (auto const one : denied) {
        bool const all = one == "nothing";
        user_rules rules{.password = "secret"};
        command words{"ACL", "SETUSER", "alice", "reset", "on", ">secret", "+@all"};
        if (all) {
            rules.keys = {"h*", "str?ng", "[a-c]"};
            rules.channels = {"chan*"};
            words.insert(words.end(), {"~h*", "~str?ng", "~[a-c]", "&chan*"});
        } else {
            rules.denied_commands = {text(one)};
            words.insert(words.end(), {"~*", "&*", "-" + text(one)});
        }
        both.reconnect();
        both.tell({"HELLO", "3"});
        both.tell({"FLUSHALL"});
        both.compare(scene());
        BOOST_TEST(!both.server().probe().command(words).is_error());
        both.model().set_user("alice", rules);
        both.compare({"AUTH", "alice", "secret"});
        both.compare(all_calls());
        both.compare_data();
    }
}
