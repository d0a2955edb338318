#include "fidelity/random_calls.hpp"

#include "redis/scripts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <utility>

namespace holdfast::test {

using namespace std::string_view_literals;

namespace scripts = detail::scripts;

std::span<detail::script const* const> library_scripts() {
#define HOLDFAST_SCRIPT(name, sha1, text) &scripts::name,
    static std::array const all{
#include "redis/scripts.inc"
    };
#undef HOLDFAST_SCRIPT
    return all;
}

namespace {

// Names of locks, the first ones as hostile as a key can be.
constexpr std::string_view strange_names[] = {
    ""sv,
    "\0"sv,
    "\r\n"sv,
    "a b"sv,
    "{"sv,
    "}{"sv,
    "stock:{7}"sv,
    "\xff\xfe\x80"sv,
    "*"sv,
    "redisson_lock_token:{x}"sv,
    "nineteen hundred and eighty-four, a name that is longer than what fits a small string"sv,
};

constexpr std::string_view client = "2b5c1f9e-0d53-4c53-8a3e-1f0b6f4d9a01"sv;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> upper_case) {
    return std::ranges::any_of(upper_case, [&](std::string_view one) {
        return std::ranges::equal(word, one, {}, [](char letter) {
            return static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
        });
    });
}

// $k key, $f field or member, $v content, $n integer, $t ms, $s seconds, $e an instant in ms,
// $d score, $r bound of a range of scores, $i index, $c small count
constexpr std::string_view forms[] = {
    "SET $k $v",
    "SET $k $v PX $t",
    "SET $k $v EX $s",
    "SET $k $v NX",
    "SET $k $v XX",
    "SET $k $v NX PX $t",
    "SET $k $v XX KEEPTTL",
    "SET $k $v GET",
    "SET $k $v XX GET PX $t",
    "SET $k $v KEEPTTL",
    "SET $k $v PXAT $e",
    "SET $k $v KEEPTTL PX $t",
    "SET $k $v NX XX",
    "SET $k $v PX",
    "SET $k $v PX $t PX $t",
    "SET $k $v EX $s PX $t",
    "SETNX $k $v",
    "SETEX $k $s $v",
    "PSETEX $k $t $v",
    "GET $k",
    "GETSET $k $v",
    "GETDEL $k",
    "STRLEN $k",
    "APPEND $k $v",
    "MGET $k $k $k",
    "MSET $k $v $k $v",
    "INCR $k",
    "DECR $k",
    "INCRBY $k $n",
    "DECRBY $k $n",
    "DEL $k",
    "DEL $k $k",
    "UNLINK $k",
    "EXISTS $k $k",
    "TYPE $k",
    "RENAME $k $k",
    "EXPIRE $k $s",
    "PEXPIRE $k $t",
    "PEXPIRE $k $t NX",
    "PEXPIRE $k $t XX",
    "PEXPIRE $k $t GT",
    "PEXPIRE $k $t LT",
    "PEXPIRE $k $t XX LT",
    "PEXPIRE $k $t NX GT",
    "PEXPIRE $k $t GT LT",
    "PEXPIRE $k $t $v",
    "EXPIREAT $k $n",
    "PEXPIREAT $k $e",
    "PTTL $k",
    "TTL $k",
    "PEXPIRETIME $k",
    "EXPIRETIME $k",
    "PERSIST $k",
    "HSET $k $f $v",
    "HSET $k $f $v $f $v",
    "HMSET $k $f $v",
    "HSETNX $k $f $v",
    "HGET $k $f",
    "HMGET $k $f $f",
    "HDEL $k $f",
    "HDEL $k $f $f $f",
    "HEXISTS $k $f",
    "HLEN $k",
    "HSTRLEN $k $f",
    "HKEYS $k",
    "HVALS $k",
    "HGETALL $k",
    "HINCRBY $k $f $n",
    "LPUSH $k $v $v",
    "RPUSH $k $v $f",
    "LPUSHX $k $v",
    "RPUSHX $k $v",
    "LPOP $k",
    "RPOP $k",
    "LPOP $k $i",
    "RPOP $k $i",
    "LLEN $k",
    "LINDEX $k $i",
    "LSET $k $i $v",
    "LRANGE $k $i $i",
    "LTRIM $k $i $i",
    "LREM $k $i $v",
    "SADD $k $f $v",
    "SREM $k $f $v",
    "SISMEMBER $k $f",
    "SMEMBERS $k",
    "SCARD $k",
    "ZADD $k $d $f",
    "ZADD $k $d $f $d $f",
    "ZADD $k NX $d $f",
    "ZADD $k XX CH $d $f",
    "ZADD $k GT CH $d $f",
    "ZADD $k LT CH $d $f",
    "ZADD $k XX INCR $d $f",
    "ZADD $k INCR $d $f",
    "ZADD $k NX XX $d $f",
    "ZADD $k GT LT $d $f",
    "ZADD $k INCR $d $f $d $f",
    "ZINCRBY $k $d $f",
    "ZREM $k $f $f",
    "ZSCORE $k $f",
    "ZCARD $k",
    "ZRANK $k $f",
    "ZREVRANK $k $f",
    "ZCOUNT $k $r $r",
    "ZRANGE $k $i $i",
    "ZRANGE $k $i $i REV WITHSCORES",
    "ZRANGE $k $r $r BYSCORE",
    "ZRANGE $k $r $r BYSCORE LIMIT $c $i",
    "ZRANGE $k $r $r BYSCORE REV WITHSCORES",
    "ZRANGE $k $i $i LIMIT $c $i",
    "ZRANGE $k $i $i BYSCORE BYSCORE",
    "ZREVRANGE $k $i $i WITHSCORES",
    "ZRANGEBYSCORE $k $r $r",
    "ZRANGEBYSCORE $k $r $r WITHSCORES LIMIT $c $i",
    "ZREVRANGEBYSCORE $k $r $r",
    "ZREMRANGEBYSCORE $k $r $r",
    "ZREMRANGEBYRANK $k $i $i",
    "ZPOPMIN $k",
    "ZPOPMIN $k $i",
    "PUBLISH $f $v",
    "ECHO $v",
    "PING",
    "PING $v",
    "TIME",
};

// What a script does with a command's reply; the command is in ARGV.
constexpr std::string_view programs[] = {
    "return redis.call(unpack(ARGV))",
    "return redis.pcall(unpack(ARGV))",
    "return {redis.pcall(unpack(ARGV))}",
    "local r = redis.pcall(unpack(ARGV))\n"
    "if type(r) == 'table' and r.err then\n"
    "    return {r.err, tostring(r.ignore_error_stats_update), tostring(r.source)}\n"
    "end\n"
    "return type(r)",
    "local ok, r = pcall(redis.call, unpack(ARGV))\nreturn {tostring(ok), r}",
    "redis.setresp(3)\nreturn redis.call(unpack(ARGV))",
    "redis.setresp(3)\nlocal r = redis.pcall(unpack(ARGV))\nredis.setresp(2)\nreturn r",
    "local r = redis.call(unpack(ARGV))\nif type(r) == 'table' then return #r end\nreturn r",
};

}  // namespace

