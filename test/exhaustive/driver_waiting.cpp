// What acquire_op.cpp, waiting_room.cpp and room_table.cpp of `src/ops` do.

#include "exhaustive/driver.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::exhaustive {

namespace asio = boost::asio;

using detail::acquire_fsm;
using detail::attempt_answer;
using detail::exec_status;
using detail::millis;
using detail::nanos;
using detail::patience;
using detail::room_fsm;
using kind = acquire_fsm::verdict_kind;

namespace {

patience patience_of(scope const& of) {
    return of.one_attempt      ? patience::one_attempt
           : of.limit != never ? patience::limited
                               : patience::unlimited;
}

room_fsm fresh_room(scope const& of) {
    auto const step = 2 * duration_of(spread);
    return {duration_of(of.fallback), step, step};
}

constexpr double half = 0.5;

}  // namespace

bool driver::in_room(int i) const {
    auto const& waiters = c_.waiting.waiters;
    return std::find(waiters.begin(), waiters.end(), i) != waiters.end();
}

// acquire_op

void driver::start(int i) {
    at(i).where = phase::waiting;
    at(i).acquire =
        static_cast<std::uint16_t>(ctx_.all.acquires.number_of(acquire_fsm{patience_of(ctx_.of)}));
    if (ctx_.of.limit != never) {
        at(i).limit_at = later(now_, ctx_.of.limit);
    } else if (!waits() && !commands_up()) {
        at(i).limit_at = later(now_, ctx_.of.request_timeout);
    }
    enter(i);
    tidy();
}

void driver::attempt(int i) {
    acquire_machine(i, [](acquire_fsm& fsm) { fsm.on_attempt_sent(); });
    at(i).sent_at = now_;
    exec(script::acquire, i);
}

void driver::on_acquire_answer(int i, exec_status status, request const& r) {
    if (at(i).acquire == 0) {
        ctx_.fail("S10", "an acquisition with a lease had another attempt on its way");
        return;
    }
    auto answer = attempt_answer::unknown;
    error_code cause = errc::unreachable;
    switch (status) {
        case exec_status::replied:
            answer = r.answer == outcome::yes ? attempt_answer::granted : attempt_answer::busy;
            cause = {};
            break;
        case exec_status::refused:
            answer = attempt_answer::refused;
            cause = errc::server_refused;
            break;
        case exec_status::failed: answer = attempt_answer::failed; break;
        case exec_status::not_sent: answer = attempt_answer::not_sent; break;
        case exec_status::unknown: answer = attempt_answer::unknown; break;
    }
    auto const terms = terms_of(ctx_.of);
    bool const late =
        time_at(now_) >= time_at(at(i).sent_at) + terms.lease - terms.drift - terms.notice;
    if (answer == attempt_answer::granted && late &&
        ctx_.of.defect != sabotage::late_grant_believed) {
        answer = attempt_answer::unknown;
        cause = errc::unreachable;
        ctx_.reach(landmark::late_grant_refused);
    }
    ctx_.reach_if(answer == attempt_answer::not_sent, landmark::attempt_not_sent);
    if (acquire_of(i).done()) {
        bool const may_hold =
            answer == attempt_answer::granted || answer == attempt_answer::unknown;
        if (r.sent_again && may_hold) {
            ctx_.reach(landmark::withdrawn_twice);
            withdraw(i);
        }
        return;
    }
    auto const before = at(i);
    auto const verdict =
        acquire_machine(i, [&](acquire_fsm& fsm) { return fsm.on_answer(answer, cause); });
    at(i).has_been_unsure |= answer == attempt_answer::unknown;
    check_answer(i, answer, verdict);
    if (verdict.kind == kind::deliver) {
        ctx_.reach(
            before.has_been_unsure ? landmark::granted_after_unknown_attempt
            : c_.waiting.exists && room_state().wants_notices() ? landmark::granted_after_refusal
                                                                : landmark::granted_at_once
        );
    }
    bool const mine = in_room(i);
    if (mine) {
        on_room_answer(answer, r);
    }
    carry_out(i, verdict);
    if (!acquire_of(i).done() && !waits() && answer == attempt_answer::not_sent) {
        at(i).limit_at = later(now_, ctx_.of.request_timeout);
        leave(i);
        enter(i);
    }
    if (mine) {
        update();
    }
}

