#include "exhaustive/driver.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::exhaustive {

using detail::acquire_fsm;
using detail::exec_status;
using detail::lease_fsm;
using detail::nanos;
using detail::room_fsm;
using kind = acquire_fsm::verdict_kind;

detail::lease_terms terms_of(scope const& of) {
    detail::lease_terms terms;
    terms.lease = std::chrono::duration_cast<detail::millis>(duration_of(of.lease));
    terms.drift = nanos{0};
    terms.notice = duration_of(of.notice);
    terms.renew_after = duration_of(of.renew_after);
    terms.request_timeout = duration_of(of.request_timeout);
    terms.max_hold = duration_of(of.max_hold);
    terms.renew = of.renew;
    return terms;
}

// client_state

void driver::enter(int i) {
    if (!waits()) {
        if (commands_up()) {
            attempt(i);
        }
        return;
    }
    join(i);
}

void driver::leave(int i) {
    auto& waiters = c_.waiting.waiters;
    auto const place = std::find(waiters.begin(), waiters.end(), i);
    if (place == waiters.end()) {
        return;
    }
    waiters.erase(static_cast<std::size_t>(place - waiters.begin()));
    if (waiters.empty()) {
        c_.waiting.empty_since = now_;
        c_.waiting.armed_for = never;
    }
}

void driver::make_lease(int i) {
    lease_fsm const fsm{terms_of(ctx_.of), time_at(at(i).sent_at), time_at(now_)};
    ctx_.expect(
        lease_fsm{fsm}.look(time_at(now_)) == lease_state::held,
        "S2",
        "a lease was delivered that is over"
    );
    at(i).lease = static_cast<std::uint16_t>(ctx_.all.leases.number_of(fsm));
    at(i).where = phase::holding;
    at(i).granted_at = ctx_.of.max_hold == 0 ? tick{0} : now_;
    // At once, or a moment later: in this tick anyway.
    at(i).coroutine = keep_alive::starting;
}

void driver::withdraw(int i) {
    if (ctx_.of.defect == sabotage::no_withdrawal) {
        return;
    }
    add_release({
        .of = static_cast<std::uint8_t>(i),
        .until = later(now_, ctx_.of.lease),
    });
}

void driver::exec(script what, int of, std::size_t task) {
    c_.requests.push_back({
        .what = what,
        .of = static_cast<std::uint8_t>(of),
        .task = static_cast<std::uint8_t>(task),
        .at = commands_up() ? stage::queued : stage::not_sent,
        .sent_at = now_,
        .give_up_at = later(now_, ctx_.of.request_timeout),
    });
}

void driver::on_commands_down() {
    c_.commands = link::down;
    for (int i = 0; i < most_acquisitions; ++i) {
        // Those that were not forgotten.
        if (at(i).where == phase::holding || at(i).hand_over_posted) {
            on_disconnected(i);
        }
    }
    if (c_.waiting.exists) {
        room_machine([](room_fsm& fsm) { fsm.on_disconnected(); });
    }
    // What was posted stays posted; and nothing new can be sent meanwhile.
    auto const is_lost = [](request const& r) { return r.at != stage::not_sent; };
    for (;;) {
        auto const lost = std::find_if(c_.requests.begin(), c_.requests.end(), is_lost);
        if (lost == c_.requests.end()) {
            break;
        }
        auto const r = *lost;
        c_.requests.erase(static_cast<std::size_t>(lost - c_.requests.begin()));
        answer(r, exec_status::unknown);
    }
    tidy();
}

void driver::on_commands_up() {
    c_.commands = link::up;
    c_.commands_down_long = false;
    for (std::size_t task = 0; task < c_.releases.size; ++task) {
        if (!c_.releases[task].in_flight) {
            send_release(task);
        }
    }
    for (int i = 0; i < most_acquisitions; ++i) {
        if (at(i).where == phase::holding || at(i).hand_over_posted) {
            on_connected(i);
        }
    }
    if (!waits()) {
        for (int i = 0; i < most_acquisitions; ++i) {
            if (at(i).where == phase::waiting && !acquire_of(i).in_flight()) {
                attempt(i);
            }
        }
    }
    if (c_.waiting.exists) {
        room_machine([](room_fsm& fsm) { fsm.on_connected(); });
        update();
    }
    tidy();
}

// The port

void driver::answer(request const& r, exec_status status) {
    if (!r.awaited) {
        return;
    }
    switch (r.what) {
        case script::acquire: on_acquire_answer(r.of, status, r); break;
        case script::renew: on_renewal_answer(r.of, status, r); break;
        case script::release: on_release_answer(r.task, status, r); break;
        case script::none: break;
    }
}

