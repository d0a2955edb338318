// Words of random calls: the usual ones, and what nobody expects.

#include "fidelity/random_calls.hpp"

#include <string>
#include <string_view>

namespace holdfast::test {

using namespace std::string_view_literals;

namespace {

constexpr std::string_view client = "2b5c1f9e-0d53-4c53-8a3e-1f0b6f4d9a01"sv;

}  // namespace

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
    // None may be what is left of a lock: only then it matters whether a server takes it.
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
        "3500000.5"sv,
        "0x7fffffff"sv,
        " 3500000"sv,
        "3500000 "sv,
        "+3500000"sv,
        "03500000"sv,
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
        "{}"sv,
    };
    if (chance(10)) {
        return std::string(200, 'j');
    }
    // Some are names of locks.
    auto word = any(words);
    while (fleeting_.contains(word)) {
        word = any(words);
    }
    return std::string{word};
}

}  // namespace holdfast::test
