#include "memory_server/commands.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace holdfast::memory {

namespace {

// --- ZADD and ZINCRBY

struct add_options {
    bool only_new = false;
    bool only_there = false;
    bool only_greater = false;
    bool only_less = false;
    bool count_changes = false;
    bool increment = false;
};

std::size_t read_add_options(command_call const& of, add_options& options) {
    std::array<std::pair<std::string_view, bool*>, 6> const names{{
        {"nx", &options.only_new},
        {"xx", &options.only_there},
        {"gt", &options.only_greater},
        {"lt", &options.only_less},
        {"ch", &options.count_changes},
        {"incr", &options.increment},
    }};
    std::size_t i = 2;
    for (; i < of.size(); ++i) {
        auto const at = std::ranges::find_if(names, [&](auto const& one) {
            return same_word(of[i], one.first);
        });
        if (at == names.end()) {
            break;
        }
        *at->second = true;
    }
    return i;
}

std::optional<value> bad_combination(add_options const& options, std::size_t pairs) {
    if (options.only_new && options.only_there) {
        return general_error("XX and NX options at the same time are not compatible");
    }
    bool const compares = options.only_greater || options.only_less;
    if ((compares && options.only_new) || (options.only_greater && options.only_less)) {
        return general_error("GT, LT, and/or NX options at the same time are not compatible");
    }
    if (options.increment && pairs > 1) {
        return general_error("INCR option supports a single increment-element pair");
    }
    return std::nullopt;
}

enum class added { nothing, made, changed, same, not_a_number };

added add_one(
    sorted_set_value& set,
    add_options const& options,
    std::string_view member,
    double& score
) {
    auto const before = set.score(member);
    if (!before) {
        if (options.only_there) {
            return added::nothing;
        }
        set.set(member, score);
        return added::made;
    }
    if (options.only_new) {
        return added::nothing;
    }
    if (options.increment) {
        score += *before;
        if (std::isnan(score)) {
            return added::not_a_number;
        }
    }
    if ((options.only_less && score >= *before) || (options.only_greater && score <= *before)) {
        return added::nothing;
    }
    if (score == *before) {
        return added::same;
    }
    set.set(member, score);
    return added::changed;
}

value add_pairs(command_call& of, add_options const& options, std::size_t first) {
    auto const count = of.size() - first;
    if (count == 0 || count % 2 != 0) {
        return syntax_error();
    }
    if (auto error = bad_combination(options, count / 2)) {
        return std::move(*error);
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
        if (options.only_there) {
            return options.increment ? value::nil() : value::integer(0);
        }
        set = &make_content<sorted_set_value>(of, of[1]);
    }
    std::int64_t made = 0;
    std::int64_t changed = 0;
    auto last = added::nothing;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        last = add_one(*set, options, of[first + 2 * i + 1], scores[i]);
        if (last == added::not_a_number) {
            return general_error("resulting score is not a number (NaN)");
        }
        made += last == added::made ? 1 : 0;
        changed += last == added::changed ? 1 : 0;
    }
    if (options.increment) {
        return last == added::nothing ? value::nil() : value::real(to_text(scores.back()));
    }
    return value::integer(options.count_changes ? made + changed : made);
}

value add(command_call& of) {
    add_options options;
    auto const first = read_add_options(of, options);
    return add_pairs(of, options, first);
}

value increment(command_call& of) {
    // Options are options here too, as the server has it: they leave no pair.
    add_options options;
    auto const first = read_add_options(of, options);
    options.increment = true;
    return add_pairs(of, options, first);
}

// --- single members

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

value rank_from(command_call& of, bool last) {
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
    auto const before = std::distance(order.begin(), at);
    auto const after = static_cast<std::ptrdiff_t>(order.size()) - 1 - before;
    return value::integer(last ? after : before);
}

value rank(command_call& of) {
    return rank_from(of, false);
}
value reverse_rank(command_call& of) {
    return rank_from(of, true);
}

constexpr unsigned grows = writes | deny_oom;
constexpr word_range key{1, 1};

constexpr std::array commands{
    command_spec{"zadd", -4, grows, key, add},
    command_spec{"zincrby", 4, grows, key, increment},
    command_spec{"zrem", -3, writes, key, remove},
    command_spec{"zscore", 3, 0, key, score},
    command_spec{"zcard", 2, 0, key, size},
    command_spec{"zrank", 3, 0, key, rank},
    command_spec{"zrevrank", 3, 0, key, reverse_rank},
};

}  // namespace

std::span<command_spec const> sorted_set_commands() {
    return commands;
}

}  // namespace holdfast::memory
