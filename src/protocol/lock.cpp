#include "protocol/lock.hpp"

#include "core/lease_terms.hpp"
#include "protocol/scripts.hpp"

#include <charconv>
#include <functional>

namespace holdfast::detail {

namespace {

// The first value of a reply to acquire.lua.
enum acquire_status : std::int64_t { busy = 0, granted = 1 };

class lock_protocol_type final : public primitive {
public:
    [[nodiscard]] call acquire(attempt const& what) const override {
        call sent{scripts::lock_acquire, what.timeout};
        sent.key(what.on.lock).key(what.on.counter);
        if (what.preflight) {
            // It asks for the preflight; the release has it as a key.
            sent.key(what.on.channel);
        }
        sent.arg(what.lease.count())
            .arg(what.id.view())
            .arg(what.counter_ttl.count())
            .arg(static_cast<std::int64_t>(what.floor.value));
        return sent;
    }

    [[nodiscard]] attempt_reply read_acquire(script_reply const& reply) const override {
        using kind = attempt_reply::kind;
        switch (reply.integer(0, -1)) {
            case granted:
                return {kind::granted, {static_cast<std::uint64_t>(reply.integer(1))}, {}};
            case busy: {
                auto const remaining = reply.integer(1, -1);
                if (remaining < 0) {
                    return {kind::busy, {}, {}};
                }
                return {kind::busy, {}, millis{remaining}};
            }
            default: return {kind::corrupt, {}, {}};
        }
    }

    [[nodiscard]] call renew(target const& on, holder_id const& id, millis lease, nanos timeout)
        const override {
        call sent{scripts::lock_renew, timeout};
        sent.key(on.lock).arg(lease.count()).arg(id.view());
        return sent;
    }

    [[nodiscard]] renew_reply read_renew(script_reply const& reply) const override {
        return {why_lost(reply)};
    }

    [[nodiscard]] call release(target const& on, holder_id const& id, nanos timeout)
        const override {
        call sent{scripts::lock_release, timeout};
        sent.key(on.lock).key(on.channel).arg(id.view());
        return sent;
    }

    [[nodiscard]] release_reply read_release(script_reply const& reply) const override {
        return {why_lost(reply), reply.integer(1) == 1};
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
    made.counter = with("redisson_lock_token");
    made.channel = with("redisson_lock__channel");
    made.hash = std::hash<std::string_view>{}(made.lock);
    return made;
}

call inspect_lock(target const& on, nanos timeout) {
    call sent{scripts::lock_inspect, timeout};
    sent.key(on.lock).key(on.counter);
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
    if (remaining == is_free) {
        read.what = lock_reading::kind::free;
        return read;
    }
    read.what = lock_reading::kind::held;
    if (remaining >= 0) {
        read.remaining = millis{remaining};
    }
    read.hold_count = number_in(reply.text(2));
    read.holder = reply.rest(3);
    return read;
}

call force_release_lock(target const& on, nanos timeout) {
    call sent{scripts::lock_force_release, timeout};
    sent.key(on.lock).key(on.channel);
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