call_maker::call_maker(std::uint64_t seed) : random_{seed} {}

void call_maker::start_batch(std::int64_t now_ms) {
    now_ms_ = now_ms;
    fleeting_.clear();
}

// --- keys

std::size_t call_maker::family() {
    auto of = below(families);
    while (fleeting_.contains(lock(of))) {
        of = (of + 1) % families;
    }
    used_.insert(lock(of));
    return of;
}

std::string call_maker::lock(std::size_t of) const {
    return of < std::size(strange_names) ? std::string{strange_names[of]}
                                         : "lock:" + std::to_string(of);
}

std::string call_maker::counter(std::size_t of) const {
    return "redisson_lock_token:{" + lock(of) + "}";
}

std::string call_maker::channel(std::size_t of) const {
    return "redisson_lock__channel:{" + lock(of) + "}";
}

std::vector<std::string> call_maker::channels() const {
    std::vector<std::string> all;
    for (std::size_t of = 0; of < families; ++of) {
        all.push_back(channel(of));
    }
    return all;
}

void call_maker::use(std::string key) {
    if (std::ranges::find(call_.keys, key) == call_.keys.end()) {
        call_.keys.push_back(std::move(key));
    }
}

std::string call_maker::key(std::string_view form) {
    auto const which = below(10);
    if (which >= 4) {
        for (int attempt = 0; attempt < 4; ++attempt) {
            auto name = std::string{type_of(form)} + ":" + std::to_string(below(6));
            if (!fleeting_.contains(name)) {
                used_.insert(name);
                use(name);
                return name;
            }
        }
    }
    auto const of = family();
    auto name = which < 2 ? lock(of) : counter(of);
    use(name);
    return name;
}

