#include "protocol/hash_lock.hpp"

#include "core/lease_terms.hpp"
#include "protocol/derived_keys.hpp"
#include "protocol/names.hpp"
#include "protocol/scripts.hpp"
#include "protocol/words.hpp"

#include <charconv>

namespace holdfast::detail {

namespace {

std::uint64_t number_in(std::string_view text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

}  // namespace

std::string hash_lock::sibling_of_counter(target const& on, std::string_view begins) {
    std::string key{begins};
    return key.append(tag_of(on.lock));
}

std::string hash_lock::usual_hold_key(target const& on) {
    return sibling_of_counter(on, beginning::hold);
}

call hash_lock::renew(renewal const& what) const {
    call sent{scripts::lock_renew, what.timeout};
    sent.key_of(what.on);
    if (what.tokens > 0) {
        sent.key(what.on.counter()).key(what.on.queue());
    }
    if (what.tokens > 0 && what.learned) {
        sent.key(usual_hold_key(what.on));
    }
    add_renewal(sent, what, what.id.view());
    return sent;
}

void hash_lock::add_renewal(call& to, renewal const& what, std::string_view field) {
    to.arg(what.lease.count())
        .arg(field)
        .arg(std::int64_t{what.tokens})
        .arg(what.counter_ttl.count());
    add_ended_holds(to, what.held);
    add_learning(to, what.learned);
}

renew_reply hash_lock::read_renew(script_reply const& reply) const {
    auto const lost = why_lost(reply);
    if (lost != loss_reason::none) {
        return {lost, {}};
    }
    return {
        lost,
        {unsigned_of(reply.integer(1))},
        unsigned_of(reply.integer(2)),
        unsigned_of(reply.integer(3)),
        learned_in(reply, 4),
    };
}

call hash_lock::renew_many(std::span<member const> all, nanos timeout) const {
    call sent{scripts::lock_renew_many, timeout};
    sent.reserve(3 * all.size(), 96 * all.size());
    for (auto const& one : all) {
        sent.key_of(*one.on);
    }
    for (auto const& one : all) {
        sent.arg(one.lease.count()).arg(one.id.view());
    }
    return sent;
}

std::optional<loss_reason> hash_lock::read_renew_many(script_reply const& reply, std::size_t number)
    const {
    return renewed_in(reply, number);
}

release_reply hash_lock::read_release(script_reply const& reply) const {
    auto const lost = why_lost(reply);
    bool const notified = lost != loss_reason::none || reply.integer(1) == 1;
    if (!reply.has(2)) {
        return {lost, notified, std::nullopt, false, {}};
    }
    return {
        lost,
        notified,
        place_in(reply, 2),
        reply.has(5),
        millis{std::max<std::int64_t>(reply.integer(6), 0)},
    };
}

lock_reading hash_lock::read_state(script_reply const& reply) {
    constexpr std::int64_t not_a_lock = -3;
    constexpr std::int64_t is_free = -2;
    auto const remaining = reply.integer(0, not_a_lock);
    lock_reading read;
    if (remaining == not_a_lock) {
        return read;
    }
    read.last_token = number_in(reply.text(1));
    read.waiting = number_in(reply.text(2));
    if (remaining == is_free) {
        read.what = lock_reading::kind::free;
        return read;
    }
    read.what = lock_reading::kind::held;
    if (remaining >= 0) {
        read.remaining = millis{remaining};
    }
    return read;
}

lock_reading hash_lock::read_inspect(script_reply const& reply) const {
    auto read = read_state(reply);
    if (read.what == lock_reading::kind::held) {
        read.hold_count = number_in(reply.text(3));
        read.holder = reply.rest(4);
    }
    return read;
}

force_release_reply hash_lock::read_force_release(script_reply const& reply) const {
    return forced_in(reply);
}

}  // namespace holdfast::detail
