#include "lease/holds.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iterator>
#include <utility>

namespace holdfast::detail {

namespace {

// Most leases are released sooner than this. It is a small part of the shortest lease: a lease that
// is older is looked after long before anything has to be done about it.
constexpr millis young{20};

// Of a tenure that follows another one over the same hold.
lease_fsm::grant times_within(
    hold_fsm::confirmation const& by,
    lease_terms const& terms,
    time_point now
) {
    auto const own_end = now + terms.lease - terms.drift;
    // What is left of the hold may be little beside the lease that is wanted.
    auto const end = std::min(by.until, own_end);
    return lease_fsm::grant::until(terms, end, by.sent_at + terms.renew_after, now);
}

}  // namespace

holds::holds(client_context& client)
    : client_{client},
      renewals_{client},
      releases_{client},
      ends_{client, [this](tenure& of) { on_tenure_over(of); }} {}

lease holds::add(grant const& granted, holder const& to) {
    auto const made =
        std::make_shared<hold>(client_.shared_from_this(), granted.on, granted.id, granted.fsm);
    made->usual().on_told(granted.usual_hold);
    holds_.push_back(*made);
    try {
        auto given = begin_tenure(*made, granted.token, granted.times, to);
        if (successors_) {
            successors_->on_held(*made);
        }
        if (!granted.times.confirmed) {
            // Before its holder learns of it: the time runs.
            refill(*made, request_reason::claim);
        }
        return given;
    } catch (...) {
        end_tenure(*made, granted.times.at);
        forget(*made);
        throw;
    }
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
        to.executor
    );
    owners_.on_granted(*over.on(), to.who, *next);
    over.on_taken(next);
    client_.count().leases_now.add();
    lease given;
    try {
        if (times.renew_at < times.at + 2 * young) {
            next->start_keep_alive();
        } else {
            keep_alive_later(times.at + young);
        }
        given = next->make_lease();
    } catch (...) {
        end_tenure(over, times.at);
        throw;
    }
    return given;
}

lease holds::pass_on(hold& of, holder const& to, time_point now) {
    // They stand in the order of their tenures.
    holds_.erase(holds_.iterator_to(of));
    holds_.push_back(of);
    auto const terms = of.terms_for(to.terms);
    return begin_tenure(
        of,
        of.fsm().take_token(),
        times_within(of.fsm().confirmed(), terms, now),
        {terms, to.who, to.executor}
    );
}

void holds::end_tenure(hold& of, time_point now) noexcept {
    auto const last = of.on_vacated();
    if (!last) {
        return;
    }
    owners_.on_forgotten(*of.on(), *last);
    client_.count().leases_now.subtract();
    client_.count().total_hold_ns.add(static_cast<std::uint64_t>((now - last->since()).count()));
    last->drop_executors();
}

void holds::forget(hold& of) noexcept {
    if (of.is_linked()) {
        auto const keeps = of.shared_from_this();
        holds_.erase(holds_.iterator_to(of));
        if (successors_) {
            successors_->on_gone(*of.on());
        }
    }
}

