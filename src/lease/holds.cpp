#include "lease/holds.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace holdfast::detail {

// Of a tenure that follows another one over the same hold.
lease_fsm::grant holds::times_within(hold const& of, lease_terms const& terms, time_point now) {
    auto const& by = of.fsm().confirmed();
    return lease_fsm::grant::within(terms, by.sent_at, by.until, now);
}

holds::holds(client_context& client)
    : client_{client},
      renewals_{client},
      releases_{client},
      due_{client, [this](tenure& of) { on_due(of); }} {}

lease holds::add(grant const& granted, holder const& to) {
    auto const made = make_hold(granted);
    made->usual().on_told(granted.usual_hold);
    auto given = begin_tenure(*made, granted.token, granted.times, to);
    list_shared(*made);
    if (successors_) {
        successors_->on_held(*made);
    }
    // mutant: grant-is-not-claimed
    if (!granted.times.confirmed) {
        // Before its holder learns of it: the time runs.
        refill(*made, request_reason::claim);
    }
    return given;
}

lease holds::begin_tenure(
    hold& over,
    fencing_token token,
    lease_fsm::grant const& times,
    holder const& to
) {
    auto const next = std::make_shared<tenure>(
        *this,
        over.shared_from_this(),
        token,
        lease_fsm{to.terms, times},
        times.at,
        // mutant: renewed-where-it-was-held-first
        to.executor
    );
    over.on_taken(next);
    if (!over.is_linked()) {
        holds_.push_back(over);
        over.keep();
    }
    client_.count().leases_now.add();
    // From here on, the destructor of the lease gives the lock back if something throws.
    auto given = next->make_lease();
    over.on_asked(longest_to_ask(client_.settings(), to.terms));
    owners_.on_granted(*over.on(), to.who, *next);
    look_after(*next, times);
    return given;
}

lease holds::pass_on(hold& of, holder const& to, time_point now) {
    auto const terms = of.terms_for(to.terms);
    return begin_tenure(
        of,
        of.fsm().take_token(),
        times_within(of, terms, now),
        {terms, to.who, to.executor}
    );
}

void holds::end_tenure(hold& of, tenure const& which, time_point now) noexcept {
    auto const last = of.on_vacated(which);
    if (!last) {
        return;
    }
    due_.remove(*last);
    owners_.on_forgotten(*of.on(), *last);
    client_.count().leases_now.subtract();
    client_.count().total_hold_ns.add(static_cast<std::uint64_t>((now - last->since()).count()));
    client_.tell_observer([&](observer& told) {
        told.on_release({of.on()->lock, last->token()}, now - last->since());
    });
    last->drop_executors();
}

void holds::forget(hold& of) {
    if (of.is_linked()) {
        holds_.erase(holds_.iterator_to(of));
        unlist_shared(of);
        auto const keeps = of.let_go();
        if (successors_) {
            successors_->on_gone(*of.on());
        }
    }
}

void holds::give_back(
    std::shared_ptr<tenure> of,
    time_point at,
    bool was_lost,
    std::shared_ptr<pending_handler<error_code>> caller
) {
    auto const given = of->share_hold();
    // Otherwise the hold has gone on without it, or the client has given it up.
    bool const had_it = given->has(of.get());
    if (had_it) {
        if (of->terms().learned && !was_lost) {
            given->usual().on_held(at - of->since());
        }
        end_tenure(*given, *of, at);
    }
    if (!had_it || given->current()) {
        of->on_released(loss_reason::none);
        if (caller) {
            caller->complete(was_lost ? make_error_code(errc::lease_lost) : error_code{});
        }
        return;
    }
    settle(*given, {std::move(of), was_lost, std::move(caller)}, false, lease_clock::now());
}

// The hold has no tenure at the moment. It goes to the next local waiter, or back to the server.
void holds::settle(hold& of, parting left, bool asked, time_point now) {
    auto const* const wanted =
        successors_ && client_.hands_over(*of.on()) ? successors_->next_terms(*of.on()) : nullptr;
    auto const step =
        wanted ? of.fsm().next(of.terms_for(*wanted), asked, now) : hold_fsm::step::release;
    if (step == hold_fsm::step::release) {
        release(of, std::move(left), wanted, now);
        return;
    }
    auto const keeps = of.shared_from_this();
    if (step == hold_fsm::step::refill) {
        refill(of, request_reason::idle);
    } else {
        successors_->take(of);
    }
    // The former holder had the lock until its deadline. What becomes of the hold does not change
    // what its release reports.
    if (left.of && !left.overdue) {
        left.of->on_released(loss_reason::none);
    }
    if (left.caller) {
        left.caller->complete(left.was_lost ? make_error_code(errc::lease_lost) : error_code{});
    }
    if (step == hold_fsm::step::hand_over && of.is_linked()) {
        refill_ahead(of, now);
    }
}

void holds::refill_ahead(hold& of, time_point now) {
    if (client_.hands_over(*of.on()) &&
        of.fsm().wants_refill(successors_->waiting_for(*of.on()).count, now)) {
        refill(of, request_reason::ahead);
    }
}

