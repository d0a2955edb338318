#include "protocol/counting_semaphore.hpp"

#include "protocol/derived_keys.hpp"
#include "protocol/scripts.hpp"

namespace holdfast::detail {

namespace {

// The mark of an attempt that has taken permits. It is repeated and withdrawn for a day at most,
// however long the connection is away.
constexpr std::chrono::milliseconds taken_for = std::chrono::hours{25};
// The mark of one that was withdrawn. What was sent before can hardly be under way for longer.
constexpr std::chrono::milliseconds withdrawn_for = std::chrono::minutes{10};

}  // namespace

call counting_semaphore_protocol_type::acquire(attempt const& what) const {
    call sent{scripts::counting_semaphore_acquire, what.timeout};
    sent.key_of(what.on)
        .key(mark_of(what.on, what.id))
        .arg(std::int64_t{what.on.permits})
        .arg(taken_for.count());
    return sent;
}

attempt_reply counting_semaphore_protocol_type::read_acquire(script_reply const& reply) const {
    using kind = attempt_reply::kind;
    attempt_reply read;
    switch (reply.integer(0, 2)) {
        case 0: read.what = kind::busy; break;
        case 1: read.what = kind::granted; break;
        default: break;
    }
    return read;
}

call counting_semaphore_protocol_type::release(parting const& what) const {
    call sent{scripts::counting_semaphore_withdraw, what.timeout};
    add_keys(sent, what.on, what.id);
    sent.arg(std::int64_t{what.on.permits}).arg(withdrawn_for.count());
    return sent;
}

release_reply counting_semaphore_protocol_type::read_release(script_reply const& reply) const {
    bool const given_back = reply.integer(0) == 1;
    return {
        given_back ? loss_reason::none : loss_reason::deleted,
        !given_back || reply.integer(1) == 1,
        std::nullopt,
        false,
    };
}

call counting_semaphore_protocol_type::add(request const& what) {
    call sent{scripts::counting_semaphore_add, what.timeout};
    add_keys(sent, what.on, what.id);
    sent.arg(what.number).arg(what.kept.count());
    return sent;
}

call counting_semaphore_protocol_type::drain(request const& what) {
    call sent{scripts::counting_semaphore_drain, what.timeout};
    sent.key_of(what.on).key(mark_of(what.on, what.id)).arg(what.kept.count());
    return sent;
}

std::string counting_semaphore_protocol_type::message_of(std::int64_t number) const {
    return std::to_string(number);
}

counting_semaphore_protocol_type const& counting_semaphore_protocol() noexcept {
    static counting_semaphore_protocol_type const instance;
    return instance;
}

target make_counting_semaphore_target(std::string_view prefix, std::string_view name) {
    return make_target(
        counting_semaphore_protocol(),
        target_kind::counting_semaphore,
        prefix,
        name,
        {beginning::done, beginning::semaphore_channel, "", ""}
    );
}

}  // namespace holdfast::detail
