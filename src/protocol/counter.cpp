#include "protocol/counter.hpp"

#include "protocol/scripts.hpp"

#include <boost/assert.hpp>

namespace holdfast::detail {

std::string counter::mark_of(target const& on, holder_id const& id) {
    std::string key{on.done()};
    return key.append(":").append(id.view());
}

void counter::add_keys(call& to, target const& on, holder_id const& id) {
    to.key(on.lock).key(on.channel()).key(mark_of(on, id));
}

call counter::try_set(request const& what) const {
    call sent{scripts::counter_try_set, what.timeout};
    add_keys(sent, what.on, what.id);
    sent.arg(what.number).arg(message_of(what.number)).arg(what.kept.count());
    return sent;
}

counter::request_reply counter::read_request(script_reply const& reply) {
    return {reply.integer(0) == 1, reply.integer(1) == 1, reply.integer(2) == 1};
}

call counter::read(target const& on, std::chrono::nanoseconds timeout) {
    call sent{scripts::counter_read, timeout};
    sent.key(on.lock);
    return sent;
}

std::optional<std::int64_t> counter::read_number(script_reply const& reply) const {
    return reply.integer(0) == 1 ? std::optional{reply.integer(1)} : std::nullopt;
}

call counter::forget(std::span<answered const> all, std::chrono::nanoseconds timeout) {
    call sent{scripts::counter_forget, timeout};
    sent.reserve(all.size(), 96 * all.size());
    for (auto const& one : all) {
        sent.key(mark_of(*one.on, one.id));
    }
    return sent;
}

// Of leases

namespace {

call never(std::chrono::nanoseconds timeout) {
    BOOST_ASSERT_MSG(false, "a grant of this kind is no lease");
    return {scripts::counter_read, timeout};
}

}  // namespace

call counter::take_over(attempt const& what, orphan const&) const {
    return never(what.timeout);
}

call counter::renew(renewal const& what) const {
    return never(what.timeout);
}

renew_reply counter::read_renew(script_reply const&) const {
    return {loss_reason::deleted, {}};
}

call counter::renew_many(std::span<member const>, std::chrono::nanoseconds timeout) const {
    return never(timeout);
}

std::optional<loss_reason> counter::read_renew_many(script_reply const&, std::size_t) const {
    return loss_reason::deleted;
}

call counter::inspect(target const&, std::chrono::nanoseconds timeout, bool) const {
    return never(timeout);
}

lock_reading counter::read_inspect(script_reply const&) const {
    return {};
}

call counter::force_release(target const&, std::chrono::nanoseconds timeout, millis) const {
    return never(timeout);
}

force_release_reply counter::read_force_release(script_reply const&) const {
    return {};
}

}  // namespace holdfast::detail
