#include "support/history/store.hpp"

#include "support/history/event.hpp"

namespace holdfast::history {

bool store::accepts(place& p, std::int64_t token) {
    if (token < p.last_token) {
        return false;
    }
    p.last_token = token;
    return true;
}

store::view store::read(std::int64_t lock, std::int64_t token) {
    auto& p = places_[lock];
    return {.accepted = accepts(p, token), .value = p.value, .unguarded = p.unguarded};
}

std::int64_t store::write(std::int64_t lock, std::int64_t token, view const& seen) {
    auto& p = places_[lock];
    std::int64_t flags = 0;
    if (accepts(p, token)) {
        flags |= was_accepted;
        flags |= seen.value != p.value ? undid_another : 0;
        ++p.value;
    }
    flags |= seen.unguarded != p.unguarded ? undid_without_token : 0;
    ++p.unguarded;
    return flags;
}

}  // namespace holdfast::history