// What the answer to an attempt must come to, said without the machine.
void driver::check_answer(int i, attempt_answer answer, acquire_verdict const& verdict) {
    auto const& op = at(i);
    if (answer == attempt_answer::granted) {
        ctx_.reach_if(op.cancelled_in_total, landmark::cancelled_in_total_granted);
        ctx_.expect(
            verdict.kind == kind::deliver && !verdict.error && !verdict.withdraw,
            "N6",
            "a lease that was granted is not delivered"
        );
        return;
    }
    if (op.cancelled_in_total) {
        ctx_.reach(landmark::cancelled_in_total_refused);
        ctx_.expect(
            verdict.kind == kind::finish && verdict.error == asio::error::operation_aborted,
            "N6",
            "an acquisition cancelled in total did not end with the answer to its attempt"
        );
        return;
    }
    bool const answered = answer == attempt_answer::busy || answer == attempt_answer::refused;
    if (!waits() && answer != attempt_answer::not_sent) {
        ctx_.expect(
            verdict.kind == kind::finish,
            "L9",
            "the only attempt was made, and the operation goes on"
        );
        ctx_.expect(
            static_cast<bool>(verdict.error) == (answer != attempt_answer::busy),
            "L9",
            "\"busy\" and \"could not ask\" were taken for each other"
        );
        ctx_.reach_if(!answered, landmark::gave_up);
        return;
    }
    ctx_.expect(verdict.kind == kind::go_on, "L13", "a waiter gave up by itself");
}

void driver::cancel(int i, asio::cancellation_type type) {
    bool const undecided = acquire_of(i).in_flight();
    bool const at_once = !undecided || type != asio::cancellation_type::total;
    bool const mine = in_room(i);
    bool const had_news = mine && room_state().attempt_at() && !undecided;
    auto const verdict = acquire_machine(i, [&](acquire_fsm& fsm) { return fsm.on_cancel(type); });
    ctx_.expect(
        at_once == (verdict.kind == kind::finish) &&
            (!at_once || verdict.error == asio::error::operation_aborted),
        "N6",
        "a cancellation did not do what its type promises"
    );
    at(i).cancelled_in_total = !at_once;
    if (at_once) {
        ctx_.reach(undecided ? landmark::cancelled_in_flight : landmark::cancelled_while_waiting);
        ctx_.reach_if(had_news && c_.waiting.waiters.size > 1, landmark::wake_up_passed_on);
    }
    carry_out(i, verdict);
    if (mine && acquire_of(i).done()) {
        on_left(undecided);
    }
    tidy();
}

void driver::on_limit(int i) {
    at(i).limit_at = never;
    on_time_up(i);
    tidy();
}

void driver::on_time_up(int i) {
    bool const undecided = acquire_of(i).in_flight();
    bool const mine = in_room(i);
    bool const busy = mine && room_state().last_answer_was_busy();
    auto const verdict =
        acquire_machine(i, [&](acquire_fsm& fsm) { return fsm.on_time_up(busy, {}); });
    ctx_.expect(verdict.kind == kind::finish, "L9", "an operation goes on after its limit");
    ctx_.reach(landmark::gave_up);
    carry_out(i, verdict);
    if (mine && acquire_of(i).done()) {
        on_left(undecided);
    }
}

void driver::carry_out(int i, acquire_verdict const& verdict) {
    if (verdict.kind == kind::go_on) {
        return;
    }
    at(i).limit_at = never;
    if (verdict.kind == kind::deliver) {
        make_lease(i);
    } else {
        at(i).where = phase::gone;
    }
    if (verdict.withdraw) {
        withdraw(i);
    }
    leave(i);
}

// waiting_room

void driver::join(int i) {
    auto& room = c_.waiting;
    if (!room.exists) {
        room.exists = true;
        room.machine = static_cast<std::uint16_t>(ctx_.all.rooms.number_of(fresh_room(ctx_.of)));
        if (!commands_up()) {
            room_machine([](room_fsm& fsm) { fsm.on_disconnected(); });
        }
    }
    if (room.waiters.empty()) {
        room_machine([](room_fsm& fsm) { fsm.on_news(); });
    }
    room.waiters.push_back(static_cast<std::uint8_t>(i));
    update();
}

