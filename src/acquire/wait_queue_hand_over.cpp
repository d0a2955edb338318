// How a wait queue gets the lock from another holder's hand.

#include "acquire/acquire_op.hpp"
#include "acquire/wait_queue.hpp"
#include "lease/hold.hpp"
#include "lease/tenure.hpp"
#include "runtime/client_context.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::detail {

namespace {

// So long those hold back who could be quicker than the clients that do not queue.
constexpr nanos turn_of_others = millis{20};
// After a notification the others of the server's queue look, too, but the first one before them.
constexpr nanos later_in_queue = millis{5};

}  // namespace

hold* wait_queue::own(time_point now) const noexcept {
    auto const held = own_.lock();
    // `holds` keeps a hold alive while it is listed. Another client may have the lock of a hold
    // that is in doubt: the server has to be asked.
    return held && held->is_linked() && !held->fsm().doubtful() &&
                   now < held->fsm().confirmed().until
               ? held.get()
               : nullptr;
}

void wait_queue::on_own(hold& of) noexcept {
    if (all_.client().hands_over(*on_)) {
        own_ = of.weak_from_this();
    }
}

void wait_queue::on_gone() {
    own_.reset();
    bool const asked = candidate_ && (candidate_->in_flight || candidate_->place);
    // Without hand-over the notification of the release tells them, as it tells others.
    if (!waiters_.empty() && !asked && all_.client().hands_over(*on_)) {
        on_news();
    }
}

void wait_queue::on_lost(hold const& of) {
    if (own_.lock().get() == &of) {
        own_.reset();
        on_news();
    }
}

void wait_queue::take(hold& of) {
    auto const now = lease_clock::now();
    // mutant: newest-local-waiter-first
    auto const to = waiters_.front();
    auto given = all_.held().pass_on(of, to->holder(), now);
    own_ = of.weak_from_this();
    orphans_.on_seen({}, now);
    all_.client().count().grants.add();
    deliver(to, std::move(given), now, grant_kind::own_client);
    tell_overdue(attempt_answer::busy, {}, now);
}

bool wait_queue::on_grant(hand_over_message const& message) {
    if (!candidate_ || candidate_->id.view() != message.holder || !candidate_->asked_for_place) {
        return false;
    }
    candidate::grant const granted{message.token, message.server_time, message.window};
    if (!candidate_->place) {
        candidate_->early = granted;
        return true;
    }
    take_grant(granted);
    update();
    return true;
}

// The server has given the lock to the candidate. What it is good for until a request is answered
// is only known from the server's clock.
void wait_queue::take_grant(candidate::grant const& granted) {
    auto& client = all_.client();
    auto const now = lease_clock::now();
    // The window may be that of another waiter, who wanted the lock for longer.
    auto const& terms = front().terms();
    auto const window = std::min(granted.window, terms.lease);
    auto const margin = terms.margin_within(window);
    auto const worth_having = margin + nanos{granted.window} / 10;
    // Without a connection its holder could neither claim it nor give it back. A lease whose
    // renewals are limited begins with its full length, which the claim has to set first.
    // mutant: grants-are-never-confirmed-first
    bool const asks_first = client.confirms() || client.settings().confirm_grants ||
                            !client.can_execute(*on_) || terms.limits_renewals();
    auto const end = asks_first ? std::nullopt
                                : client.server(*on_).time.end_of(
                                      granted.server_time,
                                      granted.window,
                                      client.settings().drift,
                                      now
                                  );
    if (!end || *end - worth_having <= now) {
        // It asks, with the same holder id. If the lock is not its own by then, it comes back to
        // its place.
        candidate_->place.reset();
        candidate_->unsure = true;
        fsm_.on_news();
        return;
    }
    auto const taken = end_candidate();
    orphans_.on_seen({}, now);
    fsm_.on_taken(*end);
    auto const to = waiters_.front();
    auto given = all_.held().add(
        {
            .on = on_,
            .id = taken->id,
            .token = granted.token,
            .fsm = {{*end - granted.window, *end}, {}, now},
            .times =
                {std::min(*end, now + terms.lease - terms.drift),
                 now + window / 6,
                 margin,
                 now,
                 false},
        },
        to->holder()
    );
    client.count().grants.add();
    deliver(to, std::move(given), now, grant_kind::other_client);
    tell_overdue(attempt_answer::busy, {}, now);
}

