#include "protocol/hash_lock.hpp"

#include "core/lease_terms.hpp"
#include "protocol/scripts.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::detail {

namespace {

// More than a day, in microseconds: as many digits as the scripts take for one.
constexpr std::int64_t longest_usual_hold = 99'999'999'999;

// The first value of a reply to an attempt.
constexpr std::int64_t granted = 1;

// What a reply has in the place of a number that cannot be negative.
std::uint64_t unsigned_of(std::int64_t number) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0));
}

std::uint64_t number_in(std::string_view text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

learned_lease learned_in(script_reply const& reply, std::size_t at) {
    auto const usual = reply.integer(at + 1);
    return {
        millis{std::max<std::int64_t>(reply.integer(at), 0)},
        std::chrono::microseconds{std::clamp<std::int64_t>(usual, 0, longest_usual_hold)},
        usual != -1,
    };
}

// Renewals and releases answer `1`, or `0` and whether the key is there.
loss_reason why_lost(script_reply const& reply) {
    if (reply.integer(0) == 1) {
        return loss_reason::none;
    }
    return reply.integer(1) == 1 ? loss_reason::taken : loss_reason::deleted;
}

}  // namespace

attempt_reply hash_lock::read_grant(script_reply const& reply) {
    attempt_reply read;
    if (reply.integer(0, -1) == granted) {
        read.what = attempt_reply::kind::granted;
        read.token = {unsigned_of(reply.integer(1))};
        if (reply.has(2)) {
            read.may_hand_over = reply.text(2) != "0";
            read.learned = learned_in(reply, 3);
        }
    }
    return read;
}

attempt_reply hash_lock::read_kept(script_reply const& reply) {
    auto read = read_grant(reply);
    if (reply.integer(0, -1) != busy) {
        return read;
    }
    read.what = attempt_reply::kind::busy;
    read.remaining = millis{std::max<std::int64_t>(reply.integer(1), 0)};
    read.endless = reply.integer(2) == 1;
    read.place = place_in(reply, 3);
    if (read.endless && !reply.rest(7).empty()) {
        read.orphan = {std::string{reply.rest(7)}, std::string{reply.text(6)}};
    }
    return read;
}

std::optional<queue_place> hash_lock::place_in(script_reply const& reply, std::size_t at) {
    queue_place const place{
        unsigned_of(reply.integer(at)),
        unsigned_of(reply.integer(at + 1)),
        unsigned_of(reply.integer(at + 2)),
    };
    return place.score != 0 && place.server_time != 0 ? std::optional{place} : std::nullopt;
}

std::string hash_lock::sibling_of_counter(target const& on, std::string_view beginning) {
    constexpr std::string_view counter = "redisson_lock_token";
    std::string key{beginning};
    return key.append(on.counter().substr(counter.size()));
}

std::string hash_lock::usual_hold_key(target const& on) {
    return sibling_of_counter(on, "holdfast_hold");
}

std::int64_t hash_lock::micros_of(nanos length) {
    return std::chrono::floor<std::chrono::microseconds>(length).count();
}

call hash_lock::renew(renewal const& what) const {
    call sent{scripts::lock_renew, what.timeout};
    sent.key(what.on.lock);
    if (what.tokens > 0) {
        sent.key(what.on.counter()).key(what.on.queue());
    }
    bool const learns = what.tokens > 0 && what.learned;
    if (learns) {
        sent.key(usual_hold_key(what.on));
    }
    sent.arg(what.lease.count()).arg(what.id.view());
    if (what.tokens > 0) {
        sent.arg(std::int64_t{what.tokens})
            .arg(signed_of(what.floor.value))
            .arg(what.counter_ttl.count());
    }
    if (learns) {
        sent.arg(std::int64_t{what.held.count})
            .arg(micros_of(what.held.mean))
            .arg(what.learned->shortest.count())
            .arg(what.learned->times);
    }
    return sent;
}

renew_reply hash_lock::read_renew(script_reply const& reply) const {
    return {
        why_lost(reply),
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
        sent.key(one.on->lock);
    }
    for (auto const& one : all) {
        sent.arg(one.lease.count()).arg(one.id.view());
    }
    return sent;
}

std::optional<loss_reason> hash_lock::read_renew_many(script_reply const& reply, std::size_t number)
    const {
    auto const digits = reply.text(0);
    switch (number < digits.size() ? digits[number] : '-') {
        case '1': return loss_reason::none;
        case '0': return loss_reason::deleted;
        case '2': return loss_reason::taken;
        default: return std::nullopt;
    }
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
    using kind = force_release_reply::kind;
    switch (reply.integer(0, 2)) {
        case 0: return {kind::was_free, true};
        case 1: return {kind::freed, reply.integer(1) == 1};
        default: return {kind::corrupt, true};
    }
}

}  // namespace holdfast::detail
