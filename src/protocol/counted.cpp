#include "protocol/counted.hpp"

#include "protocol/derived_keys.hpp"
#include "protocol/scripts.hpp"

#include <string>
#include <utility>

namespace holdfast::detail {

target make_latch_target(std::string_view prefix, std::string_view name, bool in_one_slot) {
    static constexpr target::key_beginnings beginnings{beginning::done, beginning::latch_channel};
    auto made = make_target(nullptr, target_kind::latch, prefix, name, beginnings);
    // Redisson puts the name in braces here also if it has some. On a cluster that would be another
    // slot, and no Java client has it there.
    made.braced_channel = made.valid() && !in_one_slot;
    return made;
}

target make_counting_semaphore_target(std::string_view prefix, std::string_view name) {
    static constexpr target::key_beginnings beginnings{
        beginning::done,
        beginning::semaphore_channel
    };
    return make_target(nullptr, target_kind::counting_semaphore, prefix, name, beginnings);
}

namespace counted {

namespace {

// An attempt is repeated and withdrawn for a day at most, however long the connection is away.
constexpr milliseconds taken_for = std::chrono::hours{25};
// An attempt that was sent before its withdrawal can hardly be under way for longer.
constexpr milliseconds withdrawn_for = std::chrono::minutes{10};

bool is_latch(target const& on) noexcept {
    return on.kind == target_kind::latch;
}

std::string mark_of(target const& on, holder_id const& id) {
    return on.done().append(":").append(id.view());
}

call changing(script const& what, target const& on, holder_id const& id, nanoseconds timeout) {
    call sent{what, timeout};
    sent.key_of(on).key(on.channel()).key(mark_of(on, id));
    return sent;
}

call by_number(script const& script, request const& what) {
    auto sent = changing(script, what.on, what.id, what.timeout);
    sent.arg(what.number).arg(what.kept.count());
    return sent;
}

}  // namespace

call try_set(request const& what) {
    auto sent = changing(scripts::counted_try_set, what.on, what.id, what.timeout);
    // At a latch, `0` says that it is open, `1` that it was set.
    auto const message = is_latch(what.on) ? 1 : what.number;
    sent.arg(what.number).arg(message).arg(what.kept.count());
    return sent;
}

call count_down(request const& what) {
    return by_number(scripts::latch_count_down, what);
}

call add(request const& what) {
    return by_number(scripts::counting_semaphore_add, what);
}

request_reply read_request(script_reply const& reply) {
    return {reply.integer(0) == 1, reply.integer(1) == 1, reply.integer(2) == 1};
}

call drain(request const& what) {
    call sent{scripts::counting_semaphore_drain, what.timeout};
    sent.key_of(what.on).key(mark_of(what.on, what.id)).arg(what.kept.count());
    return sent;
}

call read(target const& on, nanoseconds timeout) {
    call sent{scripts::counted_read, timeout};
    sent.key_of(on);
    return sent;
}

std::optional<std::int64_t> read_number(target const& on, script_reply const& reply) {
    auto const number = reply.integer(1);
    bool const wrong = reply.integer(0) != 1 || (is_latch(on) && number < 0);
    return wrong ? std::nullopt : std::optional{number};
}

call attempt(target const& on, holder_id const& id, nanoseconds timeout) {
    if (is_latch(on)) {
        return read(on, timeout);
    }
    call sent{scripts::counting_semaphore_acquire, timeout};
    sent.key_of(on).key(mark_of(on, id)).arg(std::int64_t{on.permits}).arg(taken_for.count());
    return sent;
}

std::optional<bool> read_attempt(target const& on, script_reply const& reply) {
    if (is_latch(on)) {
        auto const left = read_number(on, reply);
        return left ? std::optional{*left == 0} : std::nullopt;
    }
    switch (reply.integer(0, 2)) {
        case 0: return false;
        case 1: return true;
        default: return std::nullopt;
    }
}

bool takes(target const& on) noexcept {
    return !is_latch(on);
}

call withdraw(target const& on, holder_id const& id, nanoseconds timeout) {
    auto sent = changing(scripts::counting_semaphore_withdraw, on, id, timeout);
    sent.arg(std::int64_t{on.permits}).arg(withdrawn_for.count());
    return sent;
}

request_reply read_withdrawal(script_reply const& reply) {
    bool const given_back = reply.integer(0) == 1;
    return {true, given_back, !given_back || reply.integer(1) == 1};
}

call forget(std::span<answered const> all, nanoseconds timeout) {
    call sent{scripts::counted_forget, timeout};
    sent.reserve(all.size(), 96 * all.size());
    for (auto const& one : all) {
        sent.key(mark_of(*one.on, one.id));
    }
    return sent;
}

}  // namespace counted
}  // namespace holdfast::detail
