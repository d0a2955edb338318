#include "protocol/lock.hpp"

#include "core/lease_terms.hpp"
#include "protocol/scripts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

namespace holdfast::detail {

namespace {

// More than a day, in microseconds: as many digits as the scripts take for one.
constexpr std::int64_t longest_usual_hold = 99'999'999'999;

// The first value of a reply to acquire.lua.
enum acquire_status : std::int64_t { busy = 0, granted = 1 };

// What the release script takes for granted.
constexpr std::chrono::milliseconds usual_counter_ttl = std::chrono::days{30};

std::int64_t signed_of(std::uint64_t number) {
    return static_cast<std::int64_t>(number);
}

// What a reply has in the place of a number that cannot be negative.
std::uint64_t unsigned_of(std::int64_t number) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0));
}

std::optional<queue_place> place_in(script_reply const& reply, std::size_t at) {
    queue_place const place{
        unsigned_of(reply.integer(at)),
        unsigned_of(reply.integer(at + 1)),
        unsigned_of(reply.integer(at + 2)),
    };
    return place.score != 0 && place.server_time != 0 ? std::optional{place} : std::nullopt;
}

// No entry without a window.
std::string entry_of(holder_id const& id, millis window) {
    return window > millis{0} ? fmt::format("{} {}", id.view(), window.count()) : std::string{};
}

// Beside the queue, in the lock's slot. It is made when it is needed: most locks never do.
std::string usual_hold_key(target const& on) {
    constexpr std::string_view queue = "holdfast_queue";
    std::string key{"holdfast_hold"};
    return key.append(on.queue().substr(queue.size()));
}

std::int64_t micros_of(nanos length) {
    return std::chrono::floor<std::chrono::microseconds>(length).count();
}

learned_lease learned_in(script_reply const& reply, std::size_t at) {
    auto const usual = reply.integer(at + 1);
    return {
        millis{std::max<std::int64_t>(reply.integer(at), 0)},
        std::chrono::microseconds{std::clamp<std::int64_t>(usual, 0, longest_usual_hold)},
        usual != -1,
    };
}

class lock_protocol_type final : public primitive {
public:
    [[nodiscard]] call acquire(attempt const& what) const override {
        call sent{scripts::lock_acquire, what.timeout};
        sent.key(what.on.lock).key(what.on.counter());
        if (what.hand_over) {
            sent.key(what.on.queue());
        }
        if (what.preflight) {
            // It asks for the preflight; the release has it as a key.
            sent.key(what.on.channel());
        }
        if (what.learned) {
            sent.key(usual_hold_key(what.on));
        }
        sent.arg(what.lease.count())
            .arg(what.id.view())
            .arg(what.counter_ttl.count())
            .arg(signed_of(what.floor.value));
        if (!what.hand_over || what.tokens != 1 || what.window > millis{0} || what.learned) {
            sent.arg(std::int64_t{what.tokens})
                .arg(what.hand_over ? std::max<std::int64_t>(what.window.count(), 1) : 0)
                .arg(signed_of(what.score));
        }
        if (what.learned) {
            sent.arg(what.learned->shortest.count()).arg(what.learned->times);
        }
        return sent;
    }

    [[nodiscard]] call take_over(attempt const& what, orphan const& seen) const override {
        call sent{scripts::lock_take_over, what.timeout};
        sent.key(what.on.lock).key(what.on.counter());
        if (what.hand_over) {
            sent.key(what.on.queue());
        }
        sent.arg(what.lease.count())
            .arg(what.id.view())
            .arg(what.counter_ttl.count())
            .arg(signed_of(what.floor.value))
            .arg(std::int64_t{what.tokens})
            .arg(what.hand_over ? entry_of(what.id, what.window) : std::string{})
            .arg(seen.holder)
            .arg(seen.count);
        return sent;
    }

    [[nodiscard]] attempt_reply read_acquire(script_reply const& reply) const override {
        using kind = attempt_reply::kind;
        attempt_reply read;
        switch (reply.integer(0, -1)) {
            case granted:
                read.what = kind::granted;
                read.token = {unsigned_of(reply.integer(1))};
                if (reply.has(2)) {
                    read.may_hand_over = reply.text(2) != "0";
                    read.learned = learned_in(reply, 3);
                }
                break;
            case busy:
                read.what = kind::busy;
                if (auto const remaining = reply.integer(1, -1); remaining >= 0) {
                    read.remaining = millis{remaining};
                }
                read.place = place_in(reply, 2);
                if (!read.remaining && !reply.rest(6).empty()) {
                    read.orphan = {std::string{reply.rest(6)}, std::string{reply.text(5)}};
                }
                break;
            default: break;
        }
        return read;
    }

