#include "memory_server/commands.hpp"

#include <array>
#include <iterator>

namespace holdfast::memory {

namespace {

value add(command_call& of) {
    bool only_new = false;
    bool only_there = false;
    std::size_t first = 2;
    for (; first < of.size(); ++first) {
        if (same_word(of[first], "nx")) {
            only_new = true;
        } else if (same_word(of[first], "xx")) {
            only_there = true;
        } else {
            break;
        }
    }
    auto const count = of.size() - first;
    if (count == 0 || count % 2 != 0) {
        return syntax_error();
    }
    if (only_new && only_there) {
        return general_error("XX and NX options at the same time are not compatible");
    }
    std::vector<double> scores;
    for (auto i = first; i < of.size(); i += 2) {
        auto const score = to_double(of[i]);
        if (!score) {
            return general_error("value is not a valid float");
        }
        scores.push_back(*score);
    }
    bool wrong = false;
    auto* set = find_content<sorted_set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    if (set == nullptr) {
        if (only_there) {
            return value::integer(0);
        }
        set = &make_content<sorted_set_value>(of, of[1]);
    }
    std::int64_t made = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        auto const member = of[first + 2 * i + 1];
        bool const there = set->score(member).has_value();
        if (there ? !only_new : !only_there) {
            set->set(member, scores[i]);
            made += there ? 0 : 1;
        }
    }
    return value::integer(made);
}

value remove(command_call& of) {
    bool wrong = false;
    auto* const set = find_content<sorted_set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    std::int64_t removed = 0;
    if (set != nullptr) {
        for (auto const member : of.words.subspan(2)) {
            removed += set->erase(member) ? 1 : 0;
        }
        if (set->size() == 0) {
            of.data().erase(of[1]);
        }
    }
    return value::integer(removed);
}

value score(command_call& of) {
    bool wrong = false;
    auto const* const set = find_content<sorted_set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    auto const found = set ? set->score(of[2]) : std::nullopt;
    return found ? value::real(to_text(*found)) : value::nil();
}

value size(command_call& of) {
    bool wrong = false;
    auto const* const set = find_content<sorted_set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    return value::integer(set ? static_cast<std::int64_t>(set->size()) : 0);
}

value rank(command_call& of) {
    bool wrong = false;
    auto const* const set = find_content<sorted_set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    auto const found = set ? set->score(of[2]) : std::nullopt;
    if (!found) {
        return value::nil();
    }
    auto const& order = set->by_score();
    auto const at = order.find({*found, std::string{of[2]}});
    return value::integer(std::distance(order.begin(), at));
}

constexpr unsigned grows = writes | deny_oom;
constexpr word_range key{1, 1};

constexpr std::array commands{
    command_spec{"zadd", -4, grows, key, add},
    command_spec{"zrem", -3, writes, key, remove},
    command_spec{"zscore", 3, 0, key, score},
    command_spec{"zcard", 2, 0, key, size},
    command_spec{"zrank", 3, 0, key, rank},
};

}  // namespace

std::span<command_spec const> sorted_set_commands() {
    return commands;
}

}  // namespace holdfast::memory