void holds::give_back(
    std::shared_ptr<tenure> of,
    bool was_lost,
    std::shared_ptr<pending_handler<error_code>> caller
) {
    auto const given = of->share_hold();
    if (given->current() != of) {
        // The hold has gone on without it, or the client has given it up.
        of->on_released(loss_reason::none);
        if (caller) {
            caller->complete(was_lost ? make_error_code(errc::lease_lost) : error_code{});
        }
        return;
    }
    auto const now = lease_clock::now();
    if (of->terms().learned && !was_lost) {
        given->usual().on_held(now - of->since());
    }
    end_tenure(*given, now);
    settle(*given, {std::move(of), was_lost, std::move(caller)}, false, now);
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
        try {
            refill(of, request_reason::idle);
        } catch (std::exception const&) {
            release(of, std::move(left), wanted, now);  // out of memory
            return;
        }
    } else if (!successors_->take(of)) {
        release(of, std::move(left), wanted, now);
        return;
    }
    // The former holder had the lock until its deadline. What becomes of the hold does not change
    // what its release reports.
    if (left.of) {
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
    if (!client_.hands_over(*of.on()) ||
        !of.fsm().wants_refill(successors_->waiting_for(*of.on()).count, now)) {
        return;
    }
    try {
        refill(of, request_reason::ahead);
    } catch (std::exception const&) {
        // Out of memory: it is asked for when it is needed.
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
    of.refill(
        current ? current->terms() : of.terms_for(*wanted),
        // Who has it renews it from his own executor: one that is stuck does not keep it.
        why != request_reason::ahead || !current,
        successors_->waiting_for(*of.on()),
        [this, client = client_.shared_from_this(), what = of.shared_from_this(), why](error_code ec
        ) {
            if (why == request_reason::claim && !ec) {
                client->count().claims_confirmed.add();
            }
            if (what->is_linked() && !what->current()) {
                settle(*what, {}, true, lease_clock::now());
            } else if (what->is_linked() && what->fsm().unheard()) {
                refill_ahead(*what, lease_clock::now());
            }
        }
    );
}

void holds::release(hold& of, parting left, bool wanted, time_point now) {
    // The hold is forgotten in the end, also when memory runs out.
    struct forgets {
        holds& all;
        std::shared_ptr<hold> what;
        ~forgets() { all.forget(*what); }
    } const finally{*this, of.shared_from_this()};
    auto const terms = release_terms(of, left, now);
    auto next = wanted ? successors_->next_entry(*of.on()) : std::nullopt;
    releases_.add(
        {
            .on = of.on(),
            .id = of.id(),
            .terms = terms,
            .of = std::move(left.of),
            .caller = std::move(left.caller),
            .next = std::move(next),
            .others = of.fsm().others(now),
            .one_waits = of.fsm().one_waits(),
            .held = client_.learns() ? of.usual().take() : usual_hold::report{},
        },
        now
    );
}

release_fsm::terms holds::release_terms(hold const& of, parting const& left, time_point now) const {
    auto const until = of.fsm().confirmed().until;
    if (!left.of) {
        return {until, request_timeout_for(client_.settings(), min_lease)};
    }
    auto made = release_fsm::terms::of_lease(left.of->terms(), now, left.was_lost);
    if (left.of->terms().learned) {
        // A renewal may be on its way that asked for more.
        made.until = now + client_.settings().lease;
    }
    return made;
}

bool holds::any_of(target const& on) const noexcept {
    for (auto const& each : holds_) {
        if (target_key{*each.on()} == target_key{on}) {
            return true;
        }
    }
    return false;
}

bool holds::has(target const& on, holder_id const& id) const noexcept {
    return std::any_of(holds_.begin(), holds_.end(), [&](hold const& each) {
        return target_key{*each.on()} == target_key{on} && each.id().view() == id.view();
    });
}

tenure* holds::of_owner(target const& on, std::optional<owner> const& who) const {
    return who ? owners_.find(on, *who) : nullptr;
}

void holds::keep_alive_later(time_point at) {
    if (armed_) {
        return;
    }
    if (!timer_) {
        timer_.emplace(client_.strand());
    }
    sleep_until(*timer_, at);
    timer_->async_wait([this, client = client_.shared_from_this()](error_code ec) {
        armed_ = false;
        if (!ec) {
            start_keep_alives();
        }
    });
    armed_ = true;
}

void holds::start_keep_alives() {
    auto const now = lease_clock::now();
    // They stand in the order of their times: the young ones are the last.
    auto const since = [](hold const& each) {
        return each.current() ? each.current()->since() : time_point::min();
    };
    auto first = holds_.end();
    while (first != holds_.begin() && since(*std::prev(first)) > kept_until_) {
        --first;
    }
    for (; first != holds_.end(); ++first) {
        auto const current = first->current();
        if (!current) {
            continue;
        }
        if (current->since() + young / 2 > now) {
            keep_alive_later(current->since() + young);
            return;
        }
        try {
            current->start_keep_alive();
            if (current->deadline() < first->fsm().confirmed().until) {
                ends_.watch(current);
            }
        } catch (...) {
            keep_alive_later(now + young);
            throw;
        }
        kept_until_ = current->since();
    }
}

// A waiter may follow, whether the lease was released or not.
void holds::on_tenure_over(tenure& of) {
    auto const held = of.share_hold();
    if (client_.hands_over(*held->on()) && held->current().get() == &of &&
        successors_->next_terms(*held->on())) {
        auto const now = lease_clock::now();
        of.notice_loss(now);
        end_tenure(*held, now);
        settle(*held, {}, false, now);
    }
}

void holds::on_connected() {
    releases_.on_connected();
    for (auto& each : holds_) {
        if (auto const& current = each.current()) {
            // Spread over a part of the time that is left, so that thousands of renewals do not
            // come at once.
            each.on_connected(scaled(current->terms().renew_after / 16, client_.random_part()));
        }
    }
}

void holds::on_disconnected() {
    releases_.on_disconnected();
    for (auto& each : holds_) {
        each.on_disconnected();
    }
}

void holds::stop() {
    timer_.reset();
    ends_.clear();
    auto const now = lease_clock::now();
    while (!holds_.empty()) {
        auto const held = holds_.front().shared_from_this();
        auto const current = held->current();
        auto terms = release_fsm::terms{
            held->fsm().confirmed().until,
            request_timeout_for(client_.settings(), min_lease),
            false,
            true,
        };
        if (current) {
            current->on_client_stopped();
            terms = release_fsm::terms::of_withdrawal(current->terms(), now);
            if (current->terms().learned) {
                terms.until = now + client_.settings().lease;
            }
            end_tenure(*held, now);
        }
        forget(*held);
        releases_.add({.on = held->on(), .id = held->id(), .terms = terms}, now);
    }
}

void holds::on_context_gone() noexcept {
    while (!holds_.empty()) {
        auto const held = holds_.front().shared_from_this();
        holds_.pop_front();
        if (auto const last = held->on_vacated()) {
            last->drop_executors();
            last->drop_watchers();
        }
    }
    owners_.clear();
    timer_.reset();
    ends_.clear();
    renewals_.on_context_gone();
    releases_.stop();
}

}  // namespace holdfast::detail
