// A lock's names: which are allowed, that no two share a lock key, that the keys of one lock go to
// one slot of a cluster, and that what is logged of them is printable.

#include "core/holder_id.hpp"
#include "core/lease_terms.hpp"
#include "fuzz/input.hpp"
#include "fuzz/targets.hpp"
#include "protocol/lock.hpp"
#include "protocol/target.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::fuzz {

namespace {

using detail::escaped;
using detail::make_lock_target;
using detail::target;

constexpr std::string_view ellipsis = "…";

bool is_printable(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// What `escaped` was given, from what it made of it.
std::string unescaped(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        if (text.front() != '\\') {
            result += text.front();
            text.remove_prefix(1);
            continue;
        }
        check(text.size() >= 4 && text[1] == 'x', "an escape is \\x and two digits");
        result += static_cast<char>(std::stoi(std::string{text.substr(2, 2)}, nullptr, 16));
        text.remove_prefix(4);
    }
    return result;
}

void check_escaped(std::string_view name, std::size_t longest) {
    auto const shown = escaped(name, longest);
    std::string_view body = shown;
    if (name.size() > longest) {
        check(body.ends_with(ellipsis), "a cut is shown");
        body.remove_suffix(ellipsis.size());
    }
    check(is_printable(body), "what is logged is printable");
    check(body.size() <= 4 * longest, "what is logged is not too long");
    check(unescaped(body) == name.substr(0, longest), "no two names look the same");
}

// What a cluster hashes of a key (Redis cluster specification, "Hash tags").
std::string_view hashed_part(std::string_view key) {
    auto const open = key.find('{');
    if (open == std::string_view::npos) {
        return key;
    }
    auto const close = key.find('}', open + 1);
    if (close == std::string_view::npos || close == open + 1) {
        return key;
    }
    return key.substr(open + 1, close - open - 1);
}

// Redisson's way of making a tag breaks for names with stray braces; these go to any slot.
bool has_sound_tag(std::string_view name) {
    return name.find_first_of("{}") == std::string_view::npos || hashed_part(name) != name;
}

void check_keys(std::string_view prefix, std::string_view name) {
    auto const keys = make_lock_target(prefix, name);
    auto const whole = std::string{prefix} + std::string{name};
    bool const allowed = !name.empty() && whole.size() <= detail::max_name_length;
    check(keys.valid() == allowed, "a name has from 1 to 512 bytes with its prefix");
    if (!allowed) {
        check(keys.counter().empty() && keys.channel().empty(), "an invalid name has no keys");
        return;
    }
    check(keys.lock == whole, "the lock key is the name, so that no two share one");
    check(
        keys.counter() != keys.lock && keys.channel() != keys.lock &&
            keys.counter() != keys.channel(),
        "the keys of a lock differ"
    );
    // Redisson's `prefixName` and `suffixName`.
    auto const tagged = whole.find('{') == std::string::npos ? '{' + whole + '}' : whole;
    check(
        keys.counter() == "redisson_lock_token:" + tagged &&
            keys.channel() == "redisson_lock__channel:" + tagged,
        "counter and channel are called as Redisson calls them"
    );
    if (has_sound_tag(whole)) {
        auto const slot = hashed_part(keys.lock);
        check(
            hashed_part(keys.counter()) == slot && hashed_part(keys.channel()) == slot,
            "the keys of a lock go to one slot"
        );
    }
}

void check_pair(std::string_view prefix, std::string_view one, std::string_view other) {
    auto const a = make_lock_target(prefix, one);
    auto const b = make_lock_target(prefix, other);
    if (a.valid() && b.valid()) {
        check((a.lock == b.lock) == (one == other), "no two names share a lock key");
    }
}

void check_holder(std::string_view client, std::uint64_t random) {
    detail::holder_id const id{client, random};
    auto const text = std::string{client.substr(0, detail::holder_id::client_id_length)} + ':' +
                      std::to_string(random / 2);
    check(id.view() == text, "a holder id is the client's and a positive number");
}

}  // namespace

void names(bytes data) {
    input in{data};
    // The longest names are not to depend on inputs of that length.
    std::string const padding(in.number<std::uint8_t>() * std::size_t{3}, 'p');
    auto const longest = in.number<std::uint8_t>();
    auto const random = in.number<std::uint64_t>();
    auto const split = in.number<std::uint8_t>();
    auto const other = in.text(64);
    auto const text = padding + std::string{in.rest()};
    auto const at = std::min<std::size_t>(split, text.size());
    auto const prefix = std::string_view{text}.substr(0, at);
    auto const name = std::string_view{text}.substr(at);

    check_keys(prefix, name);
    check_keys({}, text);
    check_pair(prefix, name, other);
    check_pair(prefix, name, std::string{name} + other);
    check_pair(prefix, name, other + std::string{name});
    check_escaped(text, longest);
    check_escaped(name, 64);
    check_holder(text, random);
    check_holder(other, random);
}

}  // namespace holdfast::fuzz
