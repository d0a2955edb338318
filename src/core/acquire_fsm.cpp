#include "core/acquire_fsm.hpp"

namespace holdfast::detail {

acquire_fsm::verdict acquire_fsm::finish(verdict_kind how, error_code error) noexcept {
    done_ = true;
    // mutant: cancelled-attempt-not-withdrawn
    return {how, error, in_flight_ || unsure_};
}

void acquire_fsm::on_attempt_sent(time_point usable_until) noexcept {
    in_flight_ = true;
    usable_until_ = usable_until;
}

attempt_answer acquire_fsm::judge(attempt_answer answer, time_point now) const noexcept {
    bool const late = answer == attempt_answer::granted && now >= usable_until_;
    return late ? attempt_answer::unknown : answer;
}

acquire_fsm::verdict acquire_fsm::on_answer(attempt_answer answer, error_code cause) noexcept {
    if (done_) {
        return {};  // it was withdrawn when it ended
    }
    in_flight_ = false;
    // mutant: grant-dropped-after-total-cancellation
    if (answer == attempt_answer::granted) {
        done_ = true;
        return {verdict_kind::deliver, {}, false};
    }
    bool const unconfirmed = answer == attempt_answer::unconfirmed;
    unsure_ = unsure_ || unconfirmed;
    unsure_ = unsure_ || answer == attempt_answer::unknown;
    cause_ = cause;
    if (cancelled_) {
        return finish(verdict_kind::abort, {});
    }
    // The same cause would keep the next attempt from being confirmed.
    if (answer == attempt_answer::failed || (unconfirmed && !is_retryable(cause))) {
        return finish(verdict_kind::finish, cause);
    }
    bool const last = patience_ == patience::one_attempt || overdue_;
    if (!last || answer == attempt_answer::not_sent) {
        return {};
    }
    if (answer == attempt_answer::busy) {
        return finish(verdict_kind::finish, {});
    }
    return finish(verdict_kind::finish, cause ? cause : make_error_code(errc::unreachable));
}

acquire_fsm::verdict acquire_fsm::on_cancel(cancel_request how) noexcept {
    if (done_) {
        return {};
    }
    if (in_flight_ && how == cancel_request::after_the_reply) {
        cancelled_ = true;
        return {};
    }
    return finish(verdict_kind::abort, {});
}

acquire_fsm::verdict acquire_fsm::on_time_up(bool busy, bool reachable, error_code cause) noexcept {
    if (done_) {
        return {};
    }
    if (cancelled_) {
        return finish(verdict_kind::abort, {});
    }
    if (busy) {
        return finish(verdict_kind::finish, {});
    }
    if (reachable && !overdue_) {
        overdue_ = true;
        return {};
    }
    if (cause_) {
        return finish(verdict_kind::finish, cause_);
    }
    return finish(verdict_kind::finish, cause ? cause : make_error_code(errc::unreachable));
}

acquire_fsm::verdict acquire_fsm::on_joined() noexcept {
    if (done_) {
        return {};
    }
    done_ = true;
    return {verdict_kind::deliver, {}, in_flight_ || unsure_};
}

acquire_fsm::verdict acquire_fsm::on_ended(error_code cause) noexcept {
    return done_ ? verdict{} : finish(verdict_kind::finish, cause);
}

}  // namespace holdfast::detail
