#include "core/hold_fsm.hpp"

#include <algorithm>

namespace holdfast::detail {

namespace {

// How old the answer may be to whether other clients wait.
constexpr nanos longest_ignorance = millis{10};

// What a waiter with these terms should find left of the hold. A lease whose renewals are limited
// begins with its full length: a renewal that made up for less would be one too many.
nanos wanted_time(lease_terms const& wanted) {
    return wanted.limits_renewals() ? wanted.lease - wanted.drift - just_now
                                    : nanos{wanted.lease} / 2;
}

}  // namespace

hold_fsm::step hold_fsm::next(lease_terms const& wanted, bool asked, time_point now)
    const noexcept {
    bool const run_is_over = run_ >= longest_run || now - run_began_ >= longest_run_time;
    // mutant: run-without-an-end
    if (now >= by_.until || (others_wait_ && run_is_over)) {
        return step::release;
    }
    auto const left = by_.until - now;
    // mutant: run-beyond-half-its-time
    bool const short_of_time =
        left < (by_.until - by_.sent_at) / 2 || (!asked && left < wanted_time(wanted));
    // mutant: doubt-is-not-heeded
    if (tokens_ == 0 || doubtful() || short_of_time) {
        return asked ? step::release : step::refill;
    }
    return step::hand_over;
}

bool hold_fsm::has_time_for(lease_terms const& wanted, time_point now) const noexcept {
    if (now >= by_.until) {
        return false;  // what is left of a lost one does not fit into a duration
    }
    auto const left = by_.until - now;
    auto const whole = by_.until - by_.sent_at;
    // What was granted a moment ago is as good as a grant to this holder, however long the answer
    // took.
    bool const was_granted_now =
        now - run_began_ <= just_now && whole >= wanted.lease - wanted.drift;
    return left >= whole / 2 && (was_granted_now || left >= wanted_time(wanted));
}

bool hold_fsm::is_as_long_as(lease_terms const& wanted) const noexcept {
    return by_.until - by_.sent_at >= wanted.lease - wanted.drift;
}

fencing_token hold_fsm::take_token() noexcept {
    --tokens_;
    run_ = static_cast<std::uint8_t>(std::min<std::uint32_t>(run_ + 1U, longest_run));
    // mutant: tokens-given-out-twice
    return {next_token_++};
}

bool hold_fsm::wants_refill(std::size_t waiters, time_point now) const noexcept {
    if (refilling_ || waiters == 0) {
        return false;
    }
    return unheard_ || tokens_ <= tokens_taken_ / 2 || now - asked_at_ >= longest_ignorance;
}

std::uint32_t hold_fsm::tokens_for(std::size_t waiters) noexcept {
    return static_cast<std::uint32_t>(std::min<std::size_t>(waiters + 1, most_tokens));
}

void hold_fsm::on_refill_sent(time_point now) noexcept {
    refilling_ = true;
    unheard_ = false;
    asked_at_ = now;
}

// What is left of the block before is not used: tokens may have gaps.
void hold_fsm::on_refilled(
    token_block const& block,
    std::uint64_t waiting,
    std::uint64_t others
) noexcept {
    refilling_ = false;
    next_token_ = block.first.value;
    tokens_ = bounded(block.size);
    tokens_taken_ = tokens_;
    others_wait_ = waiting > 0 || others > 0;
}

void hold_fsm::on_confirmed(confirmation const& by) noexcept {
    if (lost()) {
        return;
    }
    by_.until = std::max(by_.until, by.until);
    by_.sent_at = std::max(by_.sent_at, by.sent_at);
    on_verified(by.sent_at);
}

}  // namespace holdfast::detail