void wait_queue::on_next(hand_over_message const& message) {
    if (candidate_ && candidate_->id.view() == message.holder) {
        auto const jitter = scaled(later_in_queue, all_.client().random_part());
        fsm_.on_news(message.window + jitter, lease_clock::now());
        update();
    }
}

void wait_queue::on_notification(std::string_view message) {
    bool const placed = candidate_ && (candidate_->place || candidate_->in_flight);
    if (std::exchange(said_, false) && placed) {
        return;
    }
    auto const now = lease_clock::now();
    told_ = true;
    // Of a semaphore it is a number of permits.
    if (message == "2" && on_->speaks->hands_over()) {
        // A client that does not queue has this turn.
        if (all_.client().hands_over(*on_)) {
            fsm_.on_hold_back(now + turn_of_others);
            turn_is_announced_ = true;
        }
        return;
    }
    if (!std::exchange(turn_is_announced_, false)) {
        // The next message after that belongs to it. A further one comes from a client that has had
        // the lock in its turn: whoever asks before the end of the turn tells the server so.
        fsm_.on_hold_back(time_point::min());
    }
    on_doubt();
    // Somebody may have been granted it since, or it may have been taken away by force.
    all_.held().stop_sharing(*on_);
    if (candidate_ && candidate_->place && candidate_->place->ahead > 0) {
        auto const delay = later_in_queue + scaled(later_in_queue, all_.client().random_part());
        fsm_.on_news(delay, now);
        update();
        return;
    }
    on_news();
}

// The others that keep a place need not look: it is one turn after the other.
void wait_queue::on_turn(std::string_view message) {
    auto const end = message.rfind(' ');
    said_ = message.substr(end + 1) == "1";
    if (candidate_ && candidate_->id.view() == message.substr(0, end)) {
        told_ = true;
        on_news();
    }
}

void wait_queue::on_doubt() {
    auto const now = lease_clock::now();
    if (auto* const held = own(now)) {
        held->fsm().on_doubt(now);
    }
}

void wait_queue::on_others_wait(hand_over_message const& message) {
    if (auto const held = own_.lock(); held && held->id().view() == message.holder) {
        held->fsm().on_others_wait();
    }
}

void wait_queue::on_forced(hand_over_message const& message) {
    if (auto const held = own_.lock(); held && held->id().view() == message.holder) {
        on_doubt();
    }
}

std::optional<primitive::queue_entry> wait_queue::next_entry() {
    if (!may_queue() || (candidate_ && (candidate_->asked_for_place || candidate_->in_flight))) {
        return std::nullopt;
    }
    auto const& by = the_candidate();
    by->asked_for_place = true;
    by->in_flight = true;
    fsm_.on_attempt_sent(lease_clock::now());
    return primitive::queue_entry{by->id, by->window};
}

void wait_queue::on_given_back(released const& what) {
    if (!what.next || !candidate_ || candidate_->id.number() != what.next->id.number()) {
        return;
    }
    candidate_->in_flight = false;
    if (!what.reply || !what.reply->place) {
        candidate_->unsure = true;
        fsm_.on_undecided();
    } else {
        auto& client = all_.client();
        candidate_->on_placed(*what.reply->place, what.sent_at);
        client.server(*on_).time.on_reply(what.sent_at, what.reply->place->server_time);
        auto const now = lease_clock::now();
        // Whoever is the next one looks when the new holder should have claimed the lock. The
        // others are told when they are the next.
        bool const next = what.reply->place->ahead == 0;
        if (what.reply->handed_over) {
            fsm_.on_busy(
                next ? what.reply->window : candidate_->window,
                scaled(later_in_queue, client.random_part()),
                now
            );
        } else {
            // The lock may be free.
            fsm_.on_undecided();
        }
        if (candidate_->early) {
            take_grant(*std::exchange(candidate_->early, {}));
        }
        if (what.reply->handed_over) {
            tell_overdue(attempt_answer::busy, {}, what.sent_at);
        }
    }
    update();
}

void wait_queue::on_hand_over_changed() {
    if (!on_->speaks->hands_over()) {
        return;
    }
    if (!all_.client().hands_over()) {
        own_.reset();
        waiters_channel_ = {};
    }
    // Otherwise the confirmation of the lock's own channel is the reason to ask.
    if (!waiters_.empty() && confirmed_ && !own(lease_clock::now()) &&
        !(candidate_ && candidate_->place)) {
        on_news();
    }
}

}  // namespace holdfast::detail