void holds::refill(hold& of, request_reason why) {
    if (of.fsm().refilling()) {
        return;  // its answer settles what waits for it
    }
    auto const* const wanted = successors_->next_terms(*of.on());
    auto const& current = of.current();
    if (!wanted && !current) {
        return;
    }
    auto const terms = current ? current->terms() : of.terms_for(*wanted);
    // Who has it renews it from his own executor: one that is stuck does not keep it.
    bool const renews = why != request_reason::ahead || !current;
    of.refill(
        terms,
        renews,
        successors_->waiting_for(*of.on()),
        [this, client = client_.shared_from_this(), what = of.shared_from_this(), why, renews](
            error_code ec
        ) {
            if (why == request_reason::claim && !ec) {
                client->count().claims_confirmed.add();
            }
            if (what->is_linked() && !what->current()) {
                // The first waiter may be another one by now, who wants it for longer. A learned
                // lease is as long as the server says.
                auto const* const next = successors_->next_terms(*what->on());
                bool const enough =
                    ec || !next || (renews && (next->learned || what->fsm().is_as_long_as(*next)));
                settle(*what, {}, enough, lease_clock::now());
            } else if (what->is_linked() && what->fsm().unheard()) {
                refill_ahead(*what, lease_clock::now());
            }
        }
    );
}

void holds::release(hold& of, parting left, bool wanted, time_point now) {
    auto const keeps = of.shared_from_this();
    auto const terms = release_terms(of, left, now);
    if (left.overdue) {
        left.of.reset();  // its holder may release it yet, and is told then
    }
    auto next = wanted ? successors_->next_entry(*of.on()) : std::nullopt;
    releases_.add(
        {
            .on = of.on(),
            .id = of.id(),
            .terms = terms,
            .of = std::move(left.of),
            .caller = std::move(left.caller),
            .next = std::move(next),
            .held = client_.learns() ? of.usual().take() : usual_hold::report{},
        },
        now
    );
    forget(of);
}

release_fsm::terms holds::release_terms(hold const& of, parting const& left, time_point now) const {
    auto made = left.of
                    ? release_fsm::terms::of_lease(left.of->terms(), now, left.was_lost)
                    : release_fsm::terms{{}, request_timeout_for(client_.settings(), min_lease)};
    made.until = of.kept_until(now);
    return made;
}

time_point holds::held_since(target_key const& on) const noexcept {
    auto const now = lease_clock::now();
    auto oldest = time_point::max();
    for (auto const& each : holds_) {
        // Whatever the number of permits is.
        if (each.on()->kind == on.kind && each.on()->lock == on.name) {
            oldest = std::min(oldest, each.held_since(now));
        }
    }
    return oldest;
}

bool holds::has(target const& on, holder_id const& id) const noexcept {
    auto const now = lease_clock::now();
    return std::any_of(holds_.begin(), holds_.end(), [&](hold const& each) {
        return target_key{*each.on()} == target_key{on} && each.id().view() == id.view() &&
               now < each.fsm().confirmed().until;
    });
}

// It was lost meanwhile, and others may have had the lock before it is granted to the id again. A
// promoted replica may have lost that the id has the lock, and not that it waited for it; and an
// attempt that came late may have made it a waiter once more, after the lock was released by force.
void holds::on_granted(target const& on, holder_id const& id, fencing_token token) {
    for (auto& each : holds_) {
        if (target_key{*each.on()} == target_key{on} && each.id().view() == id.view() &&
            each.current() && each.current()->token() < token) {
            auto const keeps = each.shared_from_this();
            // A message of another server may come before the connection that tells which one it
            // is.
            each.lose(client_.can_execute(on) ? loss_reason::deleted : loss_reason::failed_over);
            return;
        }
    }
}

tenure* holds::of_owner(target_key const& on, std::optional<owner> const& who) const {
    return who ? owners_.find(on, *who) : nullptr;
}

void holds::on_connected(client_context::some const& those) {
    releases_.on_connected(those);
    bool elsewhere = false;
    for (auto& each : holds_) {
        if (auto const& current = each.current(); current && those(*each.on())) {
            elsewhere = elsewhere || each.of_another_server();
            // Spread over a part of the time that is left, so that thousands of renewals do not
            // come at once. After a failover they do, a hundred in a script.
            each.on_connected(scaled(current->terms().renew_every() / 16, client_.random_part()));
        }
    }
    if (elsewhere) {
        verify_later();
    }
}

void holds::on_replaced(client_context::some const& those) {
    for (auto& each : holds_) {
        if (those(*each.on())) {
            each.on_replaced();
        }
    }
}

void holds::on_disconnected(client_context::some const& those) {
    releases_.on_disconnected(those);
    for (auto& each : holds_) {
        if (those(*each.on())) {
            each.on_disconnected();
        }
    }
}

void holds::stop() {
    verify_timer_.reset();
    due_.clear();
    auto const now = lease_clock::now();
    while (!holds_.empty()) {
        auto const held = holds_.front().shared_from_this();
        auto terms = release_fsm::terms{
            {},
            request_timeout_for(client_.settings(), min_lease),
            false,
            true,
        };
        while (auto const current = held->current()) {
            current->on_client_stopped();
            terms = release_fsm::terms::of_withdrawal(current->terms(), now);
            end_tenure(*held, *current, now);
        }
        terms.until = held->kept_until(now);
        forget(*held);
        // mutant: shutdown-releases-nothing
        releases_.add({.on = held->on(), .id = held->id(), .terms = terms}, now);
    }
}

void holds::on_context_gone() noexcept {
    due_.clear();
    while (!holds_.empty()) {
        auto const held = holds_.front().let_go();
        holds_.pop_front();
        while (auto const current = held->current()) {
            auto const last = held->on_vacated(*current);
            last->drop_executors();
            last->drop_watchers();
        }
    }
    shared_.clear();
    owners_.clear();
    verify_timer_.reset();
    renewals_.on_context_gone();
    releases_.stop();
}

}  // namespace holdfast::detail
