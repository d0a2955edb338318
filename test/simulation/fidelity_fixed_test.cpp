// What random calls would hardly meet: the connection, the interpreter, orders, and a server that
// refuses.

#include "random_calls.hpp"
#include "redis/scripts.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "twin.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <filesystem>
#include <random>
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

// Fields in the order in which they were made, as long as the hash is small.
BOOST_AUTO_TEST_CASE(the_order_of_the_fields_of_a_small_hash) {
    std::mt19937 random{std::random_device{}()};
    twin both;
    commands all;
    for (int i = 0; i < 3'000; ++i) {
        auto const key = "hash:" + std::to_string(random() % 3);
        auto const field = std::to_string(random() % 40) + (random() % 2 == 0 ? ":1" : "");
        if (random() % 3 == 0) {
            all.push_back({"HDEL", key, field});
        } else {
            all.push_back({"HSET", key, field, std::to_string(i)});
        }
        all.push_back({i % 2 == 0 ? "HGETALL" : "HKEYS", key});
        if (random() % 100 == 0) {
            all.push_back({"DEL", key});
        }
    }
    both.compare(all);
}

// What a script finds around it, and what becomes of its result or its failure.
BOOST_AUTO_TEST_CASE(the_world_of_a_script) {
    constexpr std::string_view programs[] = {
        "return KEYS",
        "return {KEYS[1], ARGV[1], #KEYS, #ARGV}",
        "return {1, 2.9, -2.9, 'a', true, false, nil, 3}",
        "return {1, {2, {3, {}}}, {ok = 'fine'}, {err = 'MINE it broke'}}",
        "return {ok = 'two\r\nlines'}",
        "return {err = 'two\r\nlines'}",
        "return {err = 'word'}",
        "return {err = 1}",
        "return {double = 1.5}",
        "return {map = {a = 1}}",
        "return {set = {a = true}}",
        "return 1e300",
        "return -1e300",
        "return 0/0",
        "return 9007199254740993",
        "return '9007199254740993'",
        "return nil",
        "return",
        "return print",
        "return x",
        "x = 1",
        "local x = 1 x = 2 return x",
        "redis.x = 1",
        "redis.call = nil",
        "string.find = nil",
        "table.x = 1",
        "math.x = 1",
        "KEYS = 1",
        "function f() end",
        "return rawset(_G, 'x', 1)",
        "return type(_G)",
        "return type(io)",
        "return require('os')",
        "return loadfile('x')",
        "return dofile('x')",
        "return {type(redis), type(string), type(table), type(math), type(coroutine)}",
        "return {type(pcall), type(xpcall), type(error), type(tostring), type(select)}",
        "return {type(load), type(loadstring), type(unpack), type(next)}",
        "return {redis.LOG_DEBUG, redis.LOG_VERBOSE, redis.LOG_NOTICE, redis.LOG_WARNING}",
        "return redis.log(redis.LOG_DEBUG, 'x')",
        "return redis.log('x', 'y')",
        "return redis.log(1)",
        "return redis.log(9, 'x')",
        "return redis.sha1hex('')",
        "return redis.sha1hex('abc')",
        "return redis.sha1hex()",
        "return redis.sha1hex(1)",
        "return redis.error_reply('MINE it broke')",
        "return redis.error_reply('-MINE it broke')",
        "return redis.error_reply('word')",
        "return redis.error_reply('')",
        "return redis.error_reply(1)",
        "return redis.error_reply()",
        "return redis.status_reply('fine')",
        "return redis.status_reply(1)",
        "return redis.setresp(4)",
        "return redis.setresp()",
        "return redis.replicate_commands()",
        "return redis.set_repl(redis.REPL_ALL)",
        "return redis.acl_check_cmd('GET', 'a')",
        "return redis.acl_check_cmd('UNHEARD', 'of')",
        "return redis.call()",
        "return redis.pcall()",
        "return redis.call('GET', {})",
        "return redis.call('GET', nil)",
        "return redis.call('GET', true)",
        "return redis.call('UNHEARD')",
        "return redis.call('GET')",
        "return redis.call('EVAL', 'return 1', '0')",
        "return redis.call('SUBSCRIBE', 'a')",
        "return redis.call('HELLO')",
        "return redis.call('AUTH', 'a')",
        "return redis.call('CLIENT', 'ID')",
        "return redis.call('CLIENT', 'UNHEARD')",
        "return redis.call('SCRIPT', 'FLUSH')",
        "return redis.call('ROLE')",
        "return redis.call('ECHO', 1)",
        "return redis.call('ECHO', -0.5)",
        "return redis.call('ECHO', 1e15)",
        "return redis.call('ECHO', 2^53 + 1)",
        "return redis.call('ECHO', 1/0)",
        "return redis.call('ECHO', -1/0)",
        "return redis.call('echo', 'a\0b')",
        "return {redis.call('GET', 'nothing'), 1}",
        "return redis.call('MGET', 'nothing', 'string')",
        "return type(redis.call('GET', 'nothing'))",
        "return redis.call('SET', 'string', 'text').ok",
        "return redis.call('HGETALL', 'hash')",
        "redis.setresp(3) return redis.call('HGETALL', 'hash').map.field",
        "redis.setresp(3) return type(redis.call('GET', 'nothing'))",
        "redis.setresp(3) return redis.call('SMEMBERS', 'set')",
        "redis.setresp(3) return redis.call('ZSCORE', 'zset', 'a').double",
        "redis.setresp(3) return redis.call('ZRANGE', 'zset', 0, -1, 'WITHSCORES')",
        "redis.setresp(3) return true",
        "redis.setresp(3) return false",
        "return redis.call('ZRANGE', 'zset', 0, -1, 'WITHSCORES')",
        "return redis.call('ZSCORE', 'zset', 'a')",
        "return redis.pcall('INCR', 'string')",
        "return redis.pcall('INCR', 'string').err",
        "return redis.pcall('INCR', 'hash')['err']",
        "local r = redis.pcall('INCR', 'hash') return {r.err, type(r.source), type(r.line)}",
        "local r = redis.pcall('UNHEARD') return {r.err, type(r.source), tostring(r.line)}",
        "local r = redis.pcall('INCR', 'hash') r.err = 'MINE now' return r",
        "return {pcall(redis.call, 'INCR', 'hash')}",
        "local ok, e = pcall(redis.call, 'INCR', 'hash') return {type(e), e}",
        "local ok, e = pcall(function() error({code = 1}) end) return {type(e), e.code}",
        "local ok, e = pcall(function() error('x') end) return e",
        "local ok, e = pcall(function() return nothing.there end) return e",
        "return {pcall(function(...) return ... end, 1, 'a', nil, 2)}",
        "return {xpcall(function() error('x') end, function(e) return 'handled ' .. e end)}",
        "local ok, e = xpcall(function() redis.call('INCR', 'hash') end, function(e) return e end) "
        "return {type(e), e.err}",
        "error('x')",
        "error('x', 0)",
        "error({err = 'MINE it broke'})",
        "error({err = 'word'})",
        "error()",
        "error(nil)",
        "error(true)",
        "error(12)",
        "return nothing.there",
        "local t = nil return t.x",
        "local t = {} return t.x.y",
        "return 1 + nil",
        "return 1 + {}",
        "return 1 < 'a'",
        "return #nil",
        "return 'a' .. {}",
        "return ('x'):rep(3)",
        "return ('x'):bad()",
        "return tonumber('x')",
        "return tonumber('0x10')",
        "return tostring(2^53)",
        "return string.format('%.0f', 2^53)",
        "return string.format('%d', 2^53)",
        "return string.find('a:1', '^.+:%-?%d+$')",
        "return {string.find('a\0b:1', '^.+:%-?%d+$')}",
        "return {next({})}",
        "local t = {} for k in pairs({a = 1, b = 2}) do t[#t + 1] = k end table.sort(t) return t",
        "return table.concat({1, 2, 3}, ',')",
        "return select('#', unpack({1, 2, 3}))",
        "local f = loadstring('return 7') return f()",
        "return loadstring('return x')()",
        "local co = coroutine.wrap(function() coroutine.yield(1) end) return co()",
        "return getmetatable('') == nil",
        "return (",
        "return 'unfinished",
        "goto = 1 return goto",
        "\n\nreturn nothing",
        "local function f()\n  redis.call('INCR', 'hash')\nend\n\nf()",
        "local function f()\n  return redis.call('INCR', 'hash')\nend\n\nreturn f()",
        "local function f()\n  error('deep')\nend\n\nf()",
        "for i = 1, 3 do redis.call('RPUSH', 'made', i) end return redis.call('LRANGE', 'made', 0, "
        "-1)",
        "redis.call('SET', 'half', 'done') redis.call('INCR', 'hash')",
        "",
        "-- nothing",
    };
    // Newer servers write a number that is a command's word in another way, and Valkey shows a bit
    // more of Lua.
    constexpr std::string_view programs_of_redis[] = {
        "return redis.call('ECHO', 1/3)",
        "return redis.call('ECHO', 1e17)",
        "return redis.call('ECHO', -0)",
        "return redis.call('ECHO', 0 * -1)",
        "return type(os)",
        "return type(newproxy)",
    };
    twin both;
    for (auto const* const version : {"2", "3"}) {
        both.tell({"HELLO", version});
        both.tell({"SET", "string", "text"});
        both.tell({"DEL", "hash"});
        both.tell({"HSET", "hash", "field", "1"});
        both.tell({"SADD", "set", "a"});
        both.tell({"ZADD", "zset", "1.5", "a"});
        commands all;
        for (auto const one : programs) {
            all.push_back({"EVAL", text(one), "1", "a key", "an argument"});
            all.push_back({"SCRIPT", "LOAD", text(one)});
        }
        both.compare(all);
        both.compare_data();
        for (auto const one : programs_of_redis) {
            if (!both.is_valkey()) {
                both.compare({"EVAL", one, "0"});
            }
        }
    }
}
