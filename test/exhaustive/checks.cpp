#include "exhaustive/checks.hpp"

#include "exhaustive/moves.hpp"

#include <algorithm>
#include <cstddef>

namespace holdfast::exhaustive {

using detail::lease_fsm;

namespace {

bool has_lease(acquisition const& op) {
    return op.where == phase::holding;
}

lease_state state_at(machines const& all, acquisition const& op, tick now) {
    auto machine = all.leases[op.lease];
    return machine.look(time_at(now));
}

// S1, S2, S5: what a holder believes is true, so no two believe it.
void check_belief(context& ctx, world const& w, acquisition const& op, std::uint8_t holder) {
    auto machine = ctx.all.leases[op.lease];
    bool const alive = is_alive(machine.look(time_at(w.now)));
    bool const counts = time_at(w.now) < machine.deadline();
    if ((!alive && !counts) || is_robbed(w.robbed, holder)) {
        return;
    }
    ctx.expect(w.server.holder == holder, "S1", "a lease is valid, and the server says otherwise");
    ctx.expect(
        w.server.holder != holder || w.server.ends == never ||
            machine.deadline() <= time_at(w.server.ends),
        "S5",
        "a lease is believed to last longer than the server keeps it"
    );
    ctx.expect(!alive || counts, "S3", "a lease is valid after its deadline");
}

// Nothing is held for longer than `max_hold`.
void check_hold(context& ctx, acquisition const& op, tick now) {
    ctx.expect(
        ctx.of.max_hold == 0 || now < later(op.granted_at, ctx.of.max_hold) ||
            !is_alive(state_at(ctx.all, op, now)),
        "max_hold",
        "a lease is valid for longer than it may be held"
    );
}

// N3: what is not confirmed is in doubt.
void check_doubt(context& ctx, client const& c, acquisition const& op, tick now) {
    ctx.expect(
        c.commands != link::down || state_at(ctx.all, op, now) != lease_state::held,
        "N3",
        "a lease is held without doubt while there is no connection"
    );
}

// The keep-alive sleeps no longer than its machine means it to: whatever changes that wakes it.
void check_sleep(context& ctx, acquisition const& op, tick now) {
    if (op.coroutine != keep_alive::sleeping || op.woken) {
        return;
    }
    auto machine = ctx.all.leases[op.lease];
    auto const step = machine.next(time_at(now));
    bool const waits = step.kind == lease_fsm::step_kind::sleep;
    ctx.expect(
        op.wakes_at <= (waits ? tick_at(step.until) : now),
        "L5",
        "a keep-alive sleeps on though there is something to do"
    );
}

// L5: while there is a connection, a lease that may still be saved is going to be renewed. One that
// is in doubt is renewed as soon as there is one; a renewal that fails is repeated after a pause.
void check_renewal_comes(context& ctx, client const& c, acquisition const& op, tick now) {
    bool const on_its_way = op.renewal_posted || op.woken || op.coroutine != keep_alive::sleeping ||
                            std::any_of(c.requests.begin(), c.requests.end(), [](request const& r) {
                                return r.awaited && r.what == script::renew;
                            });
    if (!ctx.of.renew || ctx.of.max_hold != 0 || c.commands != link::up || on_its_way) {
        return;
    }
    // Had it been sent or had it failed just now, it would be sent again at this time.
    bool const in_doubt = state_at(ctx.all, op, now) == lease_state::in_doubt;
    auto const again = later(
        now,
        in_doubt ? ctx.of.renewal_pause : std::max(ctx.of.renew_after, ctx.of.renewal_pause)
    );
    if (!is_alive(state_at(ctx.all, op, now)) || !is_alive(state_at(ctx.all, op, again))) {
        return;
    }
    auto machine = ctx.all.leases[op.lease];
    auto at = op.wakes_at;
    auto step = machine.next(time_at(at));
    for (; at <= again && step.kind == lease_fsm::step_kind::sleep;
         step = machine.next(time_at(at))) {
        at = tick_at(step.until);
    }
    ctx.expect(
        at <= again && step.kind == lease_fsm::step_kind::renew,
        "L5",
        "a lease that could be renewed is left to its end"
    );
}

// L1, L2, L4, L13: whoever waits without anything on its way to him wakes up in time.
void check_waiters(context& ctx, world const& w, client const& c) {
    bool const idle = c.commands == link::up && c.notices_up && c.requests.empty() &&
                      c.notice_requests.empty() && c.pushes.empty();
    if (c.waiting.waiters.empty() || !idle) {
        return;
    }
    // An answer says when the lease would have ended had it not taken a tick to arrive, and what is
    // spread comes a tick later too.
    auto const free_at = w.server.holder == 0 ? w.now : w.server.ends;
    auto const in_time = later(free_at, std::max(ctx.of.request_timeout, tick{1}));
    ctx.expect(
        c.waiting.armed_for <= in_time || free_at == never,
        "L2",
        "a waiter sleeps on though the lock is free, or will be by then"
    );
}

// L6: nobody is going to free what nobody holds. Not so after a stray acquire, nor after a release
// was given up: the lease was over then, but for what had been under way when it was given back.
// That may have been executed for as long as the link keeps a silent connection.
void check_leftover(context& ctx, world const& w) {
    auto const holder = w.server.holder;
    if (holder == 0 || w.strayed) {
        return;
    }
    auto const& c = w.clients[static_cast<std::size_t>(client_of(holder))];
    auto const& op = c.acquisitions[static_cast<std::size_t>(acquisition_of(holder))];
    bool const wanted = op.where == phase::waiting || op.where == phase::holding;
    bool const being_freed = !c.requests.empty() || !c.releases.empty() || op.hand_over_posted;
    if (c.crashed || wanted || being_freed) {
        return;
    }
    auto const over_at = later(w.now, static_cast<tick>(2 * ctx.of.request_timeout));
    ctx.expect(
        c.gave_up_release && w.server.ends <= over_at,
        "L6",
        "the lock of an acquisition that is over is left to its end"
    );
}

// L10: without a fault no lease is lost, if its times leave room for a renewal to arrive.
void check_faultless(context& ctx, world const& w, acquisition const& op) {
    auto const& of = ctx.of;
    bool const time_enough = of.renew_after + of.request_timeout < of.lease - of.notice - of.slack;
    if (!w.faultless || !of.renew || of.max_hold != 0 || !time_enough) {
        return;
    }
    ctx.expect(
        state_at(ctx.all, op, w.now) != lease_state::lost,
        "L10",
        "a lease was lost though nothing went wrong"
    );
}

// S4: what is over stays over.
void check_stays_over(
    context& ctx,
    acquisition const& before,
    tick then,
    acquisition const& after,
    tick now
) {
    if (before.lease == 0 || after.lease == 0) {
        return;
    }
    ctx.expect(
        is_alive(state_at(ctx.all, before, then)) || !is_alive(state_at(ctx.all, after, now)),
        "S4",
        "a lease that was over is valid again"
    );
}

// N1: told when the time has come: `notice` before the deadline at the latest, but for the slack of
// the holder's own strand.
void check_told(context& ctx, acquisition const& op, tick now) {
    if (now < ctx.of.slack) {
        return;
    }
    auto const due = static_cast<tick>(now - ctx.of.slack);
    auto const last = ctx.all.leases[op.lease].deadline() - duration_of(ctx.of.notice);
    ctx.expect(
        op.told || (time_at(due) < last && state_at(ctx.all, op, due) != lease_state::lost),
        "N1",
        "a holder was not told in time that the lease is lost"
    );
}

}  // namespace

void check_client(context& ctx, client const& c, tick now) {
    for (auto const& op : c.acquisitions) {
        if (has_lease(op)) {
            check_hold(ctx, op, now);
            check_doubt(ctx, c, op, now);
            check_sleep(ctx, op, now);
            check_renewal_comes(ctx, c, op, now);
        }
    }
}

void check_change(context& ctx, client const& before, tick then, client const& after, tick now) {
    for (std::size_t i = 0; i < before.acquisitions.size(); ++i) {
        check_stays_over(ctx, before.acquisitions[i], then, after.acquisitions[i], now);
    }
}

void check_passing(context& ctx, client const& c, tick now) {
    for (auto const& op : c.acquisitions) {
        if (has_lease(op)) {
            check_told(ctx, op, now);
        }
    }
}

void check_world(context& ctx, world const& w) {
    for (int number = 0; number < client_count; ++number) {
        auto const& c = w.clients[static_cast<std::size_t>(number)];
        if (c.crashed) {
            continue;
        }
        for (int i = 0; i < most_acquisitions; ++i) {
            auto const& op = c.acquisitions[static_cast<std::size_t>(i)];
            if (has_lease(op)) {
                check_belief(ctx, w, op, holder_of(number, i));
                check_faultless(ctx, w, op);
            }
        }
        check_waiters(ctx, w, c);
    }
    check_leftover(ctx, w);
    ctx.expect(
        w.server.ends == never || w.server.ends <= w.now + ctx.of.lease,
        "S13",
        "the lock is kept for longer than a lease"
    );
}

void check_end(context& ctx, world const& w) {
    if (is_over(ctx.of, w)) {
        return;
    }
    if (w.server.holder != 0) {
        ctx.fail("L6", "at the end the lock is still there");
    }
    for (std::size_t number = 0; number < w.clients.size(); ++number) {
        auto const& c = w.clients[number];
        bool const waits =
            std::any_of(c.acquisitions.begin(), c.acquisitions.end(), [](acquisition const& op) {
                return op.where == phase::waiting;
            });
        if (waits) {
            ctx.fail("L13", "at the end somebody still waits");
        }
        if (c.waiting.exists || c.subscription_wanted || w.server.subscribed[number]) {
            ctx.fail("L6", "at the end there is still a waiting room or a subscription");
        }
    }
    ctx.fail("L6", "something is left at the end");
}

}  // namespace holdfast::exhaustive
