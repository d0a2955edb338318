#include "protocol/latch.hpp"

#include "protocol/derived_keys.hpp"
#include "protocol/scripts.hpp"

#include <utility>

namespace holdfast::detail {

call latch_protocol_type::acquire(attempt const& what) const {
    return read(what.on, what.timeout);
}

attempt_reply latch_protocol_type::read_acquire(script_reply const& reply) const {
    attempt_reply read;
    if (auto const left = read_number(reply)) {
        read.what = *left == 0 ? attempt_reply::kind::granted : attempt_reply::kind::busy;
    }
    return read;
}

// Nothing was taken: it is not used.
call latch_protocol_type::release(parting const& what) const {
    return read(what.on, what.timeout);
}

release_reply latch_protocol_type::read_release(script_reply const&) const {
    return {loss_reason::deleted, true, std::nullopt, false};
}

std::optional<std::int64_t> latch_protocol_type::read_number(script_reply const& reply) const {
    auto const left = counted::read_number(reply);
    return left && *left < 0 ? std::nullopt : left;
}

call latch_protocol_type::count_down(request const& what) {
    call sent{scripts::latch_count_down, what.timeout};
    add_keys(sent, what.on, what.id);
    sent.arg(what.number).arg(what.kept.count());
    return sent;
}

// `0` says that the latch is open, `1` that it was set.
std::string latch_protocol_type::message_of(std::int64_t) const {
    return "1";
}

latch_protocol_type const& latch_protocol() noexcept {
    static latch_protocol_type const instance;
    return instance;
}

target make_latch_target(std::string_view prefix, std::string_view name, bool in_one_slot) {
    auto made = make_target(
        latch_protocol(),
        target_kind::latch,
        prefix,
        name,
        {beginning::done, "", "", ""}
    );
    if (made.valid()) {
        std::string channel{beginning::latch_channel};
        if (in_one_slot && made.lock.find('{') != std::string::npos) {
            // With more braces it would be in another slot. No Java client has it there.
            channel += made.lock;
        } else {
            // Redisson puts the name in braces here also if it has some.
            channel += "{" + made.lock + "}";
        }
        made.parts = joined_texts{{std::string{made.done()}, std::move(channel)}};
    }
    return made;
}

}  // namespace holdfast::detail