void driver::update() {
    auto& room = c_.waiting;
    if (room.waiters.empty()) {
        on_room_empty();
        return;
    }
    if (room_state().wants_notices() && !room.wants_subscription) {
        room.wants_subscription = true;
        subscribe();
    }
    if (auto const at = room_state().attempt_at()) {
        if (*at <= time_at(now_)) {
            room_machine([](room_fsm& fsm) { fsm.on_attempt_sent(); });
            attempt(room.waiters[0]);
        } else if (*at != detail::time_point::max()) {
            arm(tick_at(*at));
        }
    }
}

void driver::arm(tick at) {
    c_.waiting.armed_for = std::min(c_.waiting.armed_for, at);
}

void driver::on_room_timer() {
    auto& room = c_.waiting;
    room.armed_for = never;
    ctx_.reach(room.confirmed ? landmark::woken_by_timer : landmark::woken_without_subscription);
    update();
    tidy();
}

void driver::on_room_answer(attempt_answer answer, request const& r) {
    auto const now = time_at(now_);
    room_machine([&](room_fsm& fsm) {
        switch (answer) {
            case attempt_answer::granted: fsm.on_granted(duration_of(ctx_.of.lease), now); break;
            case attempt_answer::busy:
                fsm.on_busy(
                    std::chrono::duration_cast<millis>(duration_of(r.value)).count(),
                    nanos{0},
                    now
                );
                break;
            case attempt_answer::refused: fsm.on_refused(half, now); break;
            case attempt_answer::unknown: fsm.on_setback(half, now); break;
            case attempt_answer::failed: fsm.on_undecided(); break;
            case attempt_answer::not_sent:
                fsm.on_undecided();
                if (!commands_up()) {
                    fsm.on_disconnected();
                }
                break;
        }
    });
}

void driver::on_left(bool undecided) {
    if (undecided && ctx_.of.defect != sabotage::departure_untold) {
        room_machine([](room_fsm& fsm) { fsm.on_undecided(); });
    }
    update();
}

void driver::on_news() {
    room_machine([](room_fsm& fsm) { fsm.on_news(); });
    update();
}

void driver::on_subscribed(bool again) {
    c_.waiting.confirmed = true;
    ctx_.reach_if(again, landmark::woken_by_renewed_subscription);
    auto const delay = again ? duration_of(spread) : nanos{0};
    room_machine([&](room_fsm& fsm) { fsm.on_subscribed(delay, time_at(now_)); });
    update();
}

void driver::on_notices_down() {
    c_.notices_up = false;
    c_.notice_requests.clear();
    c_.pushes.clear();
    if (c_.waiting.exists) {
        c_.waiting.confirmed = false;
        room_machine([&](room_fsm& fsm) { fsm.on_unsubscribed(time_at(now_)); });
        update();
    }
    tidy();
}

// room_table

void driver::subscribe() {
    port_subscribe();
    if (ctx_.of.defect == sabotage::subscription_assumed) {
        c_.waiting.confirmed = true;
        room_machine([&](room_fsm& fsm) { fsm.on_subscribed(nanos{0}, time_at(now_)); });
    }
}

void driver::on_room_empty() {
    if (c_.waiting.wants_subscription) {
        arm_sweep(later(now_, ctx_.of.linger));
    } else {
        close_room();
    }
}

void driver::close_room() {
    if (c_.waiting.wants_subscription) {
        port_unsubscribe();
    }
    bool const sweeping = c_.waiting.sweeping;
    c_.waiting = {};
    c_.waiting.sweeping = sweeping;
}

void driver::arm_sweep(tick at) {
    if (!std::exchange(c_.waiting.sweeping, true) && ctx_.of.defect != sabotage::no_sweep) {
        c_.sweep_at = at;
    }
}

void driver::on_sweep() {
    c_.waiting.sweeping = false;
    c_.sweep_at = never;
    auto const& room = c_.waiting;
    if (room.exists && room.wants_subscription && room.waiters.empty()) {
        if (later(room.empty_since, ctx_.of.linger) <= now_) {
            close_room();
        } else {
            arm_sweep(later(now_, ctx_.of.linger));
        }
    }
    tidy();
}

void driver::on_released(bool told) {
    if (c_.waiting.exists && (!told || !c_.waiting.confirmed)) {
        on_news();
    }
}

}  // namespace holdfast::exhaustive
