#include "permits/pool_record.hpp"

#include <algorithm>

namespace holdfast::test {

void pool_record::enter(std::size_t holder, std::int64_t permits, lease_clock::time_point until) {
    auto const all = record_.take_turn();
    all->holders.at(holder) = {permits, until.time_since_epoch().count()};
    auto const now = lease_clock::now().time_since_epoch().count();
    std::int64_t valid = 0;
    for (auto const& one : all->holders) {
        valid += one.until > now ? one.permits : 0;
    }
    all->most = std::max(all->most, valid);
    ++all->entries;
}

void pool_record::leave(std::size_t holder) {
    auto const all = record_.take_turn();
    all->holders.at(holder) = {};
}

std::int64_t pool_record::most() const {
    auto const all = record_.take_turn();
    return all->most;
}

std::int64_t pool_record::entries() const {
    auto const all = record_.take_turn();
    return all->entries;
}

}  // namespace holdfast::test
