#include "protocol/quorum_lock.hpp"

#include "protocol/derived_keys.hpp"
#include "protocol/hash_lock.hpp"
#include "protocol/scripts.hpp"
#include "protocol/words.hpp"

namespace holdfast::detail {

namespace {

class quorum_lock_protocol_type final : public hash_lock {
public:
    [[nodiscard]] places queues() const noexcept override { return places::none; }

    [[nodiscard]] call acquire(attempt const& what) const override {
        call sent{scripts::quorum_lock_acquire, what.timeout};
        sent.key_of(what.on).key(what.on.counter());
        if (what.preflight) {
            // It asks for the preflight; the release has it as a key.
            sent.key(what.on.channel());
        }
        sent.arg(what.lease.count())
            .arg(what.id.view())
            .arg(what.counter_ttl.count())
            .arg(signed_of(what.proposed.value));
        return sent;
    }

    [[nodiscard]] attempt_reply read_acquire(script_reply const& reply) const override {
        constexpr std::int64_t granted = 1;
        attempt_reply read;
        auto const said = reply.integer(0, -1);
        if (said == granted && reply.integer(1) > 0) {
            read.what = attempt_reply::kind::granted;
            read.token = {unsigned_of(reply.integer(1))};
            read.server_time = unsigned_of(reply.integer(2));
        } else if (said == busy_word) {
            read.what = attempt_reply::kind::busy;
            if (auto const remaining = reply.integer(1, -1); remaining >= 0) {
                read.remaining = millis{remaining};
            }
            read.endless = !read.remaining;
            read.last_token = {unsigned_of(reply.integer(2))};
            read.server_time = unsigned_of(reply.integer(3));
        }
        return read;
    }

    [[nodiscard]] call release(parting const& what) const override {
        call sent{scripts::lock_release, what.timeout};
        sent.key_of(what.on).key(what.on.channel());
        // No entry in a queue, and nobody to give the lock to.
        sent.arg(what.id.view()).arg("").arg("").arg("0").arg("0");
        add_ended_holds(sent, {});
        return sent;
    }

    [[nodiscard]] call inspect(target const& on, std::chrono::nanoseconds timeout, bool)
        const override {
        call sent{scripts::lock_inspect, timeout};
        sent.key_of(on).key(on.counter());
        return sent;
    }

    [[nodiscard]] call force_release(target const& on, std::chrono::nanoseconds timeout, millis)
        const override {
        call sent{scripts::lock_force_release, timeout};
        sent.key_of(on).key(on.channel());
        return sent;
    }
};

}  // namespace

primitive const& quorum_lock_protocol() noexcept {
    static quorum_lock_protocol_type const instance;
    return instance;
}

target make_quorum_lock_target(std::string_view prefix, std::string_view name) {
    static constexpr target::key_beginnings beginnings{
        beginning::token,
        beginning::lock_channel,
        beginning::queue,
        beginning::waiters
    };
    return make_target(&quorum_lock_protocol(), target_kind::quorum_lock, prefix, name, beginnings);
}

call raise_token(token_raise const& what) {
    call sent{scripts::quorum_lock_raise_token, what.timeout};
    sent.key_of(what.on).key(what.on.counter());
    sent.arg(what.id.view()).arg(what.counter_ttl.count()).arg(signed_of(what.token.value));
    return sent;
}

bool read_raise_token(script_reply const& reply) noexcept {
    return reply.integer(0) == 1;
}

}  // namespace holdfast::detail
