#include "core/lease_fsm.hpp"

#include <algorithm>

namespace holdfast::detail {

namespace {

lease_fsm::step sleep_step(time_point until) noexcept {
    return {lease_fsm::step_kind::sleep, until, until};
}

time_point hold_end(lease_terms const& terms, time_point from) noexcept {
    // mutant: max-hold-ignored
    return terms.max_hold > nanos{0} ? saturating_add(from, terms.max_hold) : time_point::max();
}

}  // namespace

lease_fsm::grant lease_fsm::grant::by_request(
    lease_terms const& terms,
    time_point sent_at,
    time_point at
) noexcept {
    return {
        sent_at + terms.lease - terms.drift,
        sent_at + terms.renew_every(),
        terms.loss_margin,
        at,
    };
}

lease_fsm::grant lease_fsm::grant::within(
    lease_terms const& terms,
    time_point sent_at,
    time_point end,
    time_point at
) noexcept {
    auto const own = by_request(terms, at, at);
    return own.deadline <= end ? own : until(terms, end, sent_at + terms.renew_every(), at);
}

lease_fsm::grant lease_fsm::grant::until(
    lease_terms const& terms,
    time_point end,
    time_point renew_at,
    time_point at
) noexcept {
    auto const margin = terms.margin_within(end - at);
    return {end, std::min(renew_at, at + (end - at - margin) / 2), margin, at};
}

lease_fsm::lease_fsm(lease_terms const& terms, grant const& by) noexcept
    : terms_{terms},
      deadline_{by.deadline},
      renew_at_{by.renew_at},
      hold_until_{hold_end(terms, by.at)},
      loss_margin_{by.loss_margin},
      confirmed_{by.confirmed} {}

time_point lease_fsm::stop_time() const noexcept {
    // mutant: told-without-notification
    return std::min(deadline_ - loss_margin_, hold_until_);
}

// About 2 % of a usual lease: so much sooner is its next renewal.
nanos lease_fsm::most_early() const noexcept {
    bool const regular = state_ == lease_state::held && !tried_ && confirmed_;
    return regular ? terms_.renew_every() / 16 : nanos{0};
}

void lease_fsm::lose(loss_reason reason, time_point now) noexcept {
    state_ = lease_state::lost;
    loss_ = reason;
    switch (reason) {
        case loss_reason::taken:
        case loss_reason::deleted:
        case loss_reason::client_stopped:
        case loss_reason::failed_over:
            // The server has given the lock up, or is about to.
            deadline_ = std::min(deadline_, now);
            break;
        default: break;
    }
}

lease_state lease_fsm::look(time_point now) noexcept {
    bool const alive = state_ == lease_state::held || state_ == lease_state::in_doubt;
    if (alive && now >= stop_time()) {
        if (hold_until_ <= deadline_ - loss_margin_) {
            lose(loss_reason::max_hold, now);
        } else if (terms_.renew && used_up() && confirmed_) {
            lose(loss_reason::max_renewals, now);
        } else if (tried_ || (terms_.renew && state_ == lease_state::in_doubt)) {
            lose(loss_reason::unreachable, now);
        } else {
            lose(loss_reason::expired, now);
        }
    }
    return state_;
}

// Where renewals are limited, only those that the terms ask for move the deadline: the time of the
// last one follows from it.
time_point lease_fsm::own_renewal_at() const noexcept {
    return deadline_ - (terms_.lease - terms_.drift) + terms_.renew_after;
}

// Others are the client's doing: after a reconnection, or because the kind of lock needs them.
bool lease_fsm::asked_by_terms(time_point sent_at) const noexcept {
    if (!terms_.limits_renewals()) {
        return true;
    }
    return renews() && sent_at >= own_renewal_at() - terms_.renew_every() / 16;
}

lease_fsm::step lease_fsm::next(time_point now) noexcept {
    auto const state = look(now);
    if (state != lease_state::held && state != lease_state::in_doubt) {
        return {step_kind::finish};
    }
    // Some kinds of locks have to be kept by renewals that give the lease no more time.
    bool const needs_renewals = renews() || terms_.renew_within < terms_.renew_after;
    // Without a connection the next one is the reason to renew.
    if ((!needs_renewals && confirmed_) || !connected_) {
        return sleep_step(stop_time());
    }
    auto const from = renew_at_ - most_early();
    if (now < from) {
        return {step_kind::sleep, std::min(renew_at_, stop_time()), std::min(from, stop_time())};
    }
    return in_flight_ ? sleep_step(stop_time()) : step{step_kind::renew};
}

lease_fsm::step lease_fsm::watch(time_point now) noexcept {
    auto const state = look(now);
    if (state != lease_state::held && state != lease_state::in_doubt) {
        return {step_kind::finish};
    }
    return sleep_step(stop_time());
}

void lease_fsm::on_renewal_sent(time_point now) noexcept {
    in_flight_ = true;
    tried_ = true;
    renew_at_ = now + terms_.renew_every();
}

bool lease_fsm::on_renewed(renewal const& what, time_point now) noexcept {
    in_flight_ = false;
    auto const state = look(now);
    // mutant: loss-is-not-final
    if (state != lease_state::held && state != lease_state::in_doubt) {
        return false;
    }
    bool const slept_to_the_end = confirmed_ && used_up();
    tried_ = false;
    state_ = lease_state::held;
    if (what.by == renewed_by::holder) {
        renewals_ = 0;
    } else if (what.by == renewed_by::keep_alive && confirmed_) {
        if (!asked_by_terms(what.sent_at)) {
            return on_kept(what.sent_at);
        }
        ++renewals_;
    }
    terms_ = what.terms.limited_as(terms_);
    // With nothing to do but to wait for this answer, the keep-alive sleeps until the end.
    bool const overslept = now >= renew_at_ || (slept_to_the_end && !used_up());
    // mutant: renewed-deadline-from-the-answer
    deadline_ =
        std::max(deadline_, std::min(what.sent_at + terms_.lease - terms_.drift, what.until));
    loss_margin_ = terms_.loss_margin;
    confirmed_ = true;
    renew_at_ = std::max(renew_at_, what.sent_at + terms_.renew_every());
    return overslept;
}

// The next renewal that the terms ask for is due when it was before.
bool lease_fsm::on_kept(time_point sent_at) noexcept {
    auto const next = sent_at + terms_.renew_every();
    renew_at_ = renews() ? std::min(own_renewal_at(), next) : next;
    return renew_at_ < next;
}

void lease_fsm::on_not_ours(loss_reason reason, time_point now) noexcept {
    in_flight_ = false;
    auto const state = look(now);
    // mutant: definite-loss-swallowed
    if (state == lease_state::held || state == lease_state::in_doubt) {
        lose(reason, now);
    }
}

void lease_fsm::on_renewal_failed(nanos retry_after, time_point now) noexcept {
    in_flight_ = false;
    tried_ = true;
    // mutant: extended-by-an-unknown-renewal
    renew_at_ = now + retry_after;
    if (look(now) == lease_state::held) {
        // mutant: lost-at-the-first-error
        state_ = lease_state::in_doubt;
    }
}

void lease_fsm::on_disconnected(time_point now) noexcept {
    connected_ = false;
    if (look(now) == lease_state::held) {
        state_ = lease_state::in_doubt;
    }
}

void lease_fsm::on_connected(nanos delay, time_point now) noexcept {
    connected_ = true;
    if (look(now) == lease_state::in_doubt) {
        renew_at_ = std::min(renew_at_, now + delay);
        // Nothing would end the doubt of a lease that is not renewed; the connection was its only
        // cause.
        if (!renews()) {
            state_ = lease_state::held;
        }
    }
}

void lease_fsm::on_failed_over(time_point now) noexcept {
    connected_ = true;
    auto const state = look(now);
    if (state == lease_state::held || state == lease_state::in_doubt) {
        state_ = lease_state::in_doubt;
        renew_at_ = std::min(renew_at_, now);
    }
}

void lease_fsm::on_verified(time_point now) noexcept {
    if (!renews() && look(now) == lease_state::in_doubt) {
        state_ = lease_state::held;
    }
}

void lease_fsm::on_client_stopped(time_point now) noexcept {
    on_not_ours(loss_reason::client_stopped, now);
}

void lease_fsm::on_new_limits(lease_terms const& limits, time_point now) noexcept {
    auto const state = look(now);
    if (state == lease_state::held || state == lease_state::in_doubt) {
        terms_ = terms_.limited_as(limits);
        hold_until_ = hold_end(terms_, now);
        renewals_ = 0;
        // A renewal that is on its way was asked for without them.
        confirmed_ = confirmed_ && !in_flight_;
    }
}

bool lease_fsm::on_release(time_point now) noexcept {
    if (look(now) == lease_state::empty) {
        return false;
    }
    state_ = lease_state::empty;
    return true;
}

void lease_fsm::on_found_lost(loss_reason reason, time_point now) noexcept {
    if (loss_ == loss_reason::none) {
        loss_ = reason;
        deadline_ = std::min(deadline_, now);
    }
}

}  // namespace holdfast::detail
