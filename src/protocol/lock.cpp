#include "protocol/lock.hpp"

#include "protocol/derived_keys.hpp"
#include "protocol/hash_lock.hpp"
#include "protocol/scripts.hpp"
#include "protocol/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::detail {

namespace {

// No entry without a window.
std::string entry_of(holder_id const& id, millis window) {
    return window > millis{0} ? fmt::format("{} {}", id.view(), window.count()) : std::string{};
}

class lock_protocol_type final : public hash_lock {
public:
    [[nodiscard]] places queues() const noexcept override { return places::called; }

    [[nodiscard]] call acquire(attempt const& what) const override {
        call sent{scripts::lock_acquire, what.timeout};
        sent.key_of(what.on).key(what.on.counter());
        if (what.hand_over) {
            sent.key(what.on.queue());
        }
        if (what.preflight) {
            // The release has it as a key.
            sent.key(what.on.channel());
        }
        if (what.learned) {
            sent.key(usual_hold_key(what.on));
        }
        sent.arg(what.lease.count())
            .arg(what.id.view())
            .arg(what.counter_ttl.count())
            .arg(std::int64_t{what.tokens})
            .arg(what.hand_over ? std::max<std::int64_t>(what.window.count(), 1) : 0)
            .arg(words_of(what.had, "0"))
            .arg(what.preflight ? "1" : "0");
        add_learning(sent, what.learned);
        return sent;
    }

    [[nodiscard]] call take_over(attempt const& what, orphan const& seen) const override {
        call sent{scripts::lock_take_over, what.timeout};
        sent.key_of(what.on).key(what.on.counter());
        if (what.hand_over) {
            sent.key(what.on.queue());
        }
        sent.arg(what.lease.count())
            .arg(what.id.view())
            .arg(what.counter_ttl.count())
            .arg(std::int64_t{what.tokens})
            .arg(what.hand_over ? entry_of(what.id, what.window) : std::string{})
            .arg(seen.holder)
            .arg(seen.count);
        return sent;
    }

    [[nodiscard]] attempt_reply read_acquire(script_reply const& reply) const override {
        auto read = read_grant(reply);
        if (reply.integer(0, -1) != busy_word) {
            return read;
        }
        read.what = attempt_reply::kind::busy;
        if (auto const remaining = reply.integer(1, -1); remaining >= 0) {
            read.remaining = millis{remaining};
        }
        read.endless = !read.remaining;
        read.place = place_in(reply, 2);
        if (read.endless && !reply.rest(6).empty()) {
            read.orphan = {std::string{reply.rest(6)}, std::string{reply.text(5)}};
        }
        return read;
    }

    [[nodiscard]] call release(parting const& what) const override {
        call sent{scripts::lock_release, what.timeout};
        sent.key_of(what.on).key(what.on.channel());
        bool const has_entry = what.window > millis{0};
        bool const looks_at_queue = what.hand_over && (has_entry || !what.held_back);
        if (looks_at_queue) {
            sent.key(what.on.queue()).key(what.on.counter());
        }
        if (what.held.count > 0) {
            sent.key(usual_hold_key(what.on));
        }
        sent.arg(what.id.view())
            .arg(entry_of(what.id, what.window))
            .arg(what.next ? entry_of(what.next->id, what.next->window) : std::string{})
            .arg(what.counter_ttl.count())
            .arg(what.held_back ? "1" : "0");
        add_ended_holds(sent, what.held);
        return sent;
    }

    [[nodiscard]] call inspect(target const& on, nanos timeout, bool hand_over) const override {
        call sent{scripts::lock_inspect, timeout};
        sent.key_of(on).key(on.counter());
        if (hand_over) {
            sent.key(on.queue());
        }
        return sent;
    }

    [[nodiscard]] call force_release(target const& on, nanos timeout, millis) const override {
        call sent{scripts::lock_force_release, timeout};
        sent.key_of(on).key(on.channel());
        return sent;
    }
};

}  // namespace

primitive const& lock_protocol() noexcept {
    static lock_protocol_type const instance;
    return instance;
}

target make_lock_target(std::string_view prefix, std::string_view name) {
    static constexpr target::key_beginnings beginnings{
        beginning::token,
        beginning::lock_channel,
        beginning::queue,
        beginning::waiters
    };
    return make_target(&lock_protocol(), target_kind::lock, prefix, name, beginnings);
}

}  // namespace holdfast::detail
