// What the attempts of all waiters ask for, and what the answers mean.

#include "acquire/acquire_op.hpp"
#include "acquire/acquisitions.hpp"
#include "acquire/joint_attempt.hpp"
#include "acquire/wait_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::detail {

void acquisitions::exec(attempt const& what, exec_handler&& handler) {
    // A waiter may ask before `config::lock_delay` is over: slots that move wake it, too.
    if (client_.grants_held_back(what.on)) {
        client_.on_strand([handler = std::move(handler)]() mutable {
            std::move(handler)(exec_result{exec_status::not_sent, errc::server_refused, {}});
        });
        return;
    }
    auto const& settings = client_.settings();
    auto const with = rights_for(what.on, what.terms);
    client_.count().attempts.add();
    primitive::attempt asked{
        .on = what.on,
        .id = what.id,
        .lease = what.terms.lease,
        .counter_ttl = settings.fence_ttl,
        .preflight = !client_.server(what.on).has_granted,
        .timeout = what.terms.request_timeout,
        .tokens = what.tokens,
        .hand_over = with.hand_over,
        .window = what.window,
        .had = what.had,
        .patience = settings.waiter_patience,
        .beside = what.beside,
        .proposed = what.proposed,
        .limit = what.limit,
    };
    if (with.learning) {
        asked.learned = {shortest_learned_lease(settings), usual_holds_in_a_lease(what.terms)};
    }
    if (what.with) {
        what.with->add(asked, what.over, std::move(handler));
        return;
    }
    auto const& speaks = *what.on.speaks;
    auto request =
        what.orphan_seen ? speaks.take_over(asked, *what.orphan_seen) : speaks.acquire(asked);
    if (with.hand_over || with.learning) {
        request.may_be_forbidden();
    }
    request.unless(what.over);
    if (!client_.confirms()) {
        client_.exec(std::move(request), std::move(handler));
        return;
    }
    // An orphan is there once only; what was taken over is ours, and is asked for as such.
    auto again = what.orphan_seen ? speaks.acquire(asked) : request;
    again.unless(what.over);
    client_.exec_granting(
        std::move(request),
        std::move(again),
        [this, &speaks, client = client_.shared_from_this()](script_reply const& reply) {
            return is_grant(speaks, reply);
        },
        std::move(handler)
    );
}

bool acquisitions::is_grant(primitive const& speaks, script_reply const& said) {
    auto const reply = speaks.read_acquire(said);
    // Only the first reply tells of the preflight.
    if (!reply.may_hand_over) {
        on_hand_over_denied();
    }
    return reply.what == attempt_reply::kind::granted;
}

acquisitions::reading acquisitions::read(
    target const& on,
    exec_result const& result,
    sent const& by,
    time_point now
) {
    reading read{attempt_answer::unknown, {}, result.error, by};
    switch (result.status) {
        case exec_status::replied:
            read.reply = on.speaks->read_acquire(result.reply);
            read_reply(on, read, now);
            if (read.answer == attempt_answer::busy) {
                held_.stop_sharing(on);
            }
            break;
        case exec_status::refused: read.answer = attempt_answer::refused; break;
        case exec_status::failed:
            read.answer = attempt_answer::failed;
            if (result.error == errc::no_permission) {
                read_forbidden(read);
            }
            break;
        case exec_status::not_sent: read.answer = attempt_answer::not_sent; break;
        case exec_status::unknown: break;
        case exec_status::unconfirmed: read.answer = attempt_answer::unconfirmed; break;
    }
    if (read.answer == attempt_answer::unknown && !read.cause) {
        read.cause = errc::unreachable;
    }
    return read;
}

void acquisitions::read_reply(target const& on, reading& read, time_point now) {
    using kind = attempt_reply::kind;
    auto const& reply = read.reply;
    switch (reply.what) {
        case kind::granted: read.answer = attempt_answer::granted; break;
        case kind::busy: read.answer = attempt_answer::busy; break;
        case kind::corrupt:
            read.answer = attempt_answer::failed;
            read.cause = errc::corrupt_state;
            break;
        case kind::too_much:
            read.answer = attempt_answer::failed;
            read.cause = errc::invalid_options;
            break;
        case kind::no_limit:
            read.answer = attempt_answer::failed;
            read.cause = errc::permits_not_set;
            break;
    }
    warn_of_limit(on, read);
    if (!reply.notified) {
        client_.on_not_notified(on);
    }
    if (!reply.may_hand_over) {
        on_hand_over_denied();
    }
    if (!reply.learned.allowed) {
        client_.deny_learning();
    }
    if (reply.learned.lease > millis{0}) {
        read.by.terms = terms_with(client_.settings(), read.by.terms, reply.learned.lease);
    }
    // mutant: stale-grant-delivered
    bool const late = now >= read.by.terms.lost_at(read.by.at);
    if (read.answer == attempt_answer::granted && late) {
        // It came too late: the next attempt has the same holder id.
        read.answer = attempt_answer::unknown;
        read.cause = errc::unreachable;
    }
}

