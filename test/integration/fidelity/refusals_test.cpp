// The model against a server that refuses: each of its states, users with few rights, log-in.

#include "fidelity/refusal_calls.hpp"
#include "fidelity/twin.hpp"
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
using holdfast::memory::refusal;
using holdfast::memory::user_rules;
using holdfast::test::all_calls;
using holdfast::test::plain_commands;
using holdfast::test::redis_server;
using holdfast::test::scene;
using holdfast::test::server_link;
using holdfast::test::twin;

namespace {

using command = twin::words;

std::string text(std::string_view one) {
    return std::string{one};
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
            server_link probe{both.server().unix_socket()};
            BOOST_TEST(!probe.ask({"SCRIPT", "KILL"}).is_error());
            BOOST_TEST(other.receive().is_error());
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
        {"HELLO", "3", "AUTH", "default", "wrong"},
        {"HELLO", "3", "AUTH", "nobody", "secret"},
        {"HELLO", "3"},
        {"PING"},
        {"GET", "a"},
    });
    // What the server says of itself, and the number of the connection, differ.
    both.tell({"HELLO", "3", "AUTH", "default", "secret"});
    both.compare({"GET", "a"});
}

// With nobody logged in, a server that wants a password is the same as the refusal of all.
BOOST_AUTO_TEST_CASE(the_refusal_of_whoever_has_not_logged_in) {
    twin both{{.password = "secret"}};
    both.model().set_user("default", {});
    both.reconnect();
    both.model().set_refusal(refusal::noauth);
    both.compare(plain_commands());
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
        both.tell({"HELLO", "3", "AUTH", "alice", "secret"});
        both.compare(all_calls());
        both.compare_data();
    }
}
