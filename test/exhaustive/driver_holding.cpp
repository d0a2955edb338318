// What grant.cpp and releaser.cpp of `src/ops` do.

#include "exhaustive/driver.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace holdfast::exhaustive {

using detail::exec_status;
using detail::lease_fsm;

// grant

template <class Change>
auto driver::apply(int i, Change change) {
    auto const now = time_at(now_);
    auto& op = at(i);
    return machines::run(ctx_.all.leases, op.lease, [&](lease_fsm& fsm) {
        auto const was = fsm.look(now);
        auto finish = [&] {
            auto const state = fsm.look(now);
            ctx_.reach_if(
                was == lease_state::held && state == lease_state::in_doubt,
                landmark::doubted
            );
            ctx_.reach_if(
                was == lease_state::in_doubt && state == lease_state::held,
                landmark::recovered
            );
            if (state == lease_state::lost && !std::exchange(op.told, true)) {
                switch (fsm.loss()) {
                    case loss_reason::unreachable: ctx_.reach(landmark::lost_unreachable); break;
                    case loss_reason::expired: ctx_.reach(landmark::lost_expired); break;
                    case loss_reason::max_hold: ctx_.reach(landmark::lost_max_hold); break;
                    case loss_reason::deleted:
                    case loss_reason::taken: ctx_.reach(landmark::lost_not_ours); break;
                    default: break;
                }
                ctx_.reach(landmark::told_of_loss);
                wake(i);
            }
        };
        using result = decltype(change(fsm, now));
        if constexpr (std::is_void_v<result>) {
            change(fsm, now);
            finish();
        } else {
            auto const value = change(fsm, now);
            finish();
            return value;
        }
    });
}

void driver::wake(int i) {
    if (ctx_.of.defect != sabotage::keep_alive_not_woken &&
        at(i).coroutine == keep_alive::sleeping) {
        at(i).woken = true;
    }
}

void driver::on_disconnected(int i) {
    apply(i, [](lease_fsm& fsm, detail::time_point now) { fsm.on_disconnected(now); });
}

void driver::on_connected(int i) {
    apply(i, [](lease_fsm& fsm, detail::time_point now) {
        fsm.on_connected(detail::nanos{0}, now);
    });
    wake(i);
}

void driver::run_keep_alive(int i) {
    auto& op = at(i);
    op.woken = false;
    for (;;) {
        auto const step = apply(i, [](lease_fsm& fsm, detail::time_point now) {
            auto const due = fsm.next(now);
            if (due.kind == lease_fsm::step_kind::renew) {
                fsm.on_renewal_sent(now);
            }
            return due;
        });
        if (step.kind == lease_fsm::step_kind::finish) {
            op.coroutine = keep_alive::ended;
            break;
        }
        if (step.kind == lease_fsm::step_kind::renew) {
            if (std::exchange(op.renewal_posted, true)) {
                ctx_.fail("S8", "two renewals of one lease at a time");
                break;
            }
            continue;
        }
        op.coroutine = keep_alive::sleeping;
        op.wakes_at = tick_at(step.until);
        break;
    }
    tidy();
}

void driver::send_renewal(int i) {
    auto& op = at(i);
    op.renewal_posted = false;
    auto const state = machines::run(ctx_.all.leases, op.lease, [this](lease_fsm& fsm) {
        return fsm.look(time_at(now_));
    });
    if (is_alive(state) || ctx_.of.defect == sabotage::renewal_unchecked) {
        ctx_.expect(op.where == phase::holding, "S8", "a renewal was sent after the release");
        ctx_.expect(!op.told, "S8", "a renewal was sent after the loss");
        exec(script::renew, i);
    }
    tidy();
}

