#include "memory_server/commands.hpp"

#include <array>

namespace holdfast::memory {

namespace {

value add(command_call& of) {
    bool wrong = false;
    auto* set = find_content<set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    if (set == nullptr) {
        set = &make_content<set_value>(of, of[1]);
    }
    std::int64_t added = 0;
    for (auto const member : of.words.subspan(2)) {
        added += set->emplace(member).second ? 1 : 0;
    }
    return value::integer(added);
}

value remove(command_call& of) {
    bool wrong = false;
    auto* const set = find_content<set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    std::int64_t removed = 0;
    if (set != nullptr) {
        for (auto const member : of.words.subspan(2)) {
            if (auto const at = set->find(member); at != set->end()) {
                set->erase(at);
                ++removed;
            }
        }
        if (set->empty()) {
            of.data().erase(of[1]);
        }
    }
    return value::integer(removed);
}

value contains(command_call& of) {
    bool wrong = false;
    auto const* const set = find_content<set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    return value::integer(set && set->contains(of[2]) ? 1 : 0);
}

value members(command_call& of) {
    bool wrong = false;
    auto const* const set = find_content<set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    auto reply = value::set();
    if (set != nullptr) {
        for (auto const& member : *set) {
            reply.elements.push_back(value::bulk(member));
        }
    }
    return reply;
}

value size(command_call& of) {
    bool wrong = false;
    auto const* const set = find_content<set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    return value::integer(set ? static_cast<std::int64_t>(set->size()) : 0);
}

constexpr word_range key{1, 1};

constexpr std::array commands{
    command_spec{"sadd", -3, writes | deny_oom, key, add},
    command_spec{"srem", -3, writes, key, remove},
    command_spec{"sismember", 3, 0, key, contains},
    command_spec{"smembers", 2, 0, key, members},
    command_spec{"scard", 2, 0, key, size},
};

}  // namespace

std::span<command_spec const> set_commands() {
    return commands;
}

}  // namespace holdfast::memory
