#include "election/term_record.hpp"

#include <stdexcept>

namespace holdfast::test {

namespace {

std::int64_t count_of(lease_clock::time_point at) {
    return at.time_since_epoch().count();
}

}  // namespace

void term_record::begin(std::int64_t process, std::uint64_t number) {
    auto const all = record_.take_turn();
    if (static_cast<std::size_t>(all->count) == all->terms.size()) {
        throw std::length_error{"there were more terms than the record has room for"};
    }
    auto const at = static_cast<std::size_t>(all->count++);
    all->terms[at] = {number, process, count_of(lease_clock::now())};
}

void term_record::act(std::uint64_t number, lease_clock::time_point until) {
    auto const all = record_.take_turn();
    bool const another_may = number != all->number && all->until > count_of(lease_clock::now());
    if (another_may || number < all->number) {
        ++all->intrusions;
    }
    all->number = number;
    all->until = count_of(until);
}

void term_record::end(std::uint64_t number) {
    auto const all = record_.take_turn();
    if (all->number == number) {
        all->until = 0;
    }
}

std::vector<term_record::term> term_record::terms() const {
    auto const all = record_.take_turn();
    return {all->terms.begin(), all->terms.begin() + all->count};
}

std::optional<term_record::term> term_record::last() const {
    auto const all = record_.take_turn();
    if (all->count == 0) {
        return std::nullopt;
    }
    return all->terms[static_cast<std::size_t>(all->count - 1)];
}

std::int64_t term_record::intrusions() const {
    auto const all = record_.take_turn();
    return all->intrusions;
}

}  // namespace holdfast::test
