#include "quorum/holder_record.hpp"

namespace holdfast::test {

bool holder_record::enter(std::uint64_t token, lease_clock::time_point until) {
    auto const all = record_.take_turn();
    auto const now = lease_clock::now().time_since_epoch().count();
    auto const end = until.time_since_epoch().count();
    if (end <= now) {
        return false;
    }
    ++all->seen.entries;
    all->seen.overlaps += all->until > now ? 1 : 0;
    all->seen.stale_tokens += token <= all->last_token ? 1 : 0;
    all->last_token = token;
    all->until = end;
    return true;
}

void holder_record::leave(std::uint64_t token) {
    auto const all = record_.take_turn();
    if (all->last_token == token) {
        all->until = 0;
    }
}

holder_record::counts holder_record::read() const {
    auto const all = record_.take_turn();
    return all->seen;
}

}  // namespace holdfast::test
