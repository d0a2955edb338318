#include "protocol/read_write_lock.hpp"

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

// Redisson's watchdog makes the lock's life as short as its own time-out, which is 30 s by default.
// When its reader dies the lock would end with it, unless the other readers make it longer in time.
constexpr std::chrono::seconds within_a_watchdog{10};

// What both sides have in common.
class read_write_lock : public hash_lock {
public:
    [[nodiscard]] places queues() const noexcept final { return places::kept; }

    [[nodiscard]] call inspect(target const& on, std::chrono::nanoseconds timeout, bool)
        const final {
        call sent{scripts::read_write_lock_inspect, timeout};
        sent.key_of(on).key(on.counter()).key(on.queue()).arg(side());
        return sent;
    }

    [[nodiscard]] lock_reading read_inspect(script_reply const& reply) const final {
        auto read = read_state(reply);
        read.readers = static_cast<std::uint64_t>(std::max<std::int64_t>(reply.integer(4), 0));
        if (read.what == lock_reading::kind::held) {
            read.hold_count =
                static_cast<std::uint64_t>(std::max<std::int64_t>(reply.integer(3), 0));
            read.holder = reply.rest(5);
        }
        return read;
    }

    [[nodiscard]] call force_release(target const& on, std::chrono::nanoseconds timeout, millis)
        const final {
        call sent{scripts::read_write_lock_force_release, timeout};
        sent.key_of(on).key(on.channel()).arg(side());
        return sent;
    }

protected:
    ~read_write_lock() = default;

    [[nodiscard]] virtual std::string_view side() const noexcept = 0;

    static void add_attempt_keys(call& to, target const& on) {
        to.key_of(on).key(on.counter()).key(on.queue()).key(on.waiters()).key(on.channel());
    }

    static void add_attempt_arguments(call& to, attempt const& what) {
        to.arg(what.lease.count())
            .arg(what.id.view())
            .arg(what.counter_ttl.count())
            .arg(waits_of(what))
            .arg(what.patience.count())
            .arg(what.preflight ? "1" : "0");
    }

    static void add_parting_arguments(call& to, parting const& what) {
        to.arg(what.id.view()).arg(what.window > millis{0} ? "1" : "0");
        add_ended_holds(to, what.held);
    }
};

class read_lock_type final : public read_write_lock {
public:
    [[nodiscard]] bool is_shared() const noexcept override { return true; }
    [[nodiscard]] bool shares_holds() const noexcept override { return true; }
    [[nodiscard]] std::optional<target_kind> other_side() const noexcept override {
        return target_kind::write_lock;
    }
    [[nodiscard]] std::chrono::nanoseconds renewed_within() const noexcept override {
        return within_a_watchdog;
    }

    [[nodiscard]] call acquire(attempt const& what) const override {
        call sent{scripts::read_lock_acquire, what.timeout};
        add_attempt_keys(sent, what.on);
        sent.key(hold_key(what.on, what.id));
        if (what.learned) {
            sent.key(learned_key(what.on));
        }
        add_attempt_arguments(sent, what);
        sent.arg(what.beside ? what.beside->view() : std::string_view{});
        add_learning(sent, what.learned);
        return sent;
    }

    [[nodiscard]] attempt_reply read_acquire(script_reply const& reply) const override {
        auto read = read_kept(reply);
        read.others_wait = read.what == attempt_reply::kind::granted && reply.integer(5, 1) != 0;
        return read;
    }

    [[nodiscard]] call renew(renewal const& what) const override {
        call sent{scripts::read_lock_renew, what.timeout};
        sent.key_of(what.on)
            .key(hold_key(what.on, what.id))
            .arg(what.lease.count())
            .arg(what.id.view());
        return sent;
    }

    [[nodiscard]] call renew_many(std::span<member const> all, std::chrono::nanoseconds timeout)
        const override {
        call sent{scripts::read_lock_renew_many, timeout};
        sent.reserve(4 * all.size(), 192 * all.size());
        for (auto const& one : all) {
            sent.key_of(*one.on).key(hold_key(*one.on, one.id));
        }
        for (auto const& one : all) {
            sent.arg(one.lease.count()).arg(one.id.view());
        }
        return sent;
    }