void acquisitions::warn_of_limit(target const& on, reading const& read) {
    // A program with more wrong names has been told.
    constexpr std::size_t most_names = 1'000;
    auto const& reply = read.reply;
    if (!reply.limit) {
        return;
    }
    if (reply.found_permits != 0) {
        client_.log(
            log_level::warning,
            {"missing permits", on.lock},
            fmt::format(
                "semaphore \"{}\": {} of {} permits were missing and are free again: either the "
                "set of acquired permits was lost, or the limit was lowered while no permit was "
                "acquired; in the second case lower it again while a permit is acquired",
                escaped(on.lock),
                reply.found_permits,
                *reply.limit
            )
        );
    }
    bool const differs = read.by.limit > 0 && read.by.limit != *reply.limit;
    if (differs && other_limits_.size() < most_names && other_limits_.insert(on.lock).second) {
        client_.log(
            log_level::warning,
            {"another limit", on.lock},
            fmt::format(
                "semaphore \"{}\": the server's limit of {} permits applies, although this client "
                "states {}: state the same limit in all programs, or change it on the server",
                escaped(on.lock),
                *reply.limit,
                read.by.limit
            )
        );
    }
}

// The user may have the permissions for less: the attempt is repeated without a learned lease, then
// without hand-over.
void acquisitions::read_forbidden(reading& read) {
    if (read.by.with.learning) {
        client_.deny_learning();
    } else if (read.by.with.hand_over) {
        // It may have the rights that locks needed before they were handed over.
        // mutant: rights-of-yesterday-are-not-enough
        on_hand_over_denied();
    } else {
        return;
    }
    read.answer = attempt_answer::not_sent;
}

bool acquisitions::suffices(
    acquire_op const& op,
    lease_terms const& asked,
    reading const& granted,
    time_point now
) {
    if (op.terms() == asked) {
        return true;
    }
    auto const& by = granted.by;
    auto const until = by.at + by.terms.lease - by.terms.drift;
    return hold_fsm{{by.at, until}, {}, by.at}.has_time_for(op.terms(), now);
}

lease acquisitions::add_hold(
    acquire_op const& op,
    holder_id const& id,
    reading const& granted,
    std::uint32_t tokens,
    time_point now
) {
    client_.count().grants.add();
    auto const token = granted.reply.token;
    auto const& learned = granted.reply.learned;
    auto const& by = granted.by;
    client_.server(*op.on()).has_granted = true;
    auto terms = op.terms().learned && learned.lease > millis{0}
                     ? terms_with(client_.settings(), op.terms(), learned.lease)
                     : op.terms();
    if (auto const* const vote = op.vote(); vote && terms.max_hold > nanos{0}) {
        // The nodes' leases end together, however late some of them answered.
        auto const passed = now - vote->held_since;
        terms.max_hold = std::max(terms.max_hold - passed, nanos{1});
    }
    auto const until = by.at + by.terms.lease - by.terms.drift;
    auto times = lease_fsm::grant::by_request(terms, by.at, now);
    if (until != times.deadline) {
        // The attempt was made for another waiter, who wanted it for longer or shorter.
        times = lease_fsm::grant::within(terms, by.at, until, now);
    }
    auto const to = op.holder();
    std::optional<sharing> shared;
    if (op.on()->speaks->shares_holds()) {
        using extent = sharing::extent;
        auto const others = granted.reply.others_wait ? extent::those_that_waited : extent::all;
        // Nobody else may have a hold beside the other side of the lock.
        shared.emplace(op.beside() ? extent::none : others, by.at);
    }
    return held_.add(
        {
            .on = op.on(),
            .id = id,
            .token = token,
            .fsm = {{by.at, until}, {{token.value + 1}, tokens - 1}, now},
            .times = times,
            .usual_hold = learned.usual_hold,
            .shared = shared,
        },
        {terms, to.who, to.executor}
    );
}

lease acquisitions::share(acquire_op const& op, bool waited, time_point now) {
    auto const& on = *op.on();
    auto* const of = on.speaks->shares_holds() ? held_.shared_hold_of(on) : nullptr;
    if (!of) {
        return {};
    }
    if (!waited) {
        auto const other = on.speaks->other_side();
        auto const* const queue = other ? queues_.find(target_key{on, *other}) : nullptr;
        if (queue && !queue->empty()) {
            return {};
        }
    }
    auto shared = held_.share(*of, op.holder(), waited, now);
    if (shared) {
        client_.count().grants.add();
    }
    return shared;
}

void acquisitions::on_hand_over_denied() {
    if (!client_.deny_hand_over()) {
        return;
    }
    client_.log(
        log_level::warning,
        "the server's user may not use queues and clients' channels: locks are not handed over, "
        "and the page \"The Redis user\" names the rights for that"
    );
    on_hand_over_changed();
}

}  // namespace holdfast::detail