// Most commands of a type get keys of that type, or they would only ever be refused.
std::string_view call_maker::type_of(std::string_view form) {
    constexpr std::string_view types[] = {"string"sv, "hash"sv, "list"sv, "set"sv, "zset"sv};
    for (auto const start : {"SADD"sv, "SREM"sv, "SISM"sv, "SMEM"sv, "SCAR"sv}) {
        if (form.starts_with(start)) {
            return "set";
        }
    }
    switch (form.front()) {
        case 'H': return "hash";
        case 'L': return "list";
        case 'Z': return "zset";
        default: return form.starts_with("RP") ? "list"sv : any(types);
    }
}

// --- words

std::string call_maker::holder() {
    constexpr std::string_view strange[] = {
        ""sv,
        "\0"sv,
        ":"sv,
        ":1"sv,
        "a:"sv,
        "a:b"sv,
        "a:-"sv,
        "a:--1"sv,
        "a:1 "sv,
        "\n:1"sv,
        "foreign"sv,
        "a\0b:1"sv,
        "2b5c1f9e-0d53-4c53-8a3e-1f0b6f4d9a01:1:write"sv,
        "a:1:write"sv,
        "2b5c1f9e-0d53-4c53-8a3e-1f0b6f4d9a01:17:1c8a52d1-77aa-4b0f"sv,
        "2b5c1f9e-0d53-4c53-8a3e-1f0b6f4d9a01:17:"sv,
        "not-hexadecimal-in-these-parts:17:x"sv,
        "mode"sv,
    };
    if (chance(25)) {
        auto const word = any(strange);
        return chance(5) ? std::string{word} + std::string(600, 'x') + ":1" : std::string{word};
    }
    auto id = std::string{client} + ":" + (chance(10) ? "-" : "") + std::to_string(below(4));
    return chance(3) ? id + ":" + std::string{client} : id;
}

// Often the one who got it, or tried to, so that locks are renewed and released.
std::string call_maker::holder_of(std::size_t lock) {
    return chance(60) ? last_holder_[lock] : holder();
}

std::string call_maker::content() {
    constexpr std::string_view contents[] = {
        ""sv,
        "1"sv,
        "0"sv,
        "-7"sv,
        "1.5"sv,
        "text"sv,
        "two words"sv,
        "\0\r\n\xff"sv,
        "9223372036854775807"sv,
        "nx"sv,
        "withscores"sv,
    };
    return chance(2) ? std::string(100, 'c') : std::string{any(contents)};
}

std::string call_maker::counter_content() {
    constexpr std::string_view contents[] = {
        "0"sv,
        "1"sv,
        "-1"sv,
        "-2"sv,
        "41"sv,
        "9007199254740989"sv,
        "9007199254740990"sv,
        "9007199254740991"sv,
        "9007199254740992"sv,
        "9007199254740993"sv,
        "9223372036854775806"sv,
        "9223372036854775807"sv,
        "-9223372036854775808"sv,
        "9223372036854775808"sv,
        "1.5"sv,
        "1e3"sv,
        "007"sv,
        " 7"sv,
        ""sv,
        "many"sv,
        "1732233600000000"sv,
    };
    return std::string{any(contents)};
}

