#include "protocol/fair_lock.hpp"

#include "protocol/derived_keys.hpp"
#include "protocol/hash_lock.hpp"
#include "protocol/scripts.hpp"
#include "protocol/words.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

namespace holdfast::detail {

namespace {

class fair_lock_protocol_type final : public hash_lock {
public:
    [[nodiscard]] places queues() const noexcept override { return places::kept_by_each; }
    [[nodiscard]] std::string channel_of_waiter(target const& on, holder_id const& id)
        const override {
        std::string channel{on.channel()};
        return channel.append(":").append(id.view());
    }

    [[nodiscard]] call acquire(attempt const& what) const override {
        call sent{scripts::fair_lock_acquire, what.timeout};
        sent.key_of(what.on)
            .key(what.on.counter())
            .key(what.on.queue())
            .key(what.on.waiters())
            .key(trust_of(what.on))
            .key(what.on.channel());
        if (what.learned) {
            sent.key(usual_hold_key(what.on));
        }
        sent.arg(what.lease.count())
            .arg(what.id.view())
            .arg(what.counter_ttl.count())
            .arg(waits_of(what))
            .arg(what.patience.count())
            .arg(what.preflight ? "1" : "0");
        add_learning(sent, what.learned);
        return sent;
    }

    [[nodiscard]] attempt_reply read_acquire(script_reply const& reply) const override {
        return read_kept(reply);
    }

    [[nodiscard]] call release(parting const& what) const override {
        call sent{scripts::fair_lock_release, what.timeout};
        add_queue_keys(sent, what.on);
        if (what.held.count > 0) {
            sent.key(usual_hold_key(what.on));
        }
        sent.arg(what.id.view())
            .arg(what.window > millis{0} ? "1" : "0")
            .arg(what.patience.count());
        add_ended_holds(sent, what.held);
        return sent;
    }

    [[nodiscard]] call inspect(target const& on, std::chrono::nanoseconds timeout, bool)
        const override {
        call sent{scripts::fair_lock_inspect, timeout};
        sent.key_of(on).key(on.counter()).key(on.queue());
        return sent;
    }

    [[nodiscard]] call force_release(
        target const& on,
        std::chrono::nanoseconds timeout,
        millis patience
    ) const override {
        call sent{scripts::fair_lock_force_release, timeout};
        add_queue_keys(sent, on);
        sent.arg(patience.count());
        return sent;
    }

private:
    static void add_queue_keys(call& to, target const& on) {
        to.key_of(on).key(on.channel()).key(on.queue()).key(on.waiters()).key(trust_of(on));
    }

    static std::string trust_of(target const& on) {
        return sibling_of_counter(on, beginning::fair_trust);
    }
};

}  // namespace

primitive const& fair_lock_protocol() noexcept {
    static fair_lock_protocol_type const instance;
    return instance;
}

target make_fair_lock_target(std::string_view prefix, std::string_view name) {
    static constexpr target::key_beginnings beginnings{
        beginning::token,
        beginning::lock_channel,
        beginning::fair_queue,
        beginning::fair_timeout
    };
    return make_target(&fair_lock_protocol(), target_kind::fair_lock, prefix, name, beginnings);
}

}  // namespace holdfast::detail
