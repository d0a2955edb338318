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
    std::int64_t last
) {
    std::vector<position const*> members;
    for (auto const& one : set.by_score()) {
        members.push_back(&one);
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

// What `choose` takes of the set; of one that is not there, nothing.
template <class Choose>
value listed_from_set(command_call& of, bool with_scores, Choose choose) {
    bool wrong = false;
    auto const* const set = find_content<sorted_set_value>(of, of[1], wrong);
    if (wrong) {
        return wrong_type();
    }
    if (set == nullptr) {
        return value::array();
    }
    return listed(of, choose(*set), with_scores);
}

value range_by_rank(command_call& of) {
    bool const with_scores = of.size() > 4;
    for (auto const word : of.words.subspan(4)) {
        if (!same_word(word, "withscores")) {
            return syntax_error();
        }
    }
    auto const first = to_integer(of[2]);
    auto const last = to_integer(of[3]);
    if (!first || !last) {
        return not_an_integer();
    }
    return listed_from_set(of, with_scores, [&](sorted_set_value const& set) {
        return members_at(set, *first, *last);
    });
}

value range_by_score(command_call& of) {
    std::int64_t skip = 0;
    std::int64_t limit = -1;
    for (std::size_t i = 4; i < of.size(); i += 3) {
        if (!same_word(of[i], "limit") || i + 2 >= of.size()) {
            return syntax_error();
        }
        auto const skips = to_integer(of[i + 1]);
        auto const limits = to_integer(of[i + 2]);
        if (!skips || !limits) {
            return not_an_integer();
        }
        skip = *skips;
        limit = *limits;
    }
    auto const range = read_range(of[2], of[3]);
    if (!range) {
        return bad_range();
    }
    return listed_from_set(of, false, [&](sorted_set_value const& set) {
        auto members = members_in(set, *range);
        auto const count = static_cast<std::int64_t>(members.size());
        auto const skipped = skip < 0 ? count : std::min(skip, count);
        members.erase(members.begin(), members.begin() + skipped);
        if (limit >= 0 && limit < count - skipped) {
            members.resize(static_cast<std::size_t>(limit));
        }
        return members;
    });
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

constexpr word_range key{1, 1};

constexpr std::array commands{
    command_spec{"zrange", -4, 0, key, range_by_rank},
    command_spec{"zrangebyscore", -4, 0, key, range_by_score},
    command_spec{"zcount", 4, 0, key, count},
};

}  // namespace

std::span<command_spec const> sorted_set_range_commands() {
    return commands;
}

}  // namespace holdfast::memory
