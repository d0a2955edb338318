#include "core/multi_acquire_fsm.hpp"

namespace holdfast::detail {

multi_acquire_fsm::action multi_acquire_fsm::finish(error_code cause) noexcept {
    done_ = true;
    return {step::finish, 0, cause};
}

multi_acquire_fsm::action multi_acquire_fsm::abort() noexcept {
    done_ = true;
    return {step::abort};
}

multi_acquire_fsm::action multi_acquire_fsm::deliver() noexcept {
    done_ = true;
    return {step::deliver, kept_};
}

// With those that are kept.
multi_acquire_fsm::action multi_acquire_fsm::go_on() noexcept {
    if (kept_ == members_ && limits_) {
        limiting_ = true;
        return {step::limit, kept_};
    }
    if (kept_ == members_) {
        return deliver();
    }
    return cancelled_ ? abort() : action{step::take, kept_};
}

multi_acquire_fsm::action multi_acquire_fsm::start(bool together) noexcept {
    return together ? action{step::together} : action{step::take};
}

multi_acquire_fsm::action multi_acquire_fsm::on_together(
    std::size_t held,
    bool busy,
    error_code cause
) noexcept {
    if (done_) {
        return {};
    }
    kept_ = held;
    busy_ = busy;
    if (held == members_ || cancelled_) {
        return go_on();
    }
    if (cause && !is_retryable(cause)) {
        return finish(cause);
    }
    if (patience_ == patience::one_attempt || overdue_) {
        return finish(busy ? error_code{} : cause);
    }
    return go_on();
}

multi_acquire_fsm::action multi_acquire_fsm::on_taken(std::size_t held) noexcept {
    if (done_) {
        return {};
    }
    kept_ = held;
    return go_on();
}

multi_acquire_fsm::action multi_acquire_fsm::on_limited(std::size_t held) noexcept {
    if (done_) {
        return {};
    }
    return held == members_ ? deliver() : take_again(0, errc::unreachable);
}

// One attempt takes each lock once, and so does an operation whose time is up.
multi_acquire_fsm::action multi_acquire_fsm::take_again(
    std::size_t kept,
    error_code cause
) noexcept {
    limiting_ = false;
    if (!cancelled_ && (patience_ == patience::one_attempt || overdue_)) {
        return finish(busy_ ? error_code{} : cause);
    }
    kept_ = kept;
    return go_on();
}

// Time that has passed in silence ends as busy if one of the members was. A member that may not
// wait has not been silent.
multi_acquire_fsm::action multi_acquire_fsm::on_refused(error_code cause) noexcept {
    if (done_) {
        return {};
    }
    bool const silent =
        patience_ == patience::limited && is_retryable(cause) && cause != errc::too_many_waiters;
    return finish(busy_ && silent ? error_code{} : cause);
}

multi_acquire_fsm::action multi_acquire_fsm::on_lost(
    std::size_t member,
    error_code cause
) noexcept {
    if (done_ || member >= kept_) {
        return {};
    }
    return take_again(limiting_ ? 0 : member, cause);
}

multi_acquire_fsm::action multi_acquire_fsm::on_time_up(bool reachable) noexcept {
    if (done_) {
        return {};
    }
    if (cancelled_) {
        return abort();
    }
    if (reachable && !overdue_ && (!busy_ || limiting_)) {
        overdue_ = true;
        return {};
    }
    return finish(busy_ ? error_code{} : make_error_code(errc::unreachable));
}

multi_acquire_fsm::action multi_acquire_fsm::on_cancel(cancel_request how) noexcept {
    if (done_) {
        return {};
    }
    if (how == cancel_request::at_once) {
        return abort();
    }
    // What is under way says how it ends.
    cancelled_ = true;
    return {};
}

multi_acquire_fsm::action multi_acquire_fsm::on_ended(error_code cause) noexcept {
    return done_ ? action{} : finish(cause);
}

}  // namespace holdfast::detail
