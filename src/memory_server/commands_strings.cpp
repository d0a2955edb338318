#include "memory_server/commands.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace holdfast::memory {

namespace {

constexpr auto largest = std::numeric_limits<std::int64_t>::max();
constexpr auto smallest = std::numeric_limits<std::int64_t>::min();

// --- SET and its variants

struct set_options {
    bool only_new = false;
    bool only_there = false;
    bool keep_end = false;
    bool get = false;
    std::optional<std::string_view> time;
    bool in_seconds = false;
    bool absolute = false;
};

// EX, PX, EXAT, PXAT: which of them has a word been, and does it exclude others?
bool read_time_option(command_call const& of, std::size_t& i, set_options& options) {
    constexpr std::array<std::pair<std::string_view, std::pair<bool, bool>>, 4> names{{
        {"ex", {true, false}},
        {"px", {false, false}},
        {"exat", {true, true}},
        {"pxat", {false, true}},
    }};
    for (auto const& [name, meaning] : names) {
        if (!same_word(of[i], name)) {
            continue;
        }
        auto const [in_seconds, absolute] = meaning;
        bool const repeated =
            options.time && options.in_seconds == in_seconds && options.absolute == absolute;
        if (options.keep_end || (options.time && !repeated) || i + 1 >= of.size()) {
            return false;
        }
        options.in_seconds = in_seconds;
        options.absolute = absolute;
        options.time = of[++i];
        return true;
    }
    return false;
}

bool read_options(command_call const& of, set_options& options) {
    for (std::size_t i = 3; i < of.size(); ++i) {
        if (same_word(of[i], "nx") && !options.only_there) {
            options.only_new = true;
        } else if (same_word(of[i], "xx") && !options.only_new) {
            options.only_there = true;
        } else if (same_word(of[i], "get")) {
            options.get = true;
        } else if (same_word(of[i], "keepttl") && !options.time) {
            options.keep_end = true;
        } else if (!read_time_option(of, i, options)) {
            return false;
        }
    }
    return true;
}

// The end that the options ask for, or an error.
std::variant<std::int64_t, value> read_end(
    command_call const& of,
    set_options const& options,
    std::string_view command
) {
    if (!options.time) {
        return entry::never;
    }
    auto const number = to_integer(*options.time);
    if (!number) {
        return not_an_integer();
    }
    auto end = *number;
    if (end <= 0 || (options.in_seconds && end > largest / 1000)) {
        return bad_expire_time(command);
    }
    end *= options.in_seconds ? 1000 : 1;
    if (!options.absolute && !add_integers(end, of.now_ms())) {
        return bad_expire_time(command);
    }
    return end;
}

value set_with(
    command_call& of,
    std::string_view content,
    set_options const& options,
    value const& done,
    value const& not_done,
    std::string_view command
) {
    auto const end = read_end(of, options, command);
    if (auto const* const error = std::get_if<value>(&end)) {
        return *error;
    }
    auto* const there = of.data().find(of[1], of.now_ms());
    value before;
    if (options.get && there != nullptr) {
        auto const* const text = std::get_if<std::string>(&there->content);
        if (text == nullptr) {
            return wrong_type();
        }
        before = value::bulk(*text);
    }
    if ((options.only_new && there != nullptr) || (options.only_there && there == nullptr)) {
        return options.get ? before : not_done;
    }
    bool const keeps = options.keep_end && there != nullptr;
    auto const kept = keeps ? there->end : std::get<std::int64_t>(end);
    of.data().put(of[1], {std::string{content}, kept});
    return options.get ? before : done;
}

value set(command_call& of) {
    set_options options;
    if (!read_options(of, options)) {
        return syntax_error();
    }
    return set_with(of, of[2], options, value::status("OK"), value::nil(), "set");
}

value set_new(command_call& of) {
    set_options const options{.only_new = true, .time = {}};
    return set_with(of, of[2], options, value::integer(1), value::integer(0), "setnx");
}

value set_for_seconds(command_call& of) {
    set_options const options{.time = of[2], .in_seconds = true};
    return set_with(of, of[3], options, value::status("OK"), value::nil(), "setex");
}

value set_for_milliseconds(command_call& of) {
    set_options const options{.time = of[2]};
    return set_with(of, of[3], options, value::status("OK"), value::nil(), "psetex");
}

// --- other commands of strings

value get(command_call& of) {
    bool wrong = false;
    auto const* const text = find_content<std::string>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    return text ? value::bulk(*text) : value::nil();
}

value get_and_set(command_call& of) {
    auto before = get(of);
    if (!before.is_error()) {
        of.data().put(of[1], {std::string{of[2]}, entry::never});
    }
    return before;
}

value get_and_delete(command_call& of) {
    auto before = get(of);
    if (!before.is_error()) {
        of.data().erase(of[1]);
    }
    return before;
}

value length(command_call& of) {
    bool wrong = false;
    auto const* const text = find_content<std::string>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    return value::integer(text ? static_cast<std::int64_t>(text->size()) : 0);
}

value append(command_call& of) {
    bool wrong = false;
    auto* text = find_content<std::string>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    if (text == nullptr) {
        text = &make_content<std::string>(of, of[1]);
    }
    *text += of[2];
    return value::integer(static_cast<std::int64_t>(text->size()));
}

value get_many(command_call& of) {
    auto reply = value::array();
    for (auto const key : of.words.subspan(1)) {
        bool wrong = false;
        auto const* const text = find_content<std::string>(of, key, wrong);
        reply.elements.push_back(text ? value::bulk(*text) : value::nil());
    }
    return reply;
}

value set_many(command_call& of) {
    if (of.size() % 2 == 0) {
        return wrong_arity("mset");
    }
    for (std::size_t i = 1; i < of.size(); i += 2) {
        of.data().put(of[i], {std::string{of[i + 1]}, entry::never});
    }
    return value::status("OK");
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

value decrement(command_call& of) {
    return add_to_key(of, -1);
}

value increment_by(command_call& of) {
    auto const addend = to_integer(of[2]);
    return addend ? add_to_key(of, *addend) : not_an_integer();
}

value decrement_by(command_call& of) {
    auto const addend = to_integer(of[2]);
    if (!addend) {
        return not_an_integer();
    }
    if (*addend == smallest) {
        return general_error("decrement would overflow");
    }
    return add_to_key(of, -*addend);
}

constexpr unsigned grows = writes | deny_oom;
constexpr word_range first_key{1, 1};
constexpr word_range all_keys{1, -1};

constexpr std::array commands{
    command_spec{"set", -3, grows, first_key, set},
    command_spec{"setnx", 3, grows, first_key, set_new},
    command_spec{"setex", 4, grows, first_key, set_for_seconds},
    command_spec{"psetex", 4, grows, first_key, set_for_milliseconds},
    command_spec{"get", 2, 0, first_key, get},
    command_spec{"getset", 3, grows, first_key, get_and_set},
    command_spec{"getdel", 2, writes, first_key, get_and_delete},
    command_spec{"strlen", 2, 0, first_key, length},
    command_spec{"append", 3, grows, first_key, append},
    command_spec{"mget", -2, 0, all_keys, get_many},
    command_spec{"mset", -3, grows, {1, -1, 2}, set_many},
    command_spec{"incr", 2, grows, first_key, increment},
    command_spec{"decr", 2, grows, first_key, decrement},
    command_spec{"incrby", 3, grows, first_key, increment_by},
    command_spec{"decrby", 3, grows, first_key, decrement_by},
};

}  // namespace

std::span<command_spec const> string_commands() {
    return commands;
}

}  // namespace holdfast::memory
