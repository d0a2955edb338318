// What all types of keys have in common.

#include "memory_server/commands.hpp"

#include <array>

namespace holdfast::memory {

namespace {

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

// --- ends of keys

value expire_with(command_call& of, bool absolute) {
    auto const number = to_integer(of[2]);
    if (!number) {
        return not_an_integer();
    }
    auto end = *number;
    if (!absolute && !add_integers(end, of.now_ms())) {
        return general_error("invalid expire time in 'pexpire' command");
    }
    auto* const found = of.data().find(of[1], of.now_ms());
    if (found == nullptr) {
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
    return expire_with(of, false);
}
value expire_at(command_call& of) {
    return expire_with(of, true);
}

value time_to_live(command_call& of) {
    auto const* const found = of.data().find(of[1], of.now_ms());
    if (found == nullptr) {
        return value::integer(-2);
    }
    return value::integer(found->end == entry::never ? -1 : found->end - of.now_ms());
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
    command_spec{"exists", -2, 0, all_keys, exists},
    command_spec{"pexpire", 3, writes, first_key, expire},
    command_spec{"pexpireat", 3, writes, first_key, expire_at},
    command_spec{"pttl", 2, 0, first_key, time_to_live},
    command_spec{"persist", 2, writes, first_key, persist},
};

}  // namespace

std::span<command_spec const> key_commands() {
    return commands;
}

}  // namespace holdfast::memory
