#include "protocol/counted.hpp"

#include "protocol/scripts.hpp"

#include <boost/assert.hpp>

namespace holdfast::detail {

std::string counted::mark_of(target const& on, holder_id const& id) {
    std::string key{on.done()};
    return key.append(":").append(id.view());
}

void counted::add_keys(call& to, target const& on, holder_id const& id) {
    to.key_of(on).key(on.channel()).key(mark_of(on, id));
}

call counted::try_set(request const& what) const {
    call sent{scripts::counted_try_set, what.timeout};
    add_keys(sent, what.on, what.id);
    sent.arg(what.number).arg(message_of(what.number)).arg(what.kept.count());
    return sent;
}

counted::request_reply counted::read_request(script_reply const& reply) {
    return {reply.integer(0) == 1, reply.integer(1) == 1, reply.integer(2) == 1};
}

call counted::read(target const& on, std::chrono::nanoseconds timeout) {
    call sent{scripts::counted_read, timeout};
    sent.key_of(on);
    return sent;
}

std::optional<std::int64_t> counted::read_number(script_reply const& reply) const {
    return reply.integer(0) == 1 ? std::optional{reply.integer(1)} : std::nullopt;
}

call counted::forget(std::span<answered const> all, std::chrono::nanoseconds timeout) {
    call sent{scripts::counted_forget, timeout};
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
    return {scripts::counted_read, timeout};
}

}  // namespace

call counted::renew(renewal const& what) const {
    return never(what.timeout);
}

renew_reply counted::read_renew(script_reply const&) const {
    return {loss_reason::deleted, {}};
}

call counted::renew_many(std::span<member const>, std::chrono::nanoseconds timeout) const {
    return never(timeout);
}

std::optional<loss_reason> counted::read_renew_many(script_reply const&, std::size_t) const {
    return loss_reason::deleted;
}

call counted::inspect(target const&, std::chrono::nanoseconds timeout, bool) const {
    return never(timeout);
}

lock_reading counted::read_inspect(script_reply const&) const {
    return {};
}

call counted::force_release(target const&, std::chrono::nanoseconds timeout, millis) const {
    return never(timeout);
}

force_release_reply counted::read_force_release(script_reply const&) const {
    return {};
}

}  // namespace holdfast::detail
