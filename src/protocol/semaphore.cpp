#include "protocol/semaphore.hpp"

#include "protocol/derived_keys.hpp"
#include "protocol/names.hpp"
#include "protocol/scripts.hpp"
#include "protocol/words.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace holdfast::detail {

namespace {

std::string sibling(target const& on, std::string_view begins) {
    std::string key{begins};
    return key.append(tag_of(on.lock));
}

std::string deadlines_of(target const& on) {
    return tag_of(on.lock).append(ending::permits);
}

std::string heard_of(target const& on) {
    return sibling(on, beginning::semaphore_heard);
}

// It needs no permission beyond those that Redisson's keys need.
std::string record_of(target const& on) {
    return tag_of(on.lock).append(ending::limit);
}

std::string usual_hold_of(target const& on) {
    return sibling(on, beginning::semaphore_hold);
}

void add_ids(call& to, target const& on, holder_id const& id) {
    for (std::uint32_t i = 0; i < on.permits; ++i) {
        to.arg(permit_id{id, i}.view());
    }
}

class semaphore_protocol_type final : public primitive {
public:
    [[nodiscard]] places queues() const noexcept override { return places::kept; }
    [[nodiscard]] bool names_turns() const noexcept override { return true; }
    [[nodiscard]] bool is_shared() const noexcept override { return true; }

    [[nodiscard]] call acquire(attempt const& what) const override {
        call sent{scripts::semaphore_acquire, what.timeout};
        sent.key_of(what.on)
            .key(deadlines_of(what.on))
            .key(what.on.channel())
            .key(what.on.counter())
            .key(what.on.queue())
            .key(heard_of(what.on))
            .key(what.on.waiters())
            .key(record_of(what.on));
        if (what.learned) {
            sent.key(usual_hold_of(what.on));
        }
        sent.arg(std::int64_t{what.on.permits})
            .arg(what.id.view())
            .arg(what.lease.count())
            .arg(what.counter_ttl.count())
            .arg(waits_of(what))
            .arg(what.patience.count())
            .arg(what.preflight ? "1" : "0")
            .arg(what.limit);
        add_learning(sent, what.learned);
        add_ids(sent, what.on, what.id);
        return sent;
    }

    [[nodiscard]] attempt_reply read_acquire(script_reply const& reply) const override {
        constexpr std::int64_t too_many = 3;
        constexpr std::int64_t not_set = 4;
        constexpr std::size_t limit_at = 5;
        auto read = read_grant(reply);
        if (auto const word = reply.integer(0, -1); word == busy_word) {
            read.what = attempt_reply::kind::busy;
            read.remaining = millis{std::max<std::int64_t>(reply.integer(1), 0)};
            read.place = place_in(reply, 2);
        } else if (word == too_many) {
            read.what = attempt_reply::kind::too_much;
        } else if (word == not_set) {
            read.what = attempt_reply::kind::no_limit;
        }
        if (auto const limit = reply.text(limit_at); !limit.empty() && limit != "-") {
            read.limit = reply.integer(limit_at);
            read.found_permits = reply.integer(limit_at + 1);
            read.notified = reply.integer(limit_at + 2, 1) == 1;
        }
        return read;
    }

    [[nodiscard]] call renew(renewal const& what) const override {
        call sent{scripts::semaphore_renew, what.timeout};
        add_keys(sent, what.on);
        sent.arg(what.lease.count()).arg(std::int64_t{what.on.permits});
        add_ids(sent, what.on, what.id);
        return sent;
    }
    [[nodiscard]] renew_reply read_renew(script_reply const& reply) const override {
        renew_reply read{why_lost(reply), {}};
        read.notified = read.lost == loss_reason::none || reply.integer(2, 1) == 1;
        return read;
    }

    [[nodiscard]] call renew_many(std::span<member const> all, std::chrono::nanoseconds timeout)
        const override {
        call sent{scripts::semaphore_renew_many, timeout};
        sent.reserve(5 * all.size(), 128 * all.size());
        for (auto const& one : all) {
            sent.key(deadlines_of(*one.on)).key(record_of(*one.on));
        }
        for (auto const& one : all) {
            sent.arg(one.lease.count()).arg(std::int64_t{one.on->permits});
            add_ids(sent, *one.on, one.id);
        }
        return sent;
    }
    [[nodiscard]] std::optional<loss_reason> read_renew_many(
        script_reply const& reply,
        std::size_t number
    ) const override {
        return renewed_in(reply, number);
    }

