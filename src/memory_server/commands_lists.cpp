#include "memory_server/commands.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace holdfast::memory {

namespace {

/// First and one past the last element of a range that may count from the end; empty: equal.
struct slice {
    std::size_t first = 0;
    std::size_t end = 0;
};

slice slice_of(std::size_t size, std::int64_t first, std::int64_t last) {
    auto const count = static_cast<std::int64_t>(size);
    first = std::max<std::int64_t>(first < 0 ? first + count : first, 0);
    last = std::min<std::int64_t>(last < 0 ? last + count : last, count - 1);
    if (first > last || first >= count) {
        return {};
    }
    return {static_cast<std::size_t>(first), static_cast<std::size_t>(last) + 1};
}

using steps = list_value::difference_type;

value push_to(command_call& of, bool front, bool only_there) {
    bool wrong = false;
    auto* list = find_content<list_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    if (list == nullptr) {
        if (only_there) {
            return value::integer(0);
        }
        list = &make_content<list_value>(of, of[1]);
    }
    for (auto const word : of.words.subspan(2)) {
        list->insert(front ? list->begin() : list->end(), std::string{word});
    }
    return value::integer(static_cast<std::int64_t>(list->size()));
}

value push_front(command_call& of) {
    return push_to(of, true, false);
}
value push_back(command_call& of) {
    return push_to(of, false, false);
}
value push_front_if_there(command_call& of) {
    return push_to(of, true, true);
}
value push_back_if_there(command_call& of) {
    return push_to(of, false, true);
}

std::string take(list_value& list, bool front) {
    auto const at = front ? list.begin() : list.end() - 1;
    auto element = std::move(*at);
    list.erase(at);
    return element;
}

value pop_from(command_call& of, bool front) {
    if (of.size() > 3) {
        return wrong_arity(front ? "lpop" : "rpop");
    }
    std::int64_t count = 1;
    if (of.size() == 3) {
        auto const number = to_integer(of[2]);
        if (!number || *number < 0) {
            return general_error("value is out of range, must be positive");
        }
        count = *number;
    }
    bool wrong = false;
    auto* const list = find_content<list_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    if (list == nullptr) {
        return value::nil();
    }
    auto reply = value::array();
    for (; count > 0 && !list->empty(); --count) {
        reply.elements.push_back(value::bulk(take(*list, front)));
    }
    if (list->empty()) {
        of.data().erase(of[1]);
    }
    return of.size() == 3 ? reply : reply.elements.front();
}

value pop_front(command_call& of) {
    return pop_from(of, true);
}
value pop_back(command_call& of) {
    return pop_from(of, false);
}

value length(command_call& of) {
    bool wrong = false;
    auto const* const list = find_content<list_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    return value::integer(list ? static_cast<std::int64_t>(list->size()) : 0);
}

// A negative index counts from the end.
std::optional<std::size_t> place_of(list_value const& list, std::int64_t index) {
    auto const count = static_cast<std::int64_t>(list.size());
    auto const at = index < 0 ? index + count : index;
    return at < 0 || at >= count ? std::nullopt : std::optional{static_cast<std::size_t>(at)};
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
    auto const at = place_of(*list, *index);
    if (!at) {
        return value::nil();
    }
    return value::bulk((*list)[*at]);
}

value set_at_index(command_call& of) {
    bool wrong = false;
    auto* const list = find_content<list_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    if (list == nullptr) {
        return general_error("no such key");
    }
    auto const index = to_integer(of[2]);
    if (!index) {
        return not_an_integer();
    }
    auto const at = place_of(*list, *index);
    if (!at) {
        return general_error("index out of range");
    }
    (*list)[*at] = of[3];
    return value::status("OK");
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
        auto const part = slice_of(list->size(), *first, *last);
        for (auto i = part.first; i < part.end; ++i) {
            reply.elements.push_back(value::bulk((*list)[i]));
        }
    }
    return reply;
}

value trim(command_call& of) {
    auto const first = to_integer(of[2]);
    auto const last = to_integer(of[3]);
    if (!first || !last) {
        return not_an_integer();
    }
    bool wrong = false;
    auto* const list = find_content<list_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    if (list != nullptr) {
        auto const part = slice_of(list->size(), *first, *last);
        list->erase(list->begin() + static_cast<steps>(part.end), list->end());
        list->erase(list->begin(), list->begin() + static_cast<steps>(part.first));
        if (list->empty()) {
            of.data().erase(of[1]);
        }
    }
    return value::status("OK");
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
    command_spec{"lpush", -3, grows, key, push_front},
    command_spec{"rpush", -3, grows, key, push_back},
    command_spec{"lpushx", -3, grows, key, push_front_if_there},
    command_spec{"rpushx", -3, grows, key, push_back_if_there},
    command_spec{"lpop", -2, writes, key, pop_front},
    command_spec{"rpop", -2, writes, key, pop_back},
    command_spec{"llen", 2, 0, key, length},
    command_spec{"lindex", 3, 0, key, at_index},
    command_spec{"lset", 4, grows, key, set_at_index},
    command_spec{"lrange", 4, 0, key, range},
    command_spec{"ltrim", 4, writes, key, trim},
    command_spec{"lrem", 4, writes, key, remove},
};

}  // namespace

std::span<command_spec const> list_commands() {
    return commands;
}

}  // namespace holdfast::memory