void driver::on_renewal_answer(int i, exec_status status, request const& r) {
    auto const where = at(i).where;
    auto machine = ctx_.all.leases[at(i).lease];
    bool const over = !is_alive(machine.look(time_at(now_)));
    ctx_.reach_if(where != phase::holding, landmark::renewal_answered_after_release);
    bool wakes = true;
    if (status == exec_status::replied && r.answer == outcome::yes) {
        ctx_.reach(landmark::renewed);
        ctx_.reach_if(over && where == phase::holding, landmark::late_renewal_answered_after_loss);
        auto const sent_at = time_at(r.sent_at);
        wakes = apply(i, [&](lease_fsm& fsm, detail::time_point now) {
            return fsm.on_renewed(sent_at, now);
        });
    } else if (status == exec_status::replied) {
        auto const reason = r.value == 0 ? loss_reason::deleted : loss_reason::taken;
        apply(i, [&](lease_fsm& fsm, detail::time_point now) { fsm.on_not_ours(reason, now); });
        auto const after = ctx_.all.leases[at(i).lease];
        ctx_.expect(
            !is_alive(lease_fsm{after}.look(time_at(now_))) &&
                (at(i).told || where != phase::holding),
            "N2",
            "the server says that a lease is not ours, and its holder is not told at once"
        );
    } else {
        auto const pause = duration_of(ctx_.of.renewal_pause);
        apply(i, [&](lease_fsm& fsm, detail::time_point now) {
            fsm.on_renewal_failed(pause, now);
        });
    }
    if (wakes && where == phase::holding) {
        wake(i);
    }
}

void driver::release(int i) {
    auto& op = at(i);
    apply(i, [this](lease_fsm& fsm, detail::time_point now) {
        ctx_.reach_if(fsm.look(now) == lease_state::lost, landmark::released_after_loss);
        fsm.on_release(now);
    });
    op.where = phase::released;
    // It is woken, sees that its lease was released, and does nothing more.
    op.coroutine = keep_alive::ended;
    op.woken = false;
    op.hand_over_posted = true;
    tidy();
}

void driver::hand_over(int i) {
    at(i).hand_over_posted = false;
    add_release({
        .of = static_cast<std::uint8_t>(i),
        .until = later(now_, ctx_.of.lease),
    });
    tidy();
}

// releaser

void driver::add_release(release_task const& task) {
    c_.releases.push_back(task);
    send_release(c_.releases.size - std::size_t{1});
}

void driver::send_release(std::size_t task) {
    auto& e = c_.releases[task];
    e.in_flight = true;
    e.retry_at = never;
    exec(script::release, e.of, task);
}

void driver::on_release_answer(std::size_t task, exec_status status, request const& r) {
    auto& e = c_.releases[task];
    e.in_flight = false;
    if (status == exec_status::replied) {
        if (r.answer == outcome::yes) {
            on_released(r.value == 1);
        }
        finish_release(task);
        return;
    }
    ctx_.reach(landmark::release_repeated);
    if (ctx_.of.defect == sabotage::release_not_repeated) {
        finish_release(task);
        return;
    }
    retry_release(task, spread);
}

void driver::retry_release(std::size_t task, tick after) {
    auto& e = c_.releases[task];
    if (now_ >= e.until) {
        c_.gave_up_release = true;
        finish_release(task);
        return;
    }
    e.retry_at = commands_up() ? later(now_, after) : never;
    arm_release_timer(std::min(e.retry_at, e.until));
}

void driver::finish_release(std::size_t task) {
    c_.releases.erase(task);
    for (auto& r : c_.requests) {
        if (r.what == script::release && r.task > task) {
            --r.task;
        }
    }
}

void driver::arm_release_timer(tick at) {
    c_.release_timer = std::min(c_.release_timer, at);
}

void driver::on_release_timer() {
    c_.release_timer = never;
    for (std::size_t task = 0; task < c_.releases.size;) {
        auto const count = c_.releases.size;
        auto const e = c_.releases[task];
        if (e.in_flight) {
            // It is being answered.
        } else if (now_ >= e.retry_at) {
            send_release(task);
        } else {
            retry_release(
                task,
                e.retry_at == never ? tick{0} : static_cast<tick>(e.retry_at - now_)
            );
        }
        if (c_.releases.size == count) {
            ++task;
        }
    }
    tidy();
}

}  // namespace holdfast::exhaustive
