#include "commands.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>

namespace holdfast::sim {

namespace {

using position = sorted_set_value::position;

// --- ZADD and ZINCRBY

struct add_options {
    bool only_new = false;
    bool only_there = false;
    bool only_greater = false;
    bool only_less = false;
    bool count_changes = false;
    bool increment = false;
};

std::size_t read_add_options(call const& of, add_options& options) {
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

value add_pairs(call& of, add_options const& options, std::size_t first) {
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

value add(call& of) {
    add_options options;
    auto const first = read_add_options(of, options);
    return add_pairs(of, options, first);
}

value increment(call& of) {
    // Options are options here too, as the server has it: they leave no pair.
    add_options options;
    auto const first = read_add_options(of, options);
    options.increment = true;
    return add_pairs(of, options, first);
}

// --- single members

value remove(call& of) {
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

value score(call& of) {
    bool wrong = false;
    auto const* const set = find_content<sorted_set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    auto const found = set ? set->score(of[2]) : std::nullopt;
    return found ? value::real(to_text(*found)) : value::nil();
}

value size(call& of) {
    bool wrong = false;
    auto const* const set = find_content<sorted_set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    return value::integer(set ? static_cast<std::int64_t>(set->size()) : 0);
}

value rank_from(call& of, bool last) {
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

value rank(call& of) {
    return rank_from(of, false);
}
value reverse_rank(call& of) {
    return rank_from(of, true);
}

// --- ranges

struct score_range {
    double least = 0;
    double most = 0;
    bool above_least = false;
    bool below_most = false;

    bool contains(double score) const {
        return (above_least ? score > least : score >= least) &&
               (below_most ? score < most : score <= most);
    }
};

// As the server reads it: blanks may come first, and an empty word is 0.
bool read_bound(std::string_view word, double& bound, bool& excluded) {
    std::string const text{c_string(word)};
    excluded = text.starts_with('(');
    char const* const start = text.c_str() + (excluded ? 1 : 0);
    char* stopped = nullptr;
    bound = std::strtod(start, &stopped);
    return *stopped == '\0' && !std::isnan(bound);
}

std::optional<score_range> read_range(std::string_view least, std::string_view most) {
    score_range range;
    if (!read_bound(least, range.least, range.above_least) ||
        !read_bound(most, range.most, range.below_most)) {
        return std::nullopt;
    }
    return range;
}

value bad_range() {
    return general_error("min or max is not a float");
}

std::vector<position const*> members_in(sorted_set_value const& set, score_range const& range) {
    std::vector<position const*> members;
    for (auto const& one : set.by_score()) {
        if (range.contains(one.first)) {
            members.push_back(&one);
        }
    }
    return members;
}

std::vector<position const*> members_at(
    sorted_set_value const& set,
    std::int64_t first,
    std::int64_t last,
    bool reverse
) {
    std::vector<position const*> members;
    for (auto const& one : set.by_score()) {
        members.push_back(&one);
    }
    if (reverse) {
        std::ranges::reverse(members);
    }
    auto const count = static_cast<std::int64_t>(members.size());
    first = std::max<std::int64_t>(first < 0 ? first + count : first, 0);
    last = std::min(last < 0 ? last + count : last, count - 1);
    if (first > last) {
        return {};
    }
    return {members.begin() + first, members.begin() + last + 1};
}

value listed(call const& of, std::vector<position const*> const& members, bool with_scores) {
    auto reply = value::array();
    for (auto const* const one : members) {
        auto member = value::bulk(one->second);
        if (!with_scores) {
            reply.elements.push_back(std::move(member));
        } else if (of.resp == 2) {
            reply.elements.push_back(std::move(member));
            reply.elements.push_back(value::real(to_text(one->first)));
        } else {
            reply.elements.push_back(
                value::array({std::move(member), value::real(to_text(one->first))})
            );
        }
    }
    return reply;
}

struct range_options {
    bool by_score = false;
    bool reverse = false;
    bool with_scores = false;
    std::int64_t skip = 0;
    std::int64_t limit = -1;
};

// `fixed`: the command's name says by what, and in which direction.
std::optional<value> read_range_options(call const& of, range_options& options, bool fixed) {
    for (std::size_t i = 4; i < of.size(); ++i) {
        if (same_word(of[i], "withscores")) {
            options.with_scores = true;
        } else if (same_word(of[i], "limit") && i + 2 < of.size()) {
            auto const skip = to_integer(of[i + 1]);
            auto const limit = to_integer(of[i + 2]);
            if (!skip || !limit) {
                return not_an_integer();
            }
            options.skip = *skip;
            options.limit = *limit;
            i += 2;
        } else if (!fixed && !options.reverse && same_word(of[i], "rev")) {
            options.reverse = true;
        } else if (!fixed && !options.by_score && same_word(of[i], "byscore")) {
            options.by_score = true;
        } else {
            return syntax_error();
        }
    }
    if (options.limit != -1 && !options.by_score) {
        return general_error(
            "syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
        );
    }
    return std::nullopt;
}

value range_by_rank(call& of, range_options const& options) {
    auto const first = to_integer(of[2]);
    auto const last = to_integer(of[3]);
    if (!first || !last) {
        return not_an_integer();
    }
    bool wrong = false;
    auto const* const set = find_content<sorted_set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    if (set == nullptr) {
        return value::array();
    }
    return listed(of, members_at(*set, *first, *last, options.reverse), options.with_scores);
}

value range_by_score(call& of, range_options const& options) {
    auto const range = options.reverse ? read_range(of[3], of[2]) : read_range(of[2], of[3]);
    if (!range) {
        return bad_range();
    }
    bool wrong = false;
    auto const* const set = find_content<sorted_set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    if (set == nullptr) {
        return value::array();
    }
    auto members = members_in(*set, *range);
    if (options.reverse) {
        std::ranges::reverse(members);
    }
    auto const count = static_cast<std::int64_t>(members.size());
    auto const skip = options.skip < 0 ? count : std::min(options.skip, count);
    members.erase(members.begin(), members.begin() + skip);
    if (options.limit >= 0 && options.limit < count - skip) {
        members.resize(static_cast<std::size_t>(options.limit));
    }
    return listed(of, members, options.with_scores);
}

value range_with(call& of, range_options options, bool fixed) {
    if (auto error = read_range_options(of, options, fixed)) {
        return std::move(*error);
    }
    return options.by_score ? range_by_score(of, options) : range_by_rank(of, options);
}

value range(call& of) {
    return range_with(of, {}, false);
}
value reverse_range(call& of) {
    return range_with(of, {.reverse = true}, true);
}
value range_in_scores(call& of) {
    return range_with(of, {.by_score = true}, true);
}
value reverse_range_in_scores(call& of) {
    return range_with(of, {.by_score = true, .reverse = true}, true);
}

value count(call& of) {
    auto const range = read_range(of[2], of[3]);
    if (!range) {
        return bad_range();
    }
    bool wrong = false;
    auto const* const set = find_content<sorted_set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    return value::integer(set ? static_cast<std::int64_t>(members_in(*set, *range).size()) : 0);
}

value remove_members(call& of, sorted_set_value& set, std::vector<position const*> const& members) {
    std::vector<std::string> names;
    for (auto const* const one : members) {
        names.push_back(one->second);
    }
    for (auto const& name : names) {
        set.erase(name);
    }
    if (set.size() == 0) {
        of.data().erase(of[1]);
    }
    return value::integer(static_cast<std::int64_t>(names.size()));
}

value remove_by_score(call& of) {
    auto const range = read_range(of[2], of[3]);
    if (!range) {
        return bad_range();
    }
    bool wrong = false;
    auto* const set = find_content<sorted_set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    return set ? remove_members(of, *set, members_in(*set, *range)) : value::integer(0);
}

value remove_by_rank(call& of) {
    auto const first = to_integer(of[2]);
    auto const last = to_integer(of[3]);
    if (!first || !last) {
        return not_an_integer();
    }
    bool wrong = false;
    auto* const set = find_content<sorted_set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    return set ? remove_members(of, *set, members_at(*set, *first, *last, false))
               : value::integer(0);
}

value pop_least(call& of) {
    std::int64_t wanted = 1;
    if (of.size() > 3) {
        return syntax_error();
    }
    if (of.size() == 3) {
        auto const number = to_integer(of[2]);
        if (!number || *number < 0) {
            return general_error("value is out of range, must be positive");
        }
        wanted = *number;
    }
    bool wrong = false;
    auto* const set = find_content<sorted_set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    if (set == nullptr || wanted == 0) {
        return value::array();
    }
    auto const members = members_at(*set, 0, wanted - 1, false);
    auto reply = listed(of, members, true);
    if (of.resp == 3 && of.size() == 2) {
        reply = std::move(reply.elements.front());  // one pair, not a list of them
    }
    remove_members(of, *set, members);
    return reply;
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
    command_spec{"zrange", -4, 0, key, range},
    command_spec{"zrevrange", -4, 0, key, reverse_range},
    command_spec{"zrangebyscore", -4, 0, key, range_in_scores},
    command_spec{"zrevrangebyscore", -4, 0, key, reverse_range_in_scores},
    command_spec{"zcount", 4, 0, key, count},
    command_spec{"zremrangebyscore", 4, writes, key, remove_by_score},
    command_spec{"zremrangebyrank", 4, writes, key, remove_by_rank},
    command_spec{"zpopmin", -2, writes, key, pop_least},
};

}  // namespace

std::span<command_spec const> sorted_set_commands() {
    return commands;
}

}  // namespace holdfast::sim
