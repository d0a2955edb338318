#include "exhaustive/moves.hpp"

#include "exhaustive/driver.hpp"
#include "exhaustive/server.hpp"

#include <boost/asio/cancellation_type.hpp>

#include <algorithm>

namespace holdfast::exhaustive {

namespace {

// The place of the first request that the server has not executed; behind the last, if none.
std::size_t first_queued(client const& c) {
    std::size_t place = 0;
    while (place < c.requests.size && c.requests[place].at != stage::queued) {
        ++place;
    }
    return place;
}

bool has_queued(client const& c) {
    return first_queued(c) < c.requests.size;
}

// Answers are read in the order of the requests.
bool has_answer(client const& c) {
    auto const first = std::find_if(c.requests.begin(), c.requests.end(), [](request const& r) {
        return r.at != stage::not_sent;
    });
    return first != c.requests.end() && first->at == stage::executed;
}

bool is_overdue(request const& r, tick now) {
    return r.at != stage::not_sent && r.awaited && r.give_up_at <= now;
}

bool keep_alive_is_due(acquisition const& op, tick now) {
    return op.coroutine == keep_alive::starting ||
           (op.coroutine == keep_alive::sleeping && (op.woken || op.wakes_at <= now));
}

bool acquisition_is_busy(scope const& of, acquisition const& op, tick now) {
    if (op.renewal_posted || op.hand_over_posted || op.limit_at <= now) {
        return true;
    }
    if (op.coroutine == keep_alive::starting || op.woken ||
        (op.coroutine == keep_alive::sleeping && later(op.wakes_at, of.slack) <= now)) {
        return true;
    }
    return now >= of.quiet_from && op.where == phase::holding;
}

bool links_are_busy(scope const& of, client const& c, tick now) {
    bool const quiet = now >= of.quiet_from;
    // The link ends a connection on which nothing is answered for two time-outs.
    auto const must_move = [&](request const& r) {
        return quiet || r.at == stage::not_sent || is_overdue(r, now) ||
               later(r.give_up_at, of.request_timeout) <= now;
    };
    auto const is_old = [quiet](auto const& each) { return quiet || each.old; };
    return std::any_of(c.requests.begin(), c.requests.end(), must_move) ||
           std::any_of(c.notice_requests.begin(), c.notice_requests.end(), is_old) ||
           std::any_of(c.pushes.begin(), c.pushes.end(), is_old) || c.commands == link::poisoned ||
           (c.commands == link::down && (quiet || c.commands_down_long)) ||
           (!c.notices_up && (quiet || c.notices_down_long));
}

bool may_tick(scope const& of, world const& w, std::array<standing, client_count> const& all) {
    bool began = false;
    bool over = true;
    for (auto const& each : all) {
        if (each.busy) {
            return false;
        }
        began = began || each.began;
        over = over && each.over;
    }
    over = over && w.server.holder == 0 && !w.server.subscribed[0] && !w.server.subscribed[1];
    return began && w.now < of.end && !(over && w.now >= of.last_start);
}

void list_caller_moves(scope const& of, client const& c, tick now, std::vector<move>& out) {
    for (std::uint8_t i = 0; i < most_acquisitions; ++i) {
        auto const& op = c.acquisitions[i];
        switch (op.where) {
            case phase::unused:
                // They are alike: they begin in the order of their numbers.
                if (now <= of.last_start &&
                    (i == 0 || c.acquisitions[i - 1U].where != phase::unused)) {
                    out.push_back({move_kind::start, 0, i});
                }
                break;
            case phase::waiting:
                if (of.cancellations && now < of.quiet_from && !op.cancelled_in_total) {
                    out.push_back({move_kind::cancel_at_once, 0, i});
                    out.push_back({move_kind::cancel_in_total, 0, i});
                }
                break;
            case phase::holding: out.push_back({move_kind::release, 0, i}); break;
            case phase::gone:
            case phase::released:
            case phase::over: break;
        }
    }
}

void list_link_moves(client const& c, std::vector<move>& out) {
    if (c.commands == link::up && has_answer(c)) {
        out.push_back({move_kind::read_answer});
    }
    auto const posted = std::find_if(c.requests.begin(), c.requests.end(), [](request const& r) {
        return r.at == stage::not_sent;
    });
    if (posted != c.requests.end()) {
        auto const place = static_cast<std::uint8_t>(posted - c.requests.begin());
        out.push_back({move_kind::read_not_sent, 0, place});
    }
    if (c.commands == link::poisoned) {
        out.push_back({move_kind::report_commands_down});
    }
    if (c.commands == link::down) {
        out.push_back({move_kind::report_commands_up});
    }
    if (!c.notices_up) {
        out.push_back({move_kind::report_notices_up});
    } else if (!c.pushes.empty()) {
        out.push_back({move_kind::read_push});
    }
}

void list_timer_moves(client const& c, tick now, std::vector<move>& out) {
    for (std::uint8_t i = 0; i < most_acquisitions; ++i) {
        auto const& op = c.acquisitions[i];
        if (keep_alive_is_due(op, now)) {
            out.push_back({move_kind::run_keep_alive, 0, i});
        }
        if (op.renewal_posted) {
            out.push_back({move_kind::send_renewal, 0, i});
        }
        if (op.hand_over_posted) {
            out.push_back({move_kind::hand_over, 0, i});
        }
        if (op.limit_at <= now) {
            out.push_back({move_kind::limit_timer, 0, i});
        }
    }
    if (c.waiting.armed_for <= now) {
        out.push_back({move_kind::room_timer});
    }
    if (c.release_timer <= now) {
        out.push_back({move_kind::release_timer});
    }
    if (c.sweep_at <= now) {
        out.push_back({move_kind::sweep_timer});
    }
}

void list_fault_moves(world const& w, std::uint8_t number, std::vector<move>& out) {
    auto const& c = w.clients[number];
    bool const queued = has_queued(c);
    bool const may_stray = queued && w.strays.size < 2;
    if (w.left.crashes > 0) {
        out.push_back({move_kind::crash, number});
        if (may_stray && w.left.late > 0) {
            out.push_back({move_kind::crash_stray, number});
        }
    }
    if (queued && may_stray && w.left.duplicates > 0) {
        out.push_back({move_kind::execute_twice, number});
    }
    if (queued && w.left.refusals > 0) {
        out.push_back({move_kind::refuse, number});
    }
    if (queued && w.left.flushes > 0 && !c.requests[first_queued(c)].sent_again) {
        out.push_back({move_kind::forget_script, number});
    }
    if (w.left.losses > 0 && c.commands == link::up) {
        out.push_back({move_kind::poison, number});
        out.push_back({move_kind::commands_down, number});
        if (may_stray && w.left.late > 0) {
            out.push_back({move_kind::commands_down_stray, number});
        }
    }
    if (w.left.losses > 0 && c.notices_up) {
        out.push_back({move_kind::notices_down, number});
    }
    bool const overdue = std::any_of(c.requests.begin(), c.requests.end(), [&](request const& r) {
        return is_overdue(r, w.now);
    });
    if (w.left.late > 0 && overdue) {
        out.push_back({move_kind::time_out, number});
    }
}

void crash(world& w, std::uint8_t number) {
    --w.left.crashes;
    w.clients[number] = client{};
    w.clients[number].crashed = true;
    w.server.subscribed[number] = false;
}

void execute_next(context& ctx, world& w, std::uint8_t number) {
    auto const place = first_queued(w.clients[number]);
    auto const r = w.clients[number].requests[place];
    auto const result = execute(ctx, w, r.what, holder_of(number, r.of));
    auto& answered = w.clients[number].requests[place];
    answered.at = stage::executed;
    answered.answer = result.what;
    answered.value = result.value;
}

void answer_next(world& w, std::uint8_t number, outcome what) {
    auto& c = w.clients[number];
    auto& r = c.requests[first_queued(c)];
    r.at = stage::executed;
    r.answer = what;
}

// A request that nobody answers any more is still under way.
void let_stray(world& w, std::uint8_t number, request const& r) {
    w.strays.push_back({r.what, holder_of(number, r.of)});
}

void execute_stray(context& ctx, world& w, std::size_t place) {
    auto const each = w.strays[place];
    w.strays.erase(place);
    auto const before = w.server;
    execute(ctx, w, each.what, each.holder);
    ctx.reach_if(before.holder == 0 && w.server.holder != 0, landmark::stray_acquired);
    w.strayed |= w.server.ends > before.ends;
}

void pass_time(context& ctx, world& w) {
    ++w.now;
    auto const holder = w.server.holder;
    expire(w.server, w.now);
    if (holder != 0 && w.server.holder == 0) {
        bool const awaited = std::any_of(w.clients.begin(), w.clients.end(), [](client const& c) {
            return !c.waiting.waiters.empty();
        });
        bool const crashed = w.clients[static_cast<std::size_t>(client_of(holder))].crashed;
        ctx.reach_if(awaited && crashed, landmark::crashed_holder_succeeded);
        ctx.reach_if(awaited && w.strayed, landmark::stray_waited_out);
    }
    for (auto& c : w.clients) {
        for (auto& each : c.notice_requests) {
            each.old = true;
        }
        for (auto& each : c.pushes) {
            each.old = true;
        }
        c.commands_down_long = c.commands == link::down;
        c.notices_down_long = !c.notices_up;
    }
    if (w.now == ctx.of.quiet_from) {
        w.left = {};
        w.strays.clear();
    }
}

void make_fault(context& ctx, world& w, move const& m) {
    w.faultless = false;
    auto& c = w.clients[m.client];
    switch (m.kind) {
        case move_kind::crash: crash(w, m.client); break;
        case move_kind::crash_stray:
            --w.left.late;
            let_stray(w, m.client, c.requests[first_queued(c)]);
            crash(w, m.client);
            break;
        case move_kind::execute_twice: {
            --w.left.duplicates;
            auto const r = c.requests[first_queued(c)];
            execute_next(ctx, w, m.client);
            let_stray(w, m.client, r);
            break;
        }
        case move_kind::refuse:
            --w.left.refusals;
            answer_next(w, m.client, outcome::refused);
            break;
        case move_kind::forget_script:
            --w.left.flushes;
            answer_next(w, m.client, outcome::unknown_script);
            break;
        case move_kind::time_out:
            --w.left.late;
            driver{ctx, c, w.now}.on_timeout();
            break;
        case move_kind::poison:
            --w.left.losses;
            driver{ctx, c, w.now}.on_commands_poisoned();
            break;
        case move_kind::commands_down:
            --w.left.losses;
            driver{ctx, c, w.now}.on_commands_down();
            break;
        case move_kind::commands_down_stray:
            --w.left.losses;
            --w.left.late;
            let_stray(w, m.client, c.requests[first_queued(c)]);
            driver{ctx, c, w.now}.on_commands_down();
            break;
        case move_kind::notices_down:
            --w.left.losses;
            w.server.subscribed[m.client] = false;
            driver{ctx, c, w.now}.on_notices_down();
            break;
        default: break;
    }
}

}  // namespace

standing look_at(scope const& of, client const& c, tick now) {
    if (c.crashed) {
        return {.began = true, .over = true, .busy = false};
    }
    standing result;
    bool const empty = !c.waiting.exists && c.requests.empty() && c.releases.empty() &&
                       c.notice_requests.empty() && c.pushes.empty() && !c.subscription_wanted;
    result.over = empty;
    result.busy = links_are_busy(of, c, now) || c.waiting.armed_for <= now ||
                  c.release_timer <= now || c.sweep_at <= now;
    for (auto const& op : c.acquisitions) {
        result.over = result.over && (op.where == phase::unused || op.where == phase::over);
        result.busy = result.busy || acquisition_is_busy(of, op, now);
    }
    result.began = c.acquisitions[0].where != phase::unused;
    return result;
}

bool is_over(scope const& of, world const& w) {
    return w.server.holder == 0 && !w.server.subscribed[0] && !w.server.subscribed[1] &&
           std::all_of(w.clients.begin(), w.clients.end(), [&](client const& c) {
               return look_at(of, c, w.now).over;
           });
}

void list_local_moves(scope const& of, client const& c, tick now, std::vector<move>& out) {
    out.clear();
    if (!c.crashed) {
        list_caller_moves(of, c, now, out);
        list_link_moves(c, out);
        list_timer_moves(c, now, out);
    }
}

void make_local_move(context& ctx, client& c, tick now, move const& m) {
    using boost::asio::cancellation_type;
    driver self{ctx, c, now};
    switch (m.kind) {
        case move_kind::start: self.start(m.which); break;
        case move_kind::cancel_at_once: self.cancel(m.which, cancellation_type::terminal); break;
        case move_kind::cancel_in_total: self.cancel(m.which, cancellation_type::total); break;
        case move_kind::release: self.release(m.which); break;
        case move_kind::read_answer: self.on_reply(); break;
        case move_kind::read_not_sent: self.on_not_sent(m.which); break;
        case move_kind::read_push: self.on_push(); break;
        case move_kind::report_commands_down: self.on_commands_down(); break;
        case move_kind::report_commands_up: self.on_commands_up(); break;
        case move_kind::report_notices_up: self.on_notices_up(); break;
        case move_kind::run_keep_alive: self.run_keep_alive(m.which); break;
        case move_kind::send_renewal: self.send_renewal(m.which); break;
        case move_kind::hand_over: self.hand_over(m.which); break;
        case move_kind::room_timer: self.on_room_timer(); break;
        case move_kind::release_timer: self.on_release_timer(); break;
        case move_kind::sweep_timer: self.on_sweep(); break;
        case move_kind::limit_timer: self.on_limit(m.which); break;
        default: break;
    }
}

void list_moves(
    scope const& of,
    world const& w,
    std::array<standing, client_count> const& all,
    std::vector<move>& out
) {
    out.clear();
    for (std::uint8_t number = 0; number < client_count; ++number) {
        auto const& c = w.clients[number];
        if (c.crashed) {
            continue;
        }
        if (has_queued(c)) {
            out.push_back({move_kind::execute, number});
        }
        if (!c.notice_requests.empty()) {
            out.push_back({move_kind::execute_subscription, number});
        }
        if (all[number].began) {
            list_fault_moves(w, number, out);
        }
    }
    for (std::uint8_t place = 0; place < w.strays.size; ++place) {
        out.push_back({move_kind::execute_stray, 0, place});
    }
    if (w.left.removals > 0 && w.server.holder != 0) {
        out.push_back({move_kind::remove});
    }
    if (may_tick(of, w, all)) {
        out.push_back({});
    }
}

void make_move(context& ctx, world& w, move const& m) {
    if (is_local(m.kind)) {
        make_local_move(ctx, w.clients[m.client], w.now, m);
        return;
    }
    switch (m.kind) {
        case move_kind::execute: execute_next(ctx, w, m.client); break;
        case move_kind::execute_subscription: execute_subscription(ctx, w, m.client); break;
        case move_kind::execute_stray: execute_stray(ctx, w, m.which); break;
        case move_kind::remove:
            --w.left.removals;
            w.faultless = false;
            remove(ctx, w);
            break;
        case move_kind::pass_time: pass_time(ctx, w); break;
        default: make_fault(ctx, w, m); break;
    }
}

}  // namespace holdfast::exhaustive
