// The model against a server: what random calls would hardly meet in a script, and the order of
// small hashes.

#include "fidelity/twin.hpp"

#include <boost/test/unit_test.hpp>

#include <random>
#include <string>
#include <string_view>
#include <vector>

using holdfast::test::twin;

namespace {

using commands = std::vector<twin::words>;

}  // namespace

// Fields in the order in which they were made, as long as the hash is small.
BOOST_AUTO_TEST_CASE(the_order_of_the_fields_of_a_small_hash) {
    std::mt19937 random{1};
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
        "return type(_G)",
        "return type(io)",
        "return require('os')",
        "return loadfile('x')",
        "return dofile('x')",
        "return {type(redis), type(string), type(table), type(math), type(coroutine)}",
        "return {type(pcall), type(xpcall), type(error), type(tostring), type(select)}",
        "return {type(load), type(loadstring), type(unpack), type(next)}",
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
        "return redis.call('SCRIPT', 'FLUSH')",
        "return redis.call('PING', 1)",
        "return redis.call('PING', -0.5)",
        "return redis.call('PING', 1e15)",
        "return redis.call('PING', 2^53 + 1)",
        "return redis.call('PING', 1/0)",
        "return redis.call('PING', -1/0)",
        "return redis.call('ping', 'a\0b')",
        "return {redis.call('GET', 'nothing'), 1}",
        "return type(redis.call('GET', 'nothing'))",
        "return redis.call('SET', 'string', 'text').ok",
        "return redis.call('HGETALL', 'hash')",
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
    // Newer servers write a number that is a command's word in another way, and show a bit more of
    // Lua.
    constexpr std::string_view programs_of_redis[] = {
        "return redis.call('PING', 1/3)",
        "return redis.call('PING', 1e17)",
        "return redis.call('PING', -0)",
        "return redis.call('PING', 0 * -1)",
        "return type(os)",
        "return type(newproxy)",
    };
    twin both;
    for (auto const* const version : {"2", "3"}) {
        both.tell({"HELLO", version});
        both.tell({"SET", "string", "text"});
        both.tell({"DEL", "hash"});
        both.tell({"HSET", "hash", "field", "1"});
        both.tell({"ZADD", "zset", "1.5", "a"});
        commands all;
        for (auto const one : programs) {
            all.push_back({"EVAL", std::string{one}, "1", "a key", "an argument"});
            all.push_back({"SCRIPT", "LOAD", std::string{one}});
        }
        both.compare(all);
        both.compare_data();
        for (auto const one : programs_of_redis) {
            if (!both.is_newer()) {
                both.compare({"EVAL", one, "0"});
            }
        }
    }
}
