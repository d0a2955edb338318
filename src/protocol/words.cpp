#include "protocol/words.hpp"

#include <fmt/format.h>

#include <string>

namespace holdfast::detail {

namespace {

// More than a day, in microseconds: as many digits as the scripts take for one.
constexpr std::int64_t longest_usual_hold = 99'999'999'999;

// The first value of a reply to an attempt.
constexpr std::int64_t granted_word = 1;

}  // namespace

learned_lease learned_in(script_reply const& reply, std::size_t at) {
    auto const usual = reply.integer(at + 1);
    return {
        std::chrono::milliseconds{std::max<std::int64_t>(reply.integer(at), 0)},
        std::chrono::microseconds{std::clamp<std::int64_t>(usual, 0, longest_usual_hold)},
        usual != -1,
    };
}

loss_reason why_lost(script_reply const& reply) {
    if (reply.integer(0) == 1) {
        return loss_reason::none;
    }
    return reply.integer(1) == 1 ? loss_reason::taken : loss_reason::deleted;
}

attempt_reply read_grant(script_reply const& reply) {
    attempt_reply read;
    if (reply.integer(0, -1) == granted_word) {
        read.what = attempt_reply::kind::granted;
        read.token = {unsigned_of(reply.integer(1))};
        if (reply.has(2)) {
            read.may_hand_over = reply.text(2) != "0";
            read.learned = learned_in(reply, 3);
        }
    }
    return read;
}

attempt_reply read_kept(script_reply const& reply) {
    auto read = read_grant(reply);
    if (reply.integer(0, -1) != busy_word) {
        return read;
    }
    read.what = attempt_reply::kind::busy;
    read.remaining = std::chrono::milliseconds{std::max<std::int64_t>(reply.integer(1), 0)};
    read.endless = reply.integer(2) == 1;
    read.place = place_in(reply, 3);
    return read;
}

std::optional<queue_place> place_in(script_reply const& reply, std::size_t at) {
    queue_place const place{
        unsigned_of(reply.integer(at)),
        unsigned_of(reply.integer(at + 1)),
        unsigned_of(reply.integer(at + 2)),
    };
    return place.score != 0 && place.server_time != 0 ? std::optional{place} : std::nullopt;
}

std::string words_of(former_place const& had, std::string_view none) {
    return had.score == 0 ? std::string{none}
                          : fmt::format("{} {} {}", had.score, had.age.count(), had.silent.count());
}

std::string waits_of(primitive::attempt const& what) {
    return what.window > std::chrono::milliseconds{0} ? words_of(what.had, "1") : "0";
}

void add_learning(call& to, std::optional<primitive::learning> const& what) {
    auto const how = what.value_or(primitive::learning{std::chrono::milliseconds{0}, 0});
    to.arg(how.shortest.count()).arg(how.times);
}

void add_ended_holds(call& to, usual_hold::report const& what) {
    to.arg(std::int64_t{what.count}).arg(whole_micros(what.mean));
}

std::optional<loss_reason> renewed_in(script_reply const& reply, std::size_t number) {
    auto const digits = reply.text(0);
    switch (number < digits.size() ? digits[number] : '-') {
        case '1': return loss_reason::none;
        case '0': return loss_reason::deleted;
        case '2': return loss_reason::taken;
        default: return std::nullopt;
    }
}

force_release_reply forced_in(script_reply const& reply) {
    using kind = force_release_reply::kind;
    switch (reply.integer(0, 2)) {
        case 0: return {kind::was_free, true};
        case 1: return {kind::freed, reply.integer(1) == 1};
        default: return {kind::corrupt, true};
    }
}

}  // namespace holdfast::detail