    [[nodiscard]] call renew(renewal const& what) const override {
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

    [[nodiscard]] renew_reply read_renew(script_reply const& reply) const override {
        return {
            why_lost(reply),
            {unsigned_of(reply.integer(1))},
            unsigned_of(reply.integer(2)),
            unsigned_of(reply.integer(3)),
            learned_in(reply, 4),
        };
    }

    [[nodiscard]] call renew_many(std::span<member const> all, nanos timeout) const override {
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

    [[nodiscard]] std::optional<loss_reason> read_renew_many(
        script_reply const& reply,
        std::size_t number
    ) const override {
        auto const digits = reply.text(0);
        switch (number < digits.size() ? digits[number] : '-') {
            case '1': return loss_reason::none;
            case '0': return loss_reason::deleted;
            case '2': return loss_reason::taken;
            default: return std::nullopt;
        }
    }

    [[nodiscard]] call release(parting const& what) const override {
        call sent{scripts::lock_release, what.timeout};
        sent.key(what.on.lock).key(what.on.channel());
        if (what.hand_over) {
            sent.key(what.on.queue()).key(what.on.counter());
        }
        if (what.held.count > 0) {
            sent.key(usual_hold_key(what.on));
        }
        sent.arg(what.id.view());
        bool const usual =
            !what.hand_over || (what.window == millis{0} && !what.next && !what.others &&
                                what.counter_ttl == usual_counter_ttl);
        if (!usual || what.held.count > 0) {
            sent.arg(entry_of(what.id, what.window))
                .arg(what.next ? entry_of(what.next->id, what.next->window) : std::string{})
                .arg(what.counter_ttl.count())
                .arg(signed_of(what.floor.value))
                .arg(what.others ? std::to_string(*what.others) : std::string{});
        }
        if (what.held.count > 0) {
            sent.arg(std::int64_t{what.held.count}).arg(micros_of(what.held.mean));
        }
        return sent;
    }

    [[nodiscard]] release_reply read_release(script_reply const& reply) const override {
        auto const lost = why_lost(reply);
        bool const notified = lost != loss_reason::none || reply.integer(1) == 1;
        if (!reply.has(2)) {
            return {lost, notified, std::nullopt, false};
        }
        return {lost, notified, place_in(reply, 2), reply.has(5)};
    }

private:
    // Renewals and releases answer `1`, or `0` and whether the key is there.
    static loss_reason why_lost(script_reply const& reply) {
        if (reply.integer(0) == 1) {
            return loss_reason::none;
        }
        return reply.integer(1) == 1 ? loss_reason::taken : loss_reason::deleted;
    }
};

std::uint64_t number_in(std::string_view text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

}  // namespace

primitive const& lock_protocol() noexcept {
    static lock_protocol_type const instance;
    return instance;
}

target make_lock_target(std::string_view prefix, std::string_view name) {
    target made;
    made.speaks = &lock_protocol();
    made.kind = target_kind::lock;
    if (name.empty() || name.size() > max_name_length ||
        prefix.size() > max_name_length - name.size()) {
        return made;
    }
    made.lock.reserve(prefix.size() + name.size());
    made.lock.append(prefix).append(name);
    // The whole name is the hash tag, unless the user gave one: any `{` counts, closed or not.
    bool const tagged = made.lock.find('{') != std::string::npos;
    auto const with = [&](std::string_view kind) {
        std::string key;
        key.reserve(kind.size() + made.lock.size() + 3);
        key.append(kind).append(tagged ? ":" : ":{").append(made.lock).append(tagged ? "" : "}");
        return key;
    };
    made.set_parts({
        with("redisson_lock_token"),
        with("redisson_lock__channel"),
        with("holdfast_queue"),
        with("holdfast_waiters"),
    });
    made.hash = std::hash<std::string_view>{}(made.lock);
    return made;
}

call inspect_lock(target const& on, nanos timeout, bool hand_over) {
    call sent{scripts::lock_inspect, timeout};
    sent.key(on.lock).key(on.counter());
    if (hand_over) {
        sent.key(on.queue());
    }
    return sent;
}

lock_reading read_inspect_lock(script_reply const& reply) {
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
    read.hold_count = number_in(reply.text(3));
    read.holder = reply.rest(4);
    return read;
}

call force_release_lock(target const& on, nanos timeout) {
    call sent{scripts::lock_force_release, timeout};
    sent.key(on.lock).key(on.channel());
    return sent;
}

force_release_reply read_force_release_lock(script_reply const& reply) {
    using kind = force_release_reply::kind;
    switch (reply.integer(0, 2)) {
        case 0: return {kind::was_free, true};
        case 1: return {kind::freed, reply.integer(1) == 1};
        default: return {kind::corrupt, true};
    }
}

}  // namespace holdfast::detail
