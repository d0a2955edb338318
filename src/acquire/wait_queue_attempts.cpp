// What a wait queue asks of the server, and what the answers mean.

#include "acquire/acquire_op.hpp"
#include "acquire/wait_queue.hpp"
#include "runtime/client_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::detail {

std::shared_ptr<candidate> const& wait_queue::the_candidate() {
    if (!candidate_) {
        auto const& wanted = front().terms();
        auto& client = all_.client();
        candidate_ = std::make_shared<candidate>(
            client.make_holder_id(),
            on_->speaks->keeps_places() ? client.settings().waiter_patience
                                        : std::min(wanted.lease, primitive::longest_window),
            wanted
        );
    }
    return candidate_;
}

bool wait_queue::may_queue() noexcept {
    // mutant: registered-before-messages-arrive
    return on_->speaks->keeps_places() ||
           (all_.client().hands_over(*on_) && own_channel().confirmed());
}

// Of the first waiter that states one.
std::int64_t wait_queue::stated_limit() const noexcept {
    auto const stated = [](acquire_op const& op) { return op.on()->limit; };
    return limits_ == 0 ? 0 : waiters_.first_of(stated);
}

void wait_queue::send_attempt(time_point now) {
    auto const first = waiters_.front();
    auto const by = the_candidate();
    bool const wants_place = may_queue();
    attempt what{
        by,
        first,
        first->terms(),
        now,
        all_.rights_for(*on_, first->terms()),
        all_.client().hands_over(*on_) ? hold_fsm::tokens_for(waiters_.size() - 1) : 1,
        wants_place,
        std::exchange(told_, false),
        {},
        stated_limit(),
    };
    if (auto seen = orphans_.take(first->orphan_after(), now)) {
        what.seen = std::make_shared<orphan const>(*std::move(seen));
    }
    if (what.terms.lease > by->terms.lease) {
        by->terms = what.terms;
    }
    all_.exec(
        {
            .on = *on_,
            .id = by->id,
            .terms = what.terms,
            .over = {by, &by->over},
            .tokens = what.tokens,
            .window = wants_place || what.seen ? by->window : millis{0},
            .had = by->had(now),
            .orphan_seen = what.seen.get(),
            .limit = what.limit,
        },
        [client = all_.client().shared_from_this(),
         self = shared_from_this(),
         what](exec_result result) {
            self->on_answer(what, result);
            self->update();
        }
    );
    fsm_.on_attempt_sent(now);
    by->in_flight = true;
    by->asked_for_place = by->asked_for_place || wants_place;
    first->on_attempt_sent(what.terms.lost_at(now));
}

void wait_queue::on_answer(attempt const& what, exec_result const& result) {
    auto& client = all_.client();
    auto const now = lease_clock::now();
    acquisitions::sent const by_what{what.terms, what.sent_at, what.with, what.limit};
    auto const read = all_.read(*on_, result, by_what, now);
    auto& by = *what.by;
    by.in_flight = false;
    if (by.over) {
        give_up_again(by);
        return;
    }
    switch (read.answer) {
        case attempt_answer::granted: on_granted(what, read, now); return;
        case attempt_answer::busy: on_busy(what, read.reply, now); break;
        case attempt_answer::refused: fsm_.on_setback(client.random_part(), now); break;
        // mutant: unknown-taken-for-busy
        case attempt_answer::unknown:
            by.unsure = true;
            fsm_.on_setback(client.random_part(), now);
            break;
        case attempt_answer::unconfirmed: on_unreplicated(read.cause, now); break;
        case attempt_answer::failed: fsm_.on_undecided(); break;
        case attempt_answer::not_sent:
            if (!client.may_attempt(*on_)) {
                fsm_.on_undecided();
                fsm_.on_disconnected();
            } else if (result.status == exec_status::not_sent) {
                // A node of a cluster has named another one that is down.
                fsm_.on_setback(client.random_part(), now);
            } else {
                // Without a right it is repeated in another way.
                fsm_.on_undecided();
            }
            break;
    }
    if (auto const first = what.first.lock()) {
        first->on_attempt_answered(read.answer, read.cause);
    }
    tell_overdue(read.answer, read.cause, what.sent_at);
    // The grant may have come while the reply was on its way.
    if (candidate_ && candidate_->place && candidate_->early) {
        take_grant(*std::exchange(candidate_->early, {}));
    }
}

// The next attempt has another holder id: this one's is given back meanwhile.
void wait_queue::on_unreplicated(error_code cause, time_point now) {
    auto& client = all_.client();
    auto const given_up = candidate_;
    given_up->unsure = true;
    drop_candidate();
    // It was its turn, and may be again.
    the_candidate()->on_follows(*given_up);
    if (on_->speaks->queues_each()) {
        // Its channel is called like the holder id.
        subscription_ = {};
        confirmed_ = false;
        fsm_.on_unsubscribed(now);
    }
    fsm_.on_setback(client.random_part(), now);
    auto const why = "given back: " + cause.message();
    client.log(
        log_level::warning,
        {why, on_->lock},
        fmt::format(
            "the lock \"{}\" was granted, and is given back: {}",
            escaped(on_->lock),
            cause.message()
        )
    );
}

