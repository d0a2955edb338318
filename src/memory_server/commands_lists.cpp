#include "memory_server/commands.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace holdfast::memory {

namespace {

value push_back(command_call& of) {
    bool wrong = false;
    auto* list = find_content<list_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    if (list == nullptr) {
        list = &make_content<list_value>(of, of[1]);
    }
    for (auto const word : of.words.subspan(2)) {
        list->emplace_back(word);
    }
    return value::integer(static_cast<std::int64_t>(list->size()));
}

value length(command_call& of) {
    bool wrong = false;
    auto const* const list = find_content<list_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    return value::integer(list ? static_cast<std::int64_t>(list->size()) : 0);
}

value at_index(command_call& of) {
    bool wrong = false;
    auto const* const list = find_content<list_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    if (list == nullptr) {
        return value::nil();
    }
    auto const index = to_integer(of[2]);
    if (!index) {
        return not_an_integer();
    }
    // A negative index counts from the end.
    auto const count = static_cast<std::int64_t>(list->size());
    auto const at = *index < 0 ? *index + count : *index;
    if (at < 0 || at >= count) {
        return value::nil();
    }
    return value::bulk((*list)[static_cast<std::size_t>(at)]);
}

value range(command_call& of) {
    auto const first = to_integer(of[2]);
    auto const last = to_integer(of[3]);
    if (!first || !last) {
        return not_an_integer();
    }
    bool wrong = false;
    auto const* const list = find_content<list_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    auto reply = value::array();
    if (list != nullptr) {
        auto const count = static_cast<std::int64_t>(list->size());
        auto const end = std::min(*last < 0 ? *last + count : *last, count - 1);
        auto i = std::max<std::int64_t>(*first < 0 ? *first + count : *first, 0);
        for (; i <= end; ++i) {
            reply.elements.push_back(value::bulk((*list)[static_cast<std::size_t>(i)]));
        }
    }
    return reply;
}

// A positive count removes from the front, a negative one from the back, 0 all.
value remove(command_call& of) {
    auto const wanted = to_integer(of[2]);
    if (!wanted) {
        return not_an_integer();
    }
    bool wrong = false;
    auto* const list = find_content<list_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    if (list == nullptr) {
        return value::integer(0);
    }
    auto left = *wanted < 0 ? -static_cast<double>(*wanted) : static_cast<double>(*wanted);
    bool const all = *wanted == 0;
    std::int64_t removed = 0;
    auto const goes = [&](std::string const& element) {
        if (element != of[3] || (!all && left < 1)) {
            return false;
        }
        --left;
        ++removed;
        return true;
    };
    if (*wanted < 0) {
        auto const kept = std::remove_if(list->rbegin(), list->rend(), goes);
        list->erase(list->begin(), kept.base());
    } else {
        list->erase(std::remove_if(list->begin(), list->end(), goes), list->end());
    }
    if (list->empty()) {
        of.data().erase(of[1]);
    }
    return value::integer(removed);
}

constexpr unsigned grows = writes | deny_oom;
constexpr word_range key{1, 1};

constexpr std::array commands{
    command_spec{"rpush", -3, grows, key, push_back},
    command_spec{"llen", 2, 0, key, length},
    command_spec{"lindex", 3, 0, key, at_index},
    command_spec{"lrange", 4, 0, key, range},
    command_spec{"lrem", 4, writes, key, remove},
};

}  // namespace

std::span<command_spec const> list_commands() {
    return commands;
}

}  // namespace holdfast::memory