std::string call_maker::integer() {
    constexpr std::string_view numbers[] = {
        "1"sv,
        "-1"sv,
        "0"sv,
        "+1"sv,
        "2"sv,
        "1000000"sv,
        "9223372036854775807"sv,
        "-9223372036854775808"sv,
        "9223372036854775808"sv,
        "1.0"sv,
        "0x10"sv,
        "99999999999999999999999"sv,
        ""sv,
        "one"sv,
    };
    return std::string{any(numbers)};
}

std::string call_maker::milliseconds() {
    constexpr std::string_view strange[] = {
        "0"sv,
        "-1"sv,
        "-30000"sv,
        "9223372036854775807"sv,
        "9223372036854775808"sv,
        "-9223372036854775808"sv,
        "9221639803254775807"sv,
        "9007199254740993"sv,
        "1e6"sv,
        "3600000.5"sv,
        "0x7fffffff"sv,
        " 3600000"sv,
        "3600000 "sv,
        "+3600000"sv,
        "03600000"sv,
        ""sv,
        "soon"sv,
        "nan"sv,
        "\0"sv,
    };
    auto const kind = below(100);
    if (kind < 70) {
        return std::to_string(3'600'000 + below(4) * 1'000'003);
    }
    if (kind < 74) {
        call_.fleeting = true;
        return std::to_string(1 + below(4));
    }
    return std::string{any(strange)};
}