// What waited for replicas was sent on another connection than the request that took it back: the
// server may have granted it once more since. Unless it was handed over, and is in use.
void wait_queue::give_up_again(candidate const& by) {
    if (all_.client().confirms() && !all_.held().has(*on_, by.id)) {
        all_.give_up(on_, by.id, by.terms, by.asked_for_place ? by.window : millis{0});
    }
}

void wait_queue::on_busy(attempt const& what, attempt_reply const& reply, time_point now) {
    if (what.seen) {
        // It has changed, and may be free: only an attempt tells.
        fsm_.on_undecided();
        return;
    }
    auto& client = all_.client();
    auto const jitter = scaled(wait_queue_fsm::longest_jitter, client.random_part()) + millis{1};
    if (reply.place) {
        what.by->on_placed(*reply.place, what.sent_at);
        client.server(*on_).time.on_reply(what.sent_at, reply.place->server_time);
    }
    orphans_.on_seen(reply.orphan, now);
    bool const queues = on_->speaks->keeps_places() || client.hands_over(*on_);
    bool const told = !queues || reply.place.has_value();
    fsm_.on_busy(reply.remaining, jitter, now, told);
    client.count().refusals.add();
    count_wait(front());
    if (reply.endless) {
        warn_of_orphan(reply.orphan.has_value());
    }
}

void wait_queue::warn_of_orphan(bool may_be_taken_over) {
    if (std::exchange(warned_of_expiry_, true)) {
        return;
    }
    auto const name = escaped(on_->lock);
    auto const patience = std::chrono::ceil<millis>(front().orphan_after());
    all_.client().log(
        log_level::error,
        {"no expiry", on_->lock},
        may_be_taken_over && patience > millis{0}
            ? fmt::format(
                  "the lock \"{}\" has no expiry: it is taken over in {} ms if nothing changes",
                  name,
                  patience.count()
              )
            : fmt::format(
                  "the lock \"{}\" has no expiry: it stays held until its key is deleted",
                  name
              )
    );
}

void wait_queue::on_granted(
    attempt const& what,
    acquisitions::reading const& read,
    time_point now
) {
    auto to = what.first.lock();
    if (!to || to->queue != this) {
        to = waiters_.front();
    }
    orphans_.on_seen({}, now);
    if (what.seen) {
        all_.client().log(
            log_level::warning,
            {"taken over", on_->lock},
            fmt::format(
                "the lock \"{}\" had no expiry and was taken over from \"{}\"",
                escaped(on_->lock),
                escaped(what.seen->holder)
            )
        );
    }
    if (!acquisitions::suffices(*to, what.terms, read, now)) {
        // The attempt was made for another waiter. It is repeated with the same holder id: that
        // renews the grant to what this one wants.
        what.by->unsure = true;
        what.by->early.reset();
        fsm_.on_undecided();
        return;
    }
    auto const granted = end_candidate();
    fsm_.on_granted(read.by.terms.lease, !on_->speaks->is_shared(), now);
    auto given = all_.add_hold(*to, granted->id, read, what.tokens, now);
    auto const how = what.told ? grant_kind::notification : grant_kind::expiry;
    deliver(to, std::move(given), now, how);
    let_others_follow(now);
}

void wait_queue::let_others_follow(time_point now) {
    if (on_->speaks->is_shared()) {
        share_with_waiters(now);
        fsm_.on_news();
        return;
    }
    tell_overdue(attempt_answer::busy, {}, now);
    if (auto* const held = own(now)) {
        all_.held().refill_ahead(*held, now);
    }
}

// Those that wait here have the hold, too, if that is possible.
void wait_queue::share_with_waiters(time_point now) {
    while (!waiters_.empty()) {
        auto const to = waiters_.front();
        auto shared = all_.share(*to, true, now);
        if (!shared) {
            return;
        }
        deliver(to, std::move(shared), now, grant_kind::own_client);
    }
}

void wait_queue::deliver(
    std::shared_ptr<acquire_op> const& to,
    lease granted,
    time_point now,
    grant_kind how
) {
    if (to->has_waited) {
        all_.client().count().handed_over(how);
    } else if (how != grant_kind::own_client) {
        how = grant_kind::uncontended;
    }
    to->deliver(std::move(granted), now, how);
}

std::shared_ptr<candidate> wait_queue::end_candidate() noexcept {
    auto ended = std::exchange(candidate_, {});
    if (ended) {
        ended->over = true;
    }
    return ended;
}

// What it asked for is taken back, unless it is certain that nothing was given.
void wait_queue::drop_candidate() {
    // mutant: id-used-again-after-its-withdrawal
    auto const dropped = end_candidate();
    if (!dropped) {
        return;
    }
    if (dropped->in_flight) {
        fsm_.on_undecided();
    }
    if (dropped->in_flight || dropped->unsure || dropped->place) {
        if (dropped->in_flight || dropped->unsure) {
            all_.client().count().withdrawals.add();
        }
        all_.give_up(
            on_,
            dropped->id,
            dropped->terms,
            dropped->asked_for_place ? dropped->window : millis{0}
        );
    }
}

}  // namespace holdfast::detail
