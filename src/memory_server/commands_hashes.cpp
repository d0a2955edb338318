#include "memory_server/commands.hpp"

#include <array>

namespace holdfast::memory {

namespace {

value set(command_call& of) {
    if (of.size() % 2 != 0) {
        return wrong_arity("hset");
    }
    bool wrong = false;
    auto* const there = find_content<hash_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    auto& hash = there != nullptr ? *there : make_content<hash_value>(of, of[1]);
    std::int64_t made = 0;
    for (std::size_t i = 2; i < of.size(); i += 2) {
        made += hash.set(of[i], of[i + 1]) ? 1 : 0;
    }
    return value::integer(made);
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

value list_names(command_call& of) {
    bool wrong = false;
    auto const* const hash = find_content<hash_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    auto reply = value::array();
    if (hash != nullptr) {
        reply.elements.reserve(hash->size());
        for (auto const& [name, content] : hash->fields()) {
            reply.elements.push_back(value::bulk(name));
        }
    }
    return reply;
}

value list_all(command_call& of) {
    bool wrong = false;
    auto const* const hash = find_content<hash_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    auto reply = value::map();
    if (hash != nullptr) {
        reply.elements.reserve(hash->size() * 2);
        for (auto const& [name, content] : hash->fields()) {
            reply.elements.push_back(value::bulk(name));
            reply.elements.push_back(value::bulk(content));
        }
    }
    return reply;
}

constexpr word_range key{1, 1};

constexpr std::array commands{
    command_spec{"hset", -4, writes | deny_oom, key, set},
    command_spec{"hdel", -3, writes, key, remove},
    command_spec{"hexists", 3, 0, key, exists},
    command_spec{"hkeys", 2, 0, key, list_names},
    command_spec{"hgetall", 2, 0, key, list_all},
};

}  // namespace

std::span<command_spec const> hash_commands() {
    return commands;
}

}  // namespace holdfast::memory