std::string call_maker::seconds() {
    constexpr std::string_view strange[] = {
        "0"sv,
        "-1"sv,
        "9223372036854775"sv,
        "9223372036854776"sv,
        "-9223372036854776"sv,
        "9223372036854775807"sv,
        ""sv,
        "soon"sv,
    };
    return chance(70) ? std::to_string(3'600 + below(3)) : std::string{any(strange)};
}

std::string call_maker::instant() {
    switch (below(8)) {
        case 0: call_.fleeting = true; return std::to_string(now_ms_ + 3);
        case 1: return std::to_string(now_ms_ - 1'000);
        case 2: return std::string{integer()};
        default: return std::to_string(now_ms_ + 7'200'000);
    }
}

std::string call_maker::score() {
    constexpr std::string_view scores[] = {
        "0"sv,    "1"sv,   "-1"sv,     "2"sv,     "1.5"sv,  "1e3"sv, "inf"sv,  "-inf"sv,
        "+inf"sv, "nan"sv, "1e-400"sv, "1e400"sv, "0x10"sv, " 1"sv,  "1 "sv,   ""sv,
        "one"sv,  "(1"sv,  "3"sv,      "10"sv,    "4"sv,    "5"sv,   "0.25"sv, "-0.5"sv,
    };
    return std::string{any(scores)};
}

std::string call_maker::bound() {
    constexpr std::string_view bounds[] = {
        "0"sv,
        "1"sv,
        "(1"sv,
        "2"sv,
        "-inf"sv,
        "+inf"sv,
        "(inf"sv,
        "inf"sv,
        "(0"sv,
        "nan"sv,
        ""sv,
        "("sv,
        "one"sv,
        " 1"sv,
        "1 "sv,
        "10"sv,
    };
    return std::string{any(bounds)};
}

// None is beyond 32 bits: some servers cut off the rest.
std::string call_maker::index() {
    constexpr std::string_view indices[] = {
        "0"sv,
        "1"sv,
        "2"sv,
        "-1"sv,
        "-2"sv,
        "5"sv,
        "-5"sv,
        "100"sv,
        "-100"sv,
        "one"sv,
        "1.5"sv,
        "2147483647"sv,
        ""sv,
    };
    return std::string{any(indices)};
}

std::string call_maker::nonce() {
    constexpr std::string_view nonces[] = {""sv, "\0"sv, "-1"sv, "a nonce"sv, "\r\n$-1\r\n"sv};
    if (chance(10)) {
        return chance(10) ? std::string(5'000, 'n') : std::string{any(nonces)};
    }
    return std::to_string(random_());
}

std::string call_maker::junk() {
    constexpr std::string_view words[] = {
        ""sv,
        "0"sv,
        "\0"sv,
        "NaN"sv,
        "inf"sv,
        "1e400"sv,
        "\r\n"sv,
        "%s%n"sv,
        "*"sv,
        "GET"sv,
        "{}"sv,
    };
    return chance(10) ? std::string(200, 'j') : std::string{any(words)};
}

// --- scripts

void call_maker::start_script(
    detail::script const& which,
    std::initializer_list<std::string> keys
) {
    bool const by_name = chance(80);
    add(by_name ? "EVALSHA" : "EVAL");
    add(std::string{by_name ? which.sha1 : which.text});
    add(std::to_string(keys.size()));
    for (auto const& one : keys) {
        add(one);
    }
}

void call_maker::acquire(detail::script const& which) {
    auto const of = family();
    // Somebody might take a lock for a counter.
    auto const count = chance(2) ? lock(of) : counter(of);
    bool const rehearse = chance(15);
    use(lock(of));
    use(count);
    call_.counters = {count};
    if (rehearse) {
        start_script(which, {lock(of), count, channel(of)});
    } else {
        start_script(which, {lock(of), count});
    }
    add(milliseconds());
    last_holder_[of] = holder_of(of);
    add(last_holder_[of]);
    add(chance(30) ? "0" : chance(60) ? "2592000000" : milliseconds());
    add(rehearse ? "1" : chance(5) ? junk() : "0");
    add(nonce());
}

void call_maker::release(detail::script const& which) {
    auto const of = family();
    use(lock(of));
    start_script(which, {lock(of), channel(of)});
    add(holder_of(of));
    add(nonce());
}

void call_maker::renew(detail::script const& which) {
    auto const of = family();
    use(lock(of));
    start_script(which, {lock(of)});
    add(milliseconds());
    add(holder_of(of));
    add(nonce());
}

void call_maker::inspect(detail::script const& which) {
    auto const of = family();
    use(lock(of));
    start_script(which, {lock(of), counter(of)});
    add(nonce());
}

void call_maker::force_release(detail::script const& which) {
    auto const of = family();
    use(lock(of));
    start_script(which, {lock(of), channel(of)});
    add(nonce());
}

// A script of which nothing is known here gets whatever there is.
void call_maker::unknown_script(detail::script const& which) {
    auto const of = family();
    use(lock(of));
    use(counter(of));
    call_.counters = {counter(of)};
    call_.fleeting = true;
    call_.unordered = true;
    start_script(which, {lock(of), counter(of), channel(of)});
    std::string (call_maker::* const kinds[])() = {
        &call_maker::holder,
        &call_maker::milliseconds,
        &call_maker::nonce,
        &call_maker::integer,
        &call_maker::junk,
    };
    for (auto count = below(8); count > 0; --count) {
        add((this->*kinds[below(std::size(kinds))])());
    }
}

void call_maker::call_script() {
    struct known {
        detail::script const* which;
        std::size_t weight;
        void (call_maker::*make)(detail::script const&);
    };
    static constexpr known all[] = {
        {&scripts::acquire, 50, &call_maker::acquire},
        {&scripts::release, 20, &call_maker::release},
        {&scripts::renew, 15, &call_maker::renew},
        {&scripts::inspect, 10, &call_maker::inspect},
        {&scripts::force_release, 5, &call_maker::force_release},
    };
    constexpr std::size_t total = 100;
    if (library_scripts().size() > std::size(all) && chance(20)) {
        auto const* const which = library_scripts()[below(library_scripts().size())];
        if (std::ranges::find(all, which, &known::which) == std::end(all)) {
            return unknown_script(*which);
        }
    }
    auto drawn = below(total);
    for (auto const& one : all) {
        if (drawn < one.weight) {
            return (this->*one.make)(*one.which);
        }
        drawn -= one.weight;
    }
}

void call_maker::script_cache() {
    auto const& which = *library_scripts()[below(library_scripts().size())];
    switch (below(8)) {
        case 0: call_.words = {"SCRIPT", "FLUSH"}; break;
        case 1:
        case 2: call_.words = {"SCRIPT", "EXISTS", std::string{which.sha1}, "x"}; break;
        case 3: call_.words = {"EVALSHA", "x", "0"}; break;
        default: call_.words = {"SCRIPT", "LOAD", std::string{which.text}}; break;
    }
}

// --- commands

// What may lie under the keys of a lock when a script comes.
void call_maker::scene() {
    auto const of = family();
    use(lock(of));
    use(counter(of));
    auto& words = call_.words;
    switch (below(12)) {
        case 0: words = {"SET", counter(of), counter_content()}; break;
        case 1: words = {"SET", counter(of), counter_content(), "PX", milliseconds()}; break;
        case 2: words = {"DEL", counter(of)}; break;
        case 3: words = {"DEL", lock(of)}; break;
        case 4:
        case 5: words = {"HSET", lock(of), holder(), content()}; break;
        case 6: words = {"HDEL", lock(of), holder()}; break;
        case 7: words = {"PEXPIRE", lock(of), milliseconds()}; break;
        case 8: words = {"PERSIST", lock(of)}; break;
        case 9: words = {"PEXPIRE", counter(of), milliseconds()}; break;
        case 10:
            if (chance(20)) {
                words = {"RPUSH", chance(50) ? lock(of) : counter(of), content()};
                break;
            }
            [[fallthrough]];
        default: words = {"DEL", lock(of), counter(of)}; break;
    }
}

void call_maker::fill(std::string_view form) {
    auto const whole = form;
    while (!form.empty()) {
        auto const space = form.find(' ');
        auto const word = form.substr(0, space);
        form = space == std::string_view::npos ? std::string_view{} : form.substr(space + 1);
        if (!word.starts_with('$')) {
            add(std::string{word});
            continue;
        }
        switch (word[1]) {
            case 'k': add(key(whole)); break;
            case 'f': add(holder()); break;
            case 'v': add(content()); break;
            case 'n': add(integer()); break;
            case 't': add(milliseconds()); break;
            case 's': add(seconds()); break;
            case 'e': add(instant()); break;
            case 'd': add(score()); break;
            case 'r': add(bound()); break;
            case 'i': add(index()); break;
            case 'c': add(std::to_string(below(3))); break;
            default: std::abort();
        }
    }
}

void call_maker::command() {
    fill(any(forms));
}

void call_maker::program() {
    add("EVAL");
    add(std::string{any(programs)});
    add("0");
    fill(any(forms));
}

// --- calls

// Words that are missing, doubled or moved, so that any of them may be taken for a key or a time.
void call_maker::mutate() {
    auto& words = call_.words;
    auto const at = words.begin() + static_cast<std::ptrdiff_t>(below(words.size()));
    switch (below(5)) {
        case 0:
            if (words.size() > 1) {
                words.erase(at);
            }
            break;
        case 1: words.insert(at, std::string{*at}); break;
        case 2: *at = junk(); break;
        case 3: words.push_back(junk()); break;
        default: words.resize(1 + below(words.size())); break;
    }
    call_.fleeting = true;
    call_.wild = true;
    call_.keys.clear();
    constexpr std::size_t longest_key = 200;
    for (auto const& word : words) {
        if (word.size() <= longest_key) {
            use(word);
        }
    }
    call_.counters = call_.keys;
}

random_call call_maker::next() {
    call_ = {};
    used_.clear();
    auto const kind = below(1000);
    if (kind < 550) {
        call_script();
    } else if (kind < 555) {
        script_cache();
    } else if (kind < 800) {
        scene();
    } else if (kind < 950) {
        command();
    } else {
        program();
    }
    // Servers newer than Redis 7.0 take another word there.
    bool const grew = std::ranges::any_of(call_.words, [](auto const& word) {
        return is_one_of(word, {"ZRANK", "ZREVRANK"});
    });
    if (!grew && below(1000) < 8) {
        mutate();
    } else if (chance(5)) {
        std::ranges::transform(call_.words[0], call_.words[0].begin(), [](char letter) {
            return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        });
    }
    for (auto const& word : call_.words) {
        call_.unordered =
            call_.unordered || is_one_of(word, {"HKEYS", "HVALS", "HGETALL", "SMEMBERS"});
    }
    if (call_.fleeting) {
        fleeting_.insert(used_.begin(), used_.end());
    }
    return std::move(call_);
}

}  // namespace holdfast::test
