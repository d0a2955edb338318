#include "core/multi_acquire_fsm.hpp"

#include <utility>

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
    busy_ = false;
    return go_on();
}

multi_acquire_fsm::action multi_acquire_fsm::on_limited(std::size_t held) noexcept {
    if (done_) {
        return {};
    }
    if (held == members_) {
        return deliver();
    }
    limiting_ = false;
    kept_ = 0;
    return go_on();
}

// Time that has passed in silence ends with the last answer there was. A member that may not wait
// has not been silent.
multi_acquire_fsm::action multi_acquire_fsm::on_refused(error_code cause) noexcept {
    if (done_) {
        return {};
    }
    bool const silent = patience_ == patience::limited && is_retryable(cause) &&
                        cause != errc::too_many_waiters;
    return finish(busy_ && silent ? error_code{} : cause);
}

multi_acquire_fsm::action multi_acquire_fsm::on_lost(std::size_t member) noexcept {
    if (done_ || member >= kept_) {
        return {};
    }
    kept_ = std::exchange(limiting_, false) ? 0 : member;
    return go_on();
}

multi_acquire_fsm::action multi_acquire_fsm::on_time_up(bool reachable) noexcept {
    if (done_) {
        return {};
    }
    if (cancelled_) {
        return abort();
    }
    if (reachable && !overdue_) {
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