    [[nodiscard]] call release(parting const& what) const override {
        call sent{scripts::semaphore_release, what.timeout};
        add_keys(sent, what.on);
        if (what.held.count > 0) {
            sent.key(usual_hold_of(what.on));
        }
        sent.arg(std::int64_t{what.on.permits})
            .arg(what.id.view())
            .arg(what.window > millis{0} ? "1" : "0");
        add_ended_holds(sent, what.held);
        add_ids(sent, what.on, what.id);
        return sent;
    }
    [[nodiscard]] release_reply read_release(script_reply const& reply) const override {
        auto const lost = why_lost(reply);
        bool const told =
            lost == loss_reason::none ? reply.integer(1) == 1 : reply.integer(2, 1) == 1;
        return {lost, told, std::nullopt};
    }

    [[nodiscard]] call inspect(target const& on, std::chrono::nanoseconds timeout, bool)
        const override {
        call sent{scripts::semaphore_inspect, timeout};
        sent.key_of(on).key(deadlines_of(on)).key(on.queue()).key(heard_of(on)).key(record_of(on));
        return sent;
    }
    // What a lock has in common with a semaphore. See `read_semaphore` for the rest.
    [[nodiscard]] lock_reading read_inspect(script_reply const& reply) const override {
        auto const read = read_semaphore(reply);
        lock_reading found;
        if (read.what != semaphore_reading::kind::corrupt) {
            found.what = read.acquired > 0 ? lock_reading::kind::held : lock_reading::kind::free;
            found.waiting = read.waiting;
        }
        return found;
    }

    [[nodiscard]] call force_release(target const& on, std::chrono::nanoseconds timeout, millis)
        const override {
        call sent{scripts::semaphore_force_release, timeout};
        add_keys(sent, on);
        return sent;
    }
    [[nodiscard]] force_release_reply read_force_release(script_reply const& reply) const override {
        return forced_in(reply);
    }

    static void add_keys(call& to, target const& on) {
        to.key_of(on)
            .key(deadlines_of(on))
            .key(on.channel())
            .key(on.queue())
            .key(heard_of(on))
            .key(on.waiters())
            .key(record_of(on));
    }
};

}  // namespace

primitive const& semaphore_protocol() noexcept {
    static semaphore_protocol_type const instance;
    return instance;
}

target make_semaphore_target(std::string_view prefix, std::string_view name) {
    static constexpr target::key_beginnings beginnings{
        beginning::semaphore_token,
        beginning::semaphore_channel,
        beginning::semaphore_queue,
        beginning::semaphore_turns
    };
    return make_target(&semaphore_protocol(), target_kind::semaphore, prefix, name, beginnings);
}

target with_permits(target of, std::int64_t count) {
    bool const possible = count >= 1 && count <= most_permits;
    of.permits = possible ? static_cast<std::uint32_t>(count) : 0;
    return of;
}

target with_limit(target of, std::int64_t limit) {
    bool const possible = limit >= 1 && limit <= greatest_limit;
    of.limit = possible ? limit : target::wrong_limit;
    return of;
}

// The client's id, which is random, with the holder's number and the index added without a carry.
permit_id::permit_id(holder_id const& holder, std::uint32_t index) noexcept {
    auto const digit = [](char c) {
        return static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    };
    std::array<unsigned char, 16> client{};
    std::size_t digits = 0;
    for (char const c : holder.view().substr(0, holder_id::client_id_length)) {
        if (c != '-' && digits < 2 * client.size()) {
            auto& byte = client[digits++ / 2];
            byte = static_cast<unsigned char>(unsigned{byte} << 4U | (digit(c) & 0xfU));
        }
    }
    auto const number = holder.number();
    for (std::size_t i = 0; i < 8; ++i) {
        auto const shift = 8 * (7 - i);
        bytes_[i] = static_cast<char>(client[i] ^ (number >> shift & 0xffU));
        bytes_[8 + i] = static_cast<char>(client[8 + i] ^ (std::uint64_t{index} >> shift & 0xffU));
    }
}

semaphore_reading read_semaphore(script_reply const& reply) {
    using kind = semaphore_reading::kind;
    auto const word = reply.integer(0, -1);
    semaphore_reading read;
    if (word == 0 || word == 1) {
        read.what = word == 1 ? kind::set : kind::unset;
        read.available = reply.integer(1);
        read.acquired = reply.integer(2);
        read.waiting = unsigned_of(reply.integer(3));
        read.limit = reply.integer(4);
    }
    return read;
}

call set_permits(target const& on, std::int64_t limit, std::chrono::nanoseconds timeout) {
    call sent{scripts::semaphore_set_permits, timeout};
    semaphore_protocol_type::add_keys(sent, on);
    sent.arg(limit);
    return sent;
}

set_permits_reply read_set_permits(script_reply const& reply) {
    switch (reply.integer(0, 2)) {
        case 0: return set_permits_reply::was_set;
        case 1:
            return reply.integer(1, 1) == 1 ? set_permits_reply::set_now
                                            : set_permits_reply::set_silently;
        case 3: return set_permits_reply::other_limit;
        default: return set_permits_reply::corrupt;
    }
}

}  // namespace holdfast::detail
