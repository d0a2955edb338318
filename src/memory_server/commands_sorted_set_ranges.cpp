// Sorted sets by rank and by score.

#include "memory_server/commands.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace holdfast::memory {

namespace {

using position = sorted_set_value::position;

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

value listed(
    command_call const& of,
    std::vector<position const*> const& members,
    bool with_scores
) {
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
std::optional<value> read_range_options(
    command_call const& of,
    range_options& options,
    bool fixed
) {
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

// What `choose` takes of the set; of one that is not there, nothing.
template <class Choose>
value listed_from_set(command_call& of, range_options const& options, Choose choose) {
    bool wrong = false;
    auto const* const set = find_content<sorted_set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    if (set == nullptr) {
        return value::array();
    }
    return listed(of, choose(*set), options.with_scores);
}

value range_by_rank(command_call& of, range_options const& options) {
    auto const first = to_integer(of[2]);
    auto const last = to_integer(of[3]);
    if (!first || !last) {
        return not_an_integer();
    }
    return listed_from_set(of, options, [&](sorted_set_value const& set) {
        return members_at(set, *first, *last, options.reverse);
    });
}

value range_by_score(command_call& of, range_options const& options) {
    auto const range = options.reverse ? read_range(of[3], of[2]) : read_range(of[2], of[3]);
    if (!range) {
        return bad_range();
    }
    return listed_from_set(of, options, [&](sorted_set_value const& set) {
        auto members = members_in(set, *range);
        if (options.reverse) {
            std::ranges::reverse(members);
        }
        auto const count = static_cast<std::int64_t>(members.size());
        auto const skip = options.skip < 0 ? count : std::min(options.skip, count);
        members.erase(members.begin(), members.begin() + skip);
        if (options.limit >= 0 && options.limit < count - skip) {
            members.resize(static_cast<std::size_t>(options.limit));
        }
        return members;
    });
}

value range_with(command_call& of, range_options options, bool fixed) {
    if (auto error = read_range_options(of, options, fixed)) {
        return std::move(*error);
    }
    return options.by_score ? range_by_score(of, options) : range_by_rank(of, options);
}

value range(command_call& of) {
    return range_with(of, {}, false);
}
value reverse_range(command_call& of) {
    return range_with(of, {.reverse = true}, true);
}
value range_in_scores(command_call& of) {
    return range_with(of, {.by_score = true}, true);
}
value reverse_range_in_scores(command_call& of) {
    return range_with(of, {.by_score = true, .reverse = true}, true);
}

value count(command_call& of) {
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

value remove_members(
    command_call& of,
    sorted_set_value& set,
    std::vector<position const*> const& members
) {
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

value remove_by_score(command_call& of) {
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

value remove_by_rank(command_call& of) {
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

value pop_least(command_call& of) {
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

constexpr word_range key{1, 1};

constexpr std::array commands{
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

std::span<command_spec const> sorted_set_range_commands() {
    return commands;
}

}  // namespace holdfast::memory
