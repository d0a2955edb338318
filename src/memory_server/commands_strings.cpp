#include "memory_server/commands.hpp"

#include <array>
#include <optional>

namespace holdfast::memory {

namespace {

struct set_options {
    bool only_new = false;
    bool only_there = false;
    bool keep_end = false;
    std::optional<std::string_view> milliseconds;
};

bool read_options(command_call const& of, set_options& options) {
    for (std::size_t i = 3; i < of.size(); ++i) {
        if (same_word(of[i], "nx") && !options.only_there) {
            options.only_new = true;
        } else if (same_word(of[i], "xx") && !options.only_new) {
            options.only_there = true;
        } else if (same_word(of[i], "keepttl") && !options.milliseconds) {
            options.keep_end = true;
        } else if (same_word(of[i], "px") && !options.keep_end && i + 1 < of.size()) {
            options.milliseconds = of[++i];
        } else {
            return false;
        }
    }
    return true;
}

value set(command_call& of) {
    set_options options;
    if (!read_options(of, options)) {
        return syntax_error();
    }
    auto end = entry::never;
    if (options.milliseconds) {
        auto const number = to_integer(*options.milliseconds);
        if (!number) {
            return not_an_integer();
        }
        end = *number;
        if (end <= 0 || !add_integers(end, of.now_ms())) {
            return general_error("invalid expire time in 'set' command");
        }
    }
    auto const* const there = of.data().find(of[1], of.now_ms());
    if ((options.only_new && there != nullptr) || (options.only_there && there == nullptr)) {
        return value::nil();
    }
    if (options.keep_end && there != nullptr) {
        end = there->end;
    }
    of.data().put(of[1], {std::string{of[2]}, end});
    return value::status("OK");
}

value get(command_call& of) {
    bool wrong = false;
    auto const* const text = find_content<std::string>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    return text ? value::bulk(*text) : value::nil();
}

value add_to_key(command_call& of, std::int64_t addend) {
    bool wrong = false;
    auto* const text = find_content<std::string>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    auto const before = text ? to_integer(*text) : std::optional<std::int64_t>{0};
    if (!before) {
        return not_an_integer();
    }
    auto sum = *before;
    if (!add_integers(sum, addend)) {
        return general_error("increment or decrement would overflow");
    }
    auto& place = text ? *text : make_content<std::string>(of, of[1]);
    place = std::to_string(sum);
    return value::integer(sum);
}

value increment(command_call& of) {
    return add_to_key(of, 1);
}

value increment_by(command_call& of) {
    auto const addend = to_integer(of[2]);
    return addend ? add_to_key(of, *addend) : not_an_integer();
}

constexpr unsigned grows = writes | deny_oom;
constexpr word_range first_key{1, 1};

constexpr std::array commands{
    command_spec{"set", -3, grows, first_key, set},
    command_spec{"get", 2, 0, first_key, get},
    command_spec{"incr", 2, grows, first_key, increment},
    command_spec{"incrby", 3, grows, first_key, increment_by},
};

}  // namespace

std::span<command_spec const> string_commands() {
    return commands;
}

}  // namespace holdfast::memory
