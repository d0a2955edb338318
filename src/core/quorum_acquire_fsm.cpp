#include "core/quorum_acquire_fsm.hpp"

namespace holdfast::detail {

quorum_acquire_fsm::action quorum_acquire_fsm::finish(error_code cause) noexcept {
    done_ = true;
    return {step::finish, cause};
}

quorum_acquire_fsm::action quorum_acquire_fsm::abort() noexcept {
    done_ = true;
    return {step::abort};
}

quorum_acquire_fsm::action quorum_acquire_fsm::on_verdict(
    quorum_tally::verdict what,
    error_code cause,
    bool sent,
    time_point give_up_at,
    time_point now
) noexcept {
    using verdict = quorum_tally::verdict;
    if (done_ || what == verdict::open || what == verdict::write_back) {
        return {};
    }
    in_round_ = false;
    if (what == verdict::granted) {
        done_ = true;
        return {step::deliver};
    }
    if (cancelled_) {
        return abort();
    }
    if (what == verdict::failed) {
        return finish(cause);
    }
    why_not_ = cause ? cause : make_error_code(errc::quorum_not_reached);
    bool const last = patience_ == patience::one_attempt || overdue_;
    bool const waits_for_connections = !sent && !overdue_ && now < give_up_at;
    if (!last || waits_for_connections) {
        return {step::retry};
    }
    return finish(what == verdict::busy ? error_code{} : why_not_);
}

quorum_acquire_fsm::action quorum_acquire_fsm::on_time_up(bool busy, bool reachable) noexcept {
    if (done_) {
        return {};
    }
    if (cancelled_) {
        return abort();
    }
    if (!busy && reachable && !overdue_) {
        overdue_ = true;
        return {};
    }
    return finish(busy ? error_code{} : why_not_);
}

quorum_acquire_fsm::action quorum_acquire_fsm::on_cancel(cancel_request how) noexcept {
    if (done_) {
        return {};
    }
    if (in_round_ && how == cancel_request::after_the_reply) {
        cancelled_ = true;
        return {};
    }
    return abort();
}

quorum_acquire_fsm::action quorum_acquire_fsm::on_ended(error_code cause) noexcept {
    return done_ ? action{} : finish(cause);
}

}  // namespace holdfast::detail