void driver::on_reply() {
    auto const first =
        std::find_if(c_.requests.begin(), c_.requests.end(), [](request const& each) {
            return each.at == stage::executed;
        });
    auto r = *first;
    c_.requests.erase(static_cast<std::size_t>(first - c_.requests.begin()));
    if (r.answer == outcome::unknown_script && r.awaited) {
        r.at = stage::queued;
        r.answer = outcome::none;
        r.sent_again = true;
        c_.requests.push_back(r);
    } else {
        bool const refused = r.answer == outcome::refused;
        answer(r, refused ? exec_status::refused : exec_status::replied);
    }
    tidy();
}

void driver::on_not_sent(std::size_t at) {
    auto const r = c_.requests[at];
    c_.requests.erase(at);
    answer(r, exec_status::not_sent);
    tidy();
}

void driver::on_timeout() {
    auto const is_overdue = [this](request const& r) {
        return r.at != stage::not_sent && r.awaited && r.give_up_at <= now_;
    };
    for (;;) {
        auto const overdue = std::find_if(c_.requests.begin(), c_.requests.end(), is_overdue);
        if (overdue == c_.requests.end()) {
            break;
        }
        auto const r = *overdue;
        overdue->awaited = false;
        ctx_.reach_if(r.what == script::acquire, landmark::attempt_timed_out);
        ctx_.reach_if(r.what == script::release, landmark::release_timed_out);
        answer(r, exec_status::unknown);
    }
    tidy();
}

void driver::port_subscribe() {
    c_.subscription_wanted = true;
    c_.subscription_confirmed_once = false;
    if (c_.notices_up) {
        send_notice_request(true);
    }
}

void driver::port_unsubscribe() {
    c_.subscription_wanted = false;
    c_.subscription_confirmed_once = false;
    for (auto& each : c_.notice_requests) {
        each.current = false;
    }
    for (auto& each : c_.pushes) {
        each.current = false;
    }
    if (c_.notices_up) {
        send_notice_request(false);
    }
}

void driver::send_notice_request(bool subscribe) {
    c_.notice_requests.push_back({subscribe, subscribe, false});
}

void driver::on_notices_up() {
    c_.notices_up = true;
    c_.notices_down_long = false;
    if (c_.subscription_wanted) {
        send_notice_request(true);
    }
    tidy();
}

void driver::on_push() {
    auto const message = c_.pushes[0];
    c_.pushes.erase(0);
    switch (message.what) {
        case push_kind::notice:
            if (c_.waiting.exists && c_.waiting.wants_subscription) {
                ctx_.reach_if(!c_.waiting.waiters.empty(), landmark::woken_by_notice);
                on_news();
            }
            break;
        case push_kind::subscribed:
            if (message.current && ctx_.of.defect != sabotage::subscription_assumed) {
                on_subscribed(std::exchange(c_.subscription_confirmed_once, true));
            }
            break;
        case push_kind::none: break;
    }
    tidy();
}

void driver::tidy() {
    for (int i = 0; i < most_acquisitions; ++i) {
        auto& op = at(i);
        auto const awaits = [&](script what) {
            return std::any_of(c_.requests.begin(), c_.requests.end(), [&](request const& r) {
                return r.awaited && r.what == what && r.of == i;
            });
        };
        switch (op.where) {
            case phase::waiting:
                if (!awaits(script::acquire)) {
                    op.sent_at = 0;
                }
                break;
            case phase::holding:
                op.acquire = 0;
                op.sent_at = 0;
                op.limit_at = never;
                op.cancelled_in_total = false;
                op.has_been_unsure = false;
                if (op.coroutine != keep_alive::sleeping) {
                    op.wakes_at = 0;
                    op.woken = false;
                }
                break;
            case phase::gone:
                op.cancelled_in_total = false;
                op.has_been_unsure = false;
                if (!awaits(script::acquire)) {
                    op = {};
                    op.where = phase::over;
                }
                break;
            case phase::released:
                op.wakes_at = 0;
                if (!op.hand_over_posted && !op.renewal_posted && !awaits(script::renew)) {
                    op = {};
                    op.where = phase::over;
                }
                break;
            case phase::unused:
            case phase::over: break;
        }
    }
    auto& room = c_.waiting;
    if (!room.exists || !room.waiters.empty()) {
        room.empty_since = 0;
    }
}

}  // namespace holdfast::exhaustive
