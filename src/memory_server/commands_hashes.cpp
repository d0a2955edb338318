#include "memory_server/commands.hpp"

#include <array>

namespace holdfast::memory {

namespace {

hash_value* find_or_make(command_call& of, bool& wrong) {
    auto* const there = find_content<hash_value>(of, of[1], wrong);
    return there != nullptr || wrong ? there : &make_content<hash_value>(of, of[1]);
}

value set_fields(command_call& of, value (*reply)(std::int64_t made), std::string_view command) {
    if (of.size() % 2 != 0) {
        return wrong_arity(command);
    }
    bool wrong = false;
    auto* const hash = find_or_make(of, wrong);
    if (wrong) {
        return wrong_type();
    }
    std::int64_t made = 0;
    for (std::size_t i = 2; i < of.size(); i += 2) {
        made += hash->set(of[i], of[i + 1]) ? 1 : 0;
    }
    return reply(made);
}

value set(command_call& of) {
    return set_fields(of, [](std::int64_t made) { return value::integer(made); }, "hset");
}

value set_many(command_call& of) {
    return set_fields(of, [](std::int64_t) { return value::status("OK"); }, "hmset");
}

value set_new(command_call& of) {
    bool wrong = false;
    auto* const hash = find_or_make(of, wrong);
    if (wrong) {
        return wrong_type();
    }
    if (hash->find(of[2]) != nullptr) {
        return value::integer(0);
    }
    hash->set(of[2], of[3]);
    return value::integer(1);
}

value get(command_call& of) {
    bool wrong = false;
    auto* const hash = find_content<hash_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    auto const* const content = hash ? hash->find(of[2]) : nullptr;
    return content ? value::bulk(*content) : value::nil();
}

value get_many(command_call& of) {
    bool wrong = false;
    auto* const hash = find_content<hash_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    auto reply = value::array();
    for (auto const name : of.words.subspan(2)) {
        auto const* const content = hash ? hash->find(name) : nullptr;
        reply.elements.push_back(content ? value::bulk(*content) : value::nil());
    }
    return reply;
}

value remove(command_call& of) {
    bool wrong = false;
    auto* const hash = find_content<hash_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    std::int64_t count = 0;
    if (hash != nullptr) {
        for (auto const name : of.words.subspan(2)) {
            count += hash->erase(name) ? 1 : 0;
        }
        if (hash->empty()) {
            of.data().erase(of[1]);
        }
    }
    return value::integer(count);
}

value exists(command_call& of) {
    bool wrong = false;
    auto* const hash = find_content<hash_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    return value::integer(hash && hash->find(of[2]) ? 1 : 0);
}

value length(command_call& of) {
    bool wrong = false;
    auto const* const hash = find_content<hash_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    return value::integer(hash ? static_cast<std::int64_t>(hash->size()) : 0);
}

value content_length(command_call& of) {
    bool wrong = false;
    auto* const hash = find_content<hash_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    auto const* const content = hash ? hash->find(of[2]) : nullptr;
    return value::integer(content ? static_cast<std::int64_t>(content->size()) : 0);
}

value list(command_call& of, bool names, bool contents) {
    bool wrong = false;
    auto const* const hash = find_content<hash_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    auto reply = names && contents ? value::map() : value::array();
    if (hash != nullptr) {
        reply.elements.reserve(hash->size() * (names && contents ? 2 : 1));
        for (auto const& [name, content] : hash->fields()) {
            if (names) {
                reply.elements.push_back(value::bulk(name));
            }
            if (contents) {
                reply.elements.push_back(value::bulk(content));
            }
        }
    }
    return reply;
}

value list_names(command_call& of) {
    return list(of, true, false);
}
value list_contents(command_call& of) {
    return list(of, false, true);
}
value list_all(command_call& of) {
    return list(of, true, true);
}

value increment_by(command_call& of) {
    auto const addend = to_integer(of[3]);
    if (!addend) {
        return not_an_integer();
    }
    bool wrong = false;
    auto* const hash = find_or_make(of, wrong);
    if (wrong) {
        return wrong_type();
    }
    auto const* const content = hash->find(of[2]);
    auto const before = content ? to_integer(*content) : std::optional<std::int64_t>{0};
    if (!before) {
        return general_error("hash value is not an integer");
    }
    auto sum = *before;
    if (!add_integers(sum, *addend)) {
        return general_error("increment or decrement would overflow");
    }
    hash->set(of[2], std::to_string(sum));
    return value::integer(sum);
}

constexpr unsigned grows = writes | deny_oom;
constexpr word_range key{1, 1};

constexpr std::array commands{
    command_spec{"hset", -4, grows, key, set},
    command_spec{"hmset", -4, grows, key, set_many},
    command_spec{"hsetnx", 4, grows, key, set_new},
    command_spec{"hget", 3, 0, key, get},
    command_spec{"hmget", -3, 0, key, get_many},
    command_spec{"hdel", -3, writes, key, remove},
    command_spec{"hexists", 3, 0, key, exists},
    command_spec{"hlen", 2, 0, key, length},
    command_spec{"hstrlen", 3, 0, key, content_length},
    command_spec{"hkeys", 2, 0, key, list_names},
    command_spec{"hvals", 2, 0, key, list_contents},
    command_spec{"hgetall", 2, 0, key, list_all},
    command_spec{"hincrby", 4, grows, key, increment_by},
};

}  // namespace

std::span<command_spec const> hash_commands() {
    return commands;
}

}  // namespace holdfast::memory
