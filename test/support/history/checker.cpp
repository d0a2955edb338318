#include "support/history/checker.hpp"

#include "support/history/checks.hpp"
#include "support/history/record.hpp"

#include <iterator>
#include <list>
#include <utility>

namespace holdfast::history {

namespace {

// Stable. (What libstdc++'s std::stable_sort uses is deprecated, says Clang.)
void sort_by_time(std::vector<event>& history) {
    std::list<event> all{
        std::make_move_iterator(history.begin()),
        std::make_move_iterator(history.end())
    };
    all.sort([](event const& a, event const& b) { return a.at < b.at; });
    history.assign(std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()));
}

}  // namespace

findings checker::check(std::vector<event>& history) {
    sort_by_time(history);
    findings found;
    auto said = read_record(rules_, history, dead_, found);
    check_grants(rules_, said, newest_granted_, found);
    check_permits(rules_, said, found);
    check_leaders(rules_, said, found);
    check_accesses(said, newest_accepted_, found);
    check_answers(rules_, said, found);
    check_changes(rules_, said, found);
    dead_ = std::move(said.dead);
    return found;
}

}  // namespace holdfast::history
