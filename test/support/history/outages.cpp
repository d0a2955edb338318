#include "support/history/outages.hpp"

#include <algorithm>

namespace holdfast::history {

void outages::add(instant from, instant to) {
    if (from >= to) {
        return;
    }
    span joined{from, to};
    std::vector<span> rest;
    for (auto const& s : spans_) {
        if (s.to < joined.from || s.from > joined.to) {
            rest.push_back(s);
        } else {
            joined = {std::min(joined.from, s.from), std::max(joined.to, s.to)};
        }
    }
    auto const after =
        std::find_if(rest.begin(), rest.end(), [&](span const& s) { return s.from > joined.from; });
    rest.insert(after, joined);
    spans_ = std::move(rest);
}

instant outages::free_time(instant from, instant to) const {
    auto left = std::max<instant>(to - from, 0);
    for (auto const& s : spans_) {
        left -= std::max<instant>(std::min(s.to, to) - std::max(s.from, from), 0);
    }
    return left;
}

}  // namespace holdfast::history
