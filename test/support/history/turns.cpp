#include "support/history/turns.hpp"

#include "support/history/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace holdfast::history {

namespace {

// As a worker writes it down.
void write_down(std::vector<event>& to, turn const& of, std::int64_t op, nanos lease, bool undoes) {
    event one{.at = of.asked, .what = happening::invoke, .process = of.process, .op = op};
    one.lock = of.lock;
    one.limit = unlimited;
    one.permits = of.permits;
    to.push_back(one);
    one = {.at = of.granted, .what = happening::granted, .process = of.process, .op = op};
    one.lock = of.lock;
    one.token = of.token;
    one.deadline = of.granted + lease.count();
    to.push_back(one);
    one.at = of.released;
    if (of.number >= 0) {
        one.what = happening::written;
        one.flags = was_accepted | (undoes ? undid_another : 0);
        to.push_back(one);
    }
    one.what = happening::releasing;
    to.push_back(one);
    one.what = happening::released;
    one.word = "ok";
    to.push_back(one);
}

}  // namespace

std::vector<std::string> broken_by(std::vector<turn> turns, rules const& by) {
    if (turns.empty()) {
        return {fmt::format("{}: nobody had a turn", name_of(rule::malformed))};
    }
    std::sort(turns.begin(), turns.end(), [](turn const& a, turn const& b) {
        return a.granted < b.granted;
    });
    std::vector<event> all{{.what = happening::calm}};
    std::map<std::int64_t, std::int64_t> next;  // number, by lock
    for (std::size_t i = 0; i < turns.size(); ++i) {
        bool const undoes = turns[i].number != next[turns[i].lock]++;
        write_down(all, turns[i], static_cast<std::int64_t>(i) + 1, by.lease, undoes);
    }
    std::vector<std::string> sentences;
    for (auto const& v : checker{by}.check(all).violations) {
        sentences.push_back(fmt::format("{}: {}", name_of(v.broken), v.text));
    }
    return sentences;
}

}  // namespace holdfast::history
