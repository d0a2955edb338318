// What all types of keys have in common.

#include "memory_server/commands.hpp"

#include <array>
#include <limits>

namespace holdfast::memory {

namespace {

constexpr auto largest = std::numeric_limits<std::int64_t>::max();
constexpr auto smallest = std::numeric_limits<std::int64_t>::min();

value remove(command_call& of) {
    std::int64_t count = 0;
    for (auto const key : of.words.subspan(1)) {
        if (of.data().find(key, of.now_ms()) != nullptr) {
            of.data().erase(key);
            ++count;
        }
    }
    return value::integer(count);
}

value exists(command_call& of) {
    std::int64_t count = 0;
    for (auto const key : of.words.subspan(1)) {
        count += of.data().find(key, of.now_ms()) != nullptr ? 1 : 0;
    }
    return value::integer(count);
}

value type(command_call& of) {
    auto const* const found = of.data().find(of[1], of.now_ms());
    return value::status(found ? type_name(*found) : "none");
}

value rename(command_call& of) {
    auto* const found = of.data().find(of[1], of.now_ms());
    if (found == nullptr) {
        return general_error("no such key");
    }
    if (of[1] != of[2]) {
        auto moved = std::move(*found);
        of.data().erase(of[1]);
        of.data().put(of[2], std::move(moved));
    }
    return value::status("OK");
}

// --- ends of keys

struct expire_options {
    bool only_without = false;
    bool only_with = false;
    bool only_later = false;
    bool only_earlier = false;
};

std::optional<value> read_expire_options(command_call const& of, expire_options& options) {
    for (std::size_t i = 3; i < of.size(); ++i) {
        if (same_word(of[i], "nx")) {
            options.only_without = true;
        } else if (same_word(of[i], "xx")) {
            options.only_with = true;
        } else if (same_word(of[i], "gt")) {
            options.only_later = true;
        } else if (same_word(of[i], "lt")) {
            options.only_earlier = true;
        } else {
            return general_error("Unsupported option " + std::string{c_string(of[i])});
        }
    }
    if (options.only_without && (options.only_with || options.only_later || options.only_earlier)) {
        return general_error("NX and XX, GT or LT options at the same time are not compatible");
    }
    if (options.only_later && options.only_earlier) {
        return general_error("GT and LT options at the same time are not compatible");
    }
    return std::nullopt;
}

// A key without an end counts as one that ends later than all others.
bool allows(expire_options const& options, std::int64_t now, std::int64_t wanted) {
    bool const ends = now != entry::never;
    return !(options.only_without && ends) && !(options.only_with && !ends) &&
           !(options.only_later && (!ends || wanted <= now)) &&
           !(options.only_earlier && ends && wanted >= now);
}

value expire_as(command_call& of, std::string_view command, bool in_seconds, bool absolute) {
    expire_options options;
    if (auto error = read_expire_options(of, options)) {
        return std::move(*error);
    }
    auto const number = to_integer(of[2]);
    if (!number) {
        return not_an_integer();
    }
    auto end = *number;
    if (in_seconds) {
        if (end > largest / 1000 || end < smallest / 1000) {
            return bad_expire_time(command);
        }
        end *= 1000;
    }
    if (!absolute && !add_integers(end, of.now_ms())) {
        return bad_expire_time(command);
    }
    auto* const found = of.data().find(of[1], of.now_ms());
    if (found == nullptr || !allows(options, found->end, end)) {
        return value::integer(0);
    }
    if (end <= of.now_ms()) {
        of.data().erase(of[1]);
    } else {
        of.data().set_end(*found, end);
    }
    return value::integer(1);
}

value expire(command_call& of) {
    return expire_as(of, "expire", true, false);
}
value expire_at(command_call& of) {
    return expire_as(of, "expireat", true, true);
}
value expire_ms(command_call& of) {
    return expire_as(of, "pexpire", false, false);
}
value expire_ms_at(command_call& of) {
    return expire_as(of, "pexpireat", false, true);
}

value time_to_live(command_call& of, bool in_seconds, bool absolute) {
    auto const* const found = of.data().find(of[1], of.now_ms());
    if (found == nullptr) {
        return value::integer(-2);
    }
    if (found->end == entry::never) {
        return value::integer(-1);
    }
    auto const left = absolute ? found->end : found->end - of.now_ms();
    // As the server's compiler has it, for ends beyond all calendars.
    auto const rounded = (static_cast<std::uint64_t>(left) + 500) / 1000;
    return value::integer(in_seconds ? static_cast<std::int64_t>(rounded) : left);
}

value ttl(command_call& of) {
    return time_to_live(of, true, false);
}
value pttl(command_call& of) {
    return time_to_live(of, false, false);
}
value expire_time(command_call& of) {
    return time_to_live(of, true, true);
}
value expire_time_ms(command_call& of) {
    return time_to_live(of, false, true);
}

value persist(command_call& of) {
    auto* const found = of.data().find(of[1], of.now_ms());
    if (found == nullptr || found->end == entry::never) {
        return value::integer(0);
    }
    found->end = entry::never;
    return value::integer(1);
}

constexpr word_range first_key{1, 1};
constexpr word_range all_keys{1, -1};

constexpr std::array commands{
    command_spec{"del", -2, writes, all_keys, remove},
    command_spec{"unlink", -2, writes, all_keys, remove},
    command_spec{"exists", -2, 0, all_keys, exists},
    command_spec{"type", 2, 0, first_key, type},
    command_spec{"rename", 3, writes, {1, 2}, rename},
    command_spec{"expire", -3, writes, first_key, expire},
    command_spec{"expireat", -3, writes, first_key, expire_at},
    command_spec{"pexpire", -3, writes, first_key, expire_ms},
    command_spec{"pexpireat", -3, writes, first_key, expire_ms_at},
    command_spec{"ttl", 2, 0, first_key, ttl},
    command_spec{"pttl", 2, 0, first_key, pttl},
    command_spec{"expiretime", 2, 0, first_key, expire_time},
    command_spec{"pexpiretime", 2, 0, first_key, expire_time_ms},
    command_spec{"persist", 2, writes, first_key, persist},
};

}  // namespace

std::span<command_spec const> key_commands() {
    return commands;
}

}  // namespace holdfast::memory
