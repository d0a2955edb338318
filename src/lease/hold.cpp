#include "lease/hold.hpp"

#include "lease/shared_hold.hpp"
#include "lease/tenure.hpp"
#include "protocol/primitive.hpp"

#include <utility>

namespace holdfast::detail {

hold::hold(
    std::shared_ptr<client_context> client,
    std::shared_ptr<target const> on,
    holder_id const& id,
    hold_fsm const& fsm,
    bool shared
)
    : client_{std::move(client)},
      target_{std::move(on)},
      number_{id.number()},
      fsm_{fsm},
      shared_{shared} {}

// What they are told ends none of them before this has returned.
template <class F>
void hold::for_each_tenure(F f) const {
    if (shared_) {
        static_cast<shared_hold const&>(*this).for_each(f);
    } else if (tenure_) {
        f(*tenure_);
    }
}

void hold::renew(std::shared_ptr<tenure> asking, std::function<void(error_code)> done) {
    client_->on_strand(
        [self = shared_from_this(), asking = std::move(asking), done = std::move(done)]() mutable {
            self->send_renewal(asking, std::move(done));
        }
    );
}

bool hold::may_renew(tenure const& asking, time_point now) const {
    return has(&asking) && asking.alive(now);
}

hold::request hold::request::of(std::shared_ptr<tenure> asking, time_point sent_at) {
    auto const terms = renewed_terms(
        asking->over().client().settings(),
        asking->terms(),
        sent_at - asking->since()
    );
    return {std::move(asking), sent_at, terms};
}

void hold::send_renewal(
    std::shared_ptr<tenure> const& asking,
    std::function<void(error_code)> done
) {
    // It may have been released or lost since.
    if (!may_renew(*asking)) {
        if (done) {
            done(errc::lease_lost);
        }
        return;
    }
    auto what = request::of(asking, lease_clock::now());
    if (done) {
        what.by = lease_fsm::renewed_by::holder;
    }
    client_->exec_confirmed(
        target_->speaks->renew({
            .on = *target_,
            .id = id(),
            .lease = lease_to_ask(what),
            .timeout = what.terms.request_timeout,
        }),
        [self = shared_from_this(), what, done](exec_result result) {
            self->renewed_alone_ = result.status == exec_status::failed;
            auto const ec = self->on_result(what, result);
            if (done) {
                done(ec);
            }
        }
    );
}

error_code hold::on_result(request const& what, exec_result const& result) {
    if (result.status == exec_status::replied || result.status == exec_status::unconfirmed) {
        auto const reply = target_->speaks->read_renew(result.reply);
        if (!reply.notified) {
            client_->on_not_notified(*target_);
        }
        auto const lost = reply.lost;
        // What is not ours any more needs no replica to say so.
        if (result.status == exec_status::replied || lost != loss_reason::none) {
            return on_answered(what, lost);
        }
    }
    // A value of another kind under the key: our lock was overwritten.
    if (result.status == exec_status::failed && result.error == errc::corrupt_state) {
        return on_answered(what, loss_reason::deleted);
    }
    return on_failed(what, result.error);
}

error_code hold::on_answered(request const& what, loss_reason lost) {
    if (!is_linked() || fsm_.lost()) {
        return errc::lease_lost;
    }
    if (lost != loss_reason::none) {
        lose(lost);
        return errc::lease_lost;
    }
    if (!what.renews) {
        fsm_.on_verified(what.sent_at);
        for_each_tenure([](tenure& one) { one.on_verified(); });
        return {};
    }
    renewed_alone_ = false;
    client_->count().renewals.add();
    client_->tell_observer([&](observer& told) {
        auto const& of = what.asking ? what.asking : tenure_;
        told.on_renewal(
            {target_->lock, of ? of->token() : fencing_token{}},
            lease_clock::now() - what.sent_at
        );
    });
    auto const until = what.sent_at + what.terms.lease - what.terms.drift;
    fsm_.on_confirmed({what.sent_at, until});
    if (has(what.asking.get())) {
        what.asking->on_renewed({what.terms, what.sent_at, until, what.by});
    }
    return {};
}

void hold::lose(loss_reason lost) {
    auto const reason = reason_of(lost);
    fsm_.on_lost();
    for_each_tenure([reason](tenure& one) { one.on_not_ours(reason); });
}

error_code hold::on_failed(request const& what, error_code cause) {
    if (!is_linked()) {
        return errc::lease_lost;
    }
    fsm_.on_doubt(what.sent_at);
    if (what.renews && has(what.asking.get())) {
        client_->count().failed_renewals.add();
        what.asking->on_renewal_failed();
    }
    return cause ? cause : make_error_code(errc::unreachable);
}

lease_terms hold::terms_for(lease_terms const& wanted) const noexcept {
    if (!wanted.learned) {
        return wanted;
    }
    return learned_terms(
        client_->settings(),
        wanted,
        client_->learns() ? usual_.expected() : nanos{0}
    );
}

void hold::refill(
    lease_terms const& terms,
    bool renews,
    successors::waiters const& local,
    std::function<void(error_code)> done
) {
    auto const& settings = client_->settings();
    auto const tokens = hold_fsm::tokens_for(local.count);
    request what{
        tenure_,
        lease_clock::now(),
        terms,
        renews,
        lease_fsm::renewed_by::client,
    };
    primitive::renewal asked{
        .on = *target_,
        .id = id(),
        .lease = lease_to_ask(what),
        .timeout = terms.request_timeout,
        .tokens = tokens,
        .counter_ttl = settings.fence_ttl,
    };
    // A learned lease may be shorter than what another server is asked for.
    bool const learns = terms.learned && client_->learns() && !of_another_server();
    if (learns) {
        // The server may know better.
        asked.lease = renews ? settings.lease : millis{0};
        on_asked(asked.lease);
        asked.learned = {shortest_learned_lease(settings), usual_holds_in_a_lease(terms)};
        asked.held = usual_.take();
    }
    auto sent = target_->speaks->renew(asked);
    if (learns) {
        sent.may_be_forbidden();
    }
    client_->exec_confirmed(
        std::move(sent),
        [self = shared_from_this(), what, tokens, queued = local.queued, learns, done](
            exec_result result
        ) mutable {
            // The tokens come first: a tenure that is told of the time may pass the hold on.
            self->on_refill_answered(result, tokens, queued);
            if (learns) {
                self->on_learned(what, result);
            }
            done(self->on_result(what, result));
        }
    );
    fsm_.on_refill_sent(what.sent_at);
}

void hold::on_learned(request& what, exec_result const& result) {
    if (result.status == exec_status::failed && result.error == errc::no_permission) {
        client_->deny_learning();
    }
    if (result.status != exec_status::replied) {
        return;
    }
    auto const learned = target_->speaks->read_renew(result.reply).learned;
    usual_.on_told(learned.usual_hold);
    if (learned.lease > millis{0}) {
        what.terms = terms_with(client_->settings(), what.terms, learned.lease);
    }
}

void hold::on_refill_answered(exec_result const& result, std::uint32_t tokens, bool queued) {
    if (result.status != exec_status::replied) {
        fsm_.on_refill_failed();
        return;
    }
    auto const reply = target_->speaks->read_renew(result.reply);
    fsm_.on_refilled(
        {reply.token, reply.token.value == 0 ? 0 : tokens},
        // Not this client's own place.
        reply.waiting - (queued && reply.waiting > 0 ? 1U : 0U),
        reply.others
    );
}

void hold::on_disconnected() {
    fsm_.on_doubt(lease_clock::now());
    for_each_tenure([](tenure& one) { one.on_disconnected(); });
}

void hold::verify_if_unconfirmed() {
    if (!tenure_ || !of_another_server()) {
        return;
    }
    bool wanted = false;
    for_each_tenure([&](tenure& one) { wanted = wanted || one.alive(); });
    if (wanted) {
        verify();
    }
}

bool hold::of_another_server() const noexcept {
    auto const verified_at = fsm_.verified_at();
    return verified_at == time_point::min() ||
           verified_at < client_->server(*target_).identity.changed_at();
}

loss_reason hold::reason_of(loss_reason lost) const noexcept {
    // mutant: failover-told-as-a-deletion
    return lost == loss_reason::deleted && of_another_server() ? loss_reason::failed_over : lost;
}

void hold::on_connected(nanos delay) {
    if (!of_another_server()) {
        for_each_tenure([delay](tenure& one) { one.on_connected(delay); });
        return;
    }
    bool needs_question = false;
    for_each_tenure([&](tenure& one) { needs_question = one.on_failed_over() || needs_question; });
    if (needs_question) {
        verify();
    }
}

// Another server may have lost an extension: it is asked for all that is believed to be left, which
// makes nothing shorter.
millis hold::lease_to_ask(request const& what) {
    auto asked = what.renews ? what.terms.lease : millis{0};
    if (of_another_server() && !fsm_.lost()) {
        auto end = fsm_.confirmed().until;
        if (what.asking) {
            end = std::max(end, what.asking->deadline());
        }
        asked = std::max(asked, lease_for(client_->settings(), end - what.sent_at));
    }
    on_asked(asked);
    return asked;
}

// Nothing else would ask whether a lease that is not renewed is still ours.
void hold::verify() {
    request what{tenure_, lease_clock::now(), tenure_->terms(), false};
    client_->exec(
        target_->speaks->renew({
            .on = *target_,
            .id = id(),
            .lease = lease_to_ask(what),
            .timeout = what.terms.request_timeout,
        }),
        [self = shared_from_this(), what](exec_result result) {
            static_cast<void>(self->on_result(what, result));
        }
    );
}

void hold::on_taken(std::shared_ptr<tenure> next) {
    if (shared_) {
        static_cast<shared_hold&>(*this).add(next);
    }
    tenure_ = std::move(next);
}

std::shared_ptr<tenure> hold::on_vacated(tenure const& which) noexcept {
    if (!shared_) {
        return tenure_.get() == &which ? std::exchange(tenure_, {}) : nullptr;
    }
    auto& sharers = static_cast<shared_hold&>(*this);
    auto gone = sharers.remove(which);
    if (tenure_ == gone) {
        tenure_ = sharers.any();
    }
    return gone;
}

time_point hold::held_since(time_point now) const noexcept {
    auto oldest = time_point::max();
    for_each_tenure([&](tenure const& each) {
        oldest = each.alive(now) ? std::min(oldest, each.since()) : oldest;
    });
    return oldest;
}

bool hold::has(tenure const* which) const noexcept {
    return which && (shared_ ? static_cast<shared_hold const&>(*this).contains(*which)
                             : tenure_.get() == which);
}

}  // namespace holdfast::detail