    [[nodiscard]] call release(parting const& what) const override {
        call sent{scripts::read_lock_release, what.timeout};
        sent.key_of(what.on)
            .key(what.on.channel())
            .key(what.on.queue())
            .key(what.on.waiters())
            .key(hold_key(what.on, what.id));
        if (what.held.count > 0) {
            sent.key(learned_key(what.on));
        }
        add_parting_arguments(sent, what);
        return sent;
    }

private:
    [[nodiscard]] std::string_view side() const noexcept override { return "r"; }

    // A hold of a reader; ours have each a holder id of their own.
    static std::string hold_key(target const& on, holder_id const& id) {
        auto key = sibling_of_counter(on, {});
        return key.append(":").append(id.view()).append(ending::reader).append("1");
    }

    static std::string learned_key(target const& on) {
        return sibling_of_counter(on, beginning::read_hold);
    }
};

class write_lock_type final : public read_write_lock {
public:
    [[nodiscard]] std::optional<target_kind> other_side() const noexcept override {
        return target_kind::read_lock;
    }

    [[nodiscard]] call acquire(attempt const& what) const override {
        call sent{scripts::write_lock_acquire, what.timeout};
        add_attempt_keys(sent, what.on);
        if (what.learned) {
            sent.key(learned_key(what.on));
        }
        add_attempt_arguments(sent, what);
        add_learning(sent, what.learned);
        return sent;
    }

    [[nodiscard]] attempt_reply read_acquire(script_reply const& reply) const override {
        return read_kept(reply);
    }

    // Its field is renewed as the holder of a lock is.
    [[nodiscard]] call renew(renewal const& what) const override {
        call sent{scripts::lock_renew, what.timeout};
        sent.key_of(what.on);
        add_renewal(sent, what, field_of(what.id));
        return sent;
    }

    [[nodiscard]] call renew_many(std::span<member const> all, std::chrono::nanoseconds timeout)
        const override {
        call sent{scripts::lock_renew_many, timeout};
        sent.reserve(3 * all.size(), 96 * all.size());
        for (auto const& one : all) {
            sent.key_of(*one.on);
        }
        for (auto const& one : all) {
            sent.arg(one.lease.count()).arg(field_of(one.id));
        }
        return sent;
    }

    [[nodiscard]] call release(parting const& what) const override {
        call sent{scripts::write_lock_release, what.timeout};
        sent.key_of(what.on).key(what.on.channel()).key(what.on.queue()).key(what.on.waiters());
        if (what.held.count > 0) {
            sent.key(learned_key(what.on));
        }
        add_parting_arguments(sent, what);
        return sent;
    }

private:
    [[nodiscard]] std::string_view side() const noexcept override { return "w"; }

    static std::string field_of(holder_id const& id) {
        return std::string{id.view()}.append(":write");
    }

    static std::string learned_key(target const& on) {
        return sibling_of_counter(on, beginning::write_hold);
    }
};

target make_side(
    primitive const& speaks,
    target_kind kind,
    std::string_view prefix,
    std::string_view name
) {
    static constexpr target::key_beginnings beginnings{
        beginning::token,
        beginning::rw_channel,
        beginning::rw_queue,
        beginning::rw_heard
    };
    return make_target(&speaks, kind, prefix, name, beginnings);
}

}  // namespace

primitive const& read_lock_protocol() noexcept {
    static read_lock_type const instance;
    return instance;
}

primitive const& write_lock_protocol() noexcept {
    static write_lock_type const instance;
    return instance;
}

target make_read_lock_target(std::string_view prefix, std::string_view name) {
    return make_side(read_lock_protocol(), target_kind::read_lock, prefix, name);
}

target make_write_lock_target(std::string_view prefix, std::string_view name) {
    return make_side(write_lock_protocol(), target_kind::write_lock, prefix, name);
}

}  // namespace holdfast::detail
