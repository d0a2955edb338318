#include "protocol/multi_lock.hpp"

#include "protocol/lock.hpp"
#include "protocol/scripts.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace holdfast::detail {

bool may_be_taken_together(target const& a, target const& b) noexcept {
    return a.speaks == &lock_protocol() && may_share_a_call(a, b);
}

call acquire_together(std::span<primitive::attempt const> all) {
    auto const& first = all.front();
    call sent{scripts::multi_lock_acquire, first.timeout};
    sent.reserve(4 * all.size() + 3, 192 * all.size());
    for (auto const& each : all) {
        sent.key_of(each.on).key(each.on.counter());
        if (first.hand_over) {
            sent.key(each.on.queue());
        }
    }
    sent.arg(first.lease.count()).arg(first.counter_ttl.count());
    for (auto const& each : all) {
        sent.arg(each.id.view());
    }
    return sent;
}

script_reply reply_to(script_reply const& together, std::size_t number) {
    constexpr std::int64_t granted = 1;
    constexpr std::int64_t corrupt = 2;
    auto const said = together.integer(0, corrupt);
    auto const nonce = together.nonce();
    if (said == granted) {
        return script_reply{fmt::format("{} 1 {}", nonce, together.text(number + 1))};
    }
    bool const is_this = together.integer(1, -1) == static_cast<std::int64_t>(number);
    // Those that could have been had are as good as busy: nothing was granted.
    return script_reply{fmt::format("{} {}", nonce, said == corrupt && is_this ? 2 : 0)};
}

}  // namespace holdfast::detail
