#include "soak/lock_worker.hpp"

#include "soak/settings.hpp"

#include <holdfast/with_lease.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <thread>
#include <utility>

namespace holdfast::soak {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto awaited = asio::use_awaitable;

}  // namespace

asio::awaitable<bool> lock_worker::take_turn(bool last) {
    auto const next = draw_plan(last);
    co_return co_await turn(next);
}

lock_worker::plan lock_worker::draw_plan(bool last) {
    if (last) {
        plan p;
        p.lock = patient_ ? hot_locks + draw(long_locks) : draw(hot_locks);
        p.hold = draw_ms(0, 1);
        return p;
    }
    if (patient_) {
        return draw_patient_plan();
    }
    constexpr std::array ways{
        way::acquire,
        way::acquire,
        way::acquire,
        way::limited,
        way::cancelled,
        way::body,
        way::twice,
    };
    plan p;
    p.how = ways[static_cast<std::size_t>(draw(ways.size()))];
    p.lock = draw(hot_locks);
    if (p.how == way::limited || p.how == way::cancelled) {
        p.limit = draw_ms(1, 300);
    }
    if (one_in(3)) {
        p.cancellation = asio::cancellation_type::total;
    }
    // Of an owner's two leases only one is looked at.
    p.watched = p.how == way::twice || one_in(3);
    p.hold = one_in(50) ? draw_ms(10, 60) : draw_ms(0, 4);
    p.careful = one_in(2);
    p.drops = one_in(10);
    p.lingers = one_in(2);
    p.with = draw_options(p.how);
    return p;
}

lock_worker::plan lock_worker::draw_patient_plan() {
    constexpr std::array ways{
        way::acquire,
        way::acquire,
        way::body,
        way::twice,
        way::fixed,
        way::fixed,
    };
    plan p;
    p.how = ways[static_cast<std::size_t>(draw(ways.size()))];
    p.lock = hot_locks + draw(long_locks);
    p.watched = p.how == way::twice || one_in(3);
    // Some past several renewals.
    p.hold = p.how == way::fixed ? lease_time + 200ms
             : one_in(3)         ? draw_ms(1500, 3500)
                                 : draw_ms(50, 1500);
    p.careful = p.how == way::fixed || one_in(2);
    p.renews = one_in(3);
    p.drops = one_in(5);
    p.lingers = p.how == way::fixed || !one_in(4);
    p.blocks = where_.one_thread && p.how == way::fixed;
    p.with = draw_options(p.how);
    return p;
}

// All that the rules allow for: the lease is the shortest one, and the rules know its length.
acquire_options lock_worker::draw_options(way how) {
    acquire_options chosen;
    if (how == way::fixed) {
        if (one_in(3)) {
            chosen.max_renewals = 0;
        } else {
            chosen.renew = false;
        }
    } else if (one_in(3)) {
        chosen.lease = learned;
    }
    if (one_in(3)) {
        chosen.renew_at = 0.1 + 0.001 * static_cast<double>(draw(234));
    }
    if (one_in(3)) {
        chosen.orphan_after = draw_ms(50, 2000);
    }
    return chosen;
}

holdfast::lock lock_worker::lock_of(plan const& p) const {
    return where_.locks().lock("{}", p.lock);
}

account lock_worker::open(plan const& p, std::int64_t owner) {
    constexpr std::array names{"acquire", "limited", "cancelled", "body", "twice", "fixed"};
    account a{where_.history, where_.process, ++where_.last_op, p.lock};
    a.invoke(
        names[static_cast<std::size_t>(p.how)],
        p.limit < 0ns ? unlimited : p.limit.count(),
        owner
    );
    return a;
}

// Whether there is a lease.
bool lock_worker::settle(plan const& p, account& a, lease& held, error_code ec) const {
    if (held) {
        a.granted(held);
        if (p.watched) {
            watch(a, held);
        }
        return true;
    }
    if (!ec) {
        a.no_lease("busy");
    } else if (ec == asio::error::operation_aborted) {
        a.no_lease("cancelled");
    } else {
        a.failed(ec);
    }
    return false;
}

void lock_worker::watch(account const& a, lease& held) const {
    held.wait_lost(asio::bind_executor(executor_, [a](error_code ec, loss_reason why) {
        if (!ec) {
            a.lost(why);
        }
    }));
}

// Without a watcher the holder finds out by itself.
void lock_worker::look(plan const& p, account& a, lease const& held) {
    a.look(held);
    if (!p.watched && p.how != way::body) {
        a.find_out(held);
    }
}

// A handler that takes its time is no fault of the lease's: what the server answers meanwhile is
// read late.
void lock_worker::block_soon() {
    auto const timer = std::make_shared<asio::steady_timer>(executor_, draw_ms(0, 2));
    auto const how_long = draw_ms(30, 120);
    timer->async_wait([timer, how_long](error_code) { std::this_thread::sleep_for(how_long); });
}

asio::awaitable<bool> lock_worker::turn(plan p) {
    if (p.how == way::body) {
        co_return co_await turn_with_body(p);
    }
    if (p.how == way::twice) {
        co_return co_await turn_twice(p);
    }
    auto a = open(p, 0);
    if (p.blocks) {
        block_soon();
    }
    error_code ec;
    auto held = co_await ask(p, ec);
    if (!settle(p, a, held, ec)) {
        co_return false;
    }
    co_await use(p, a, held);
    co_await give_up(p, a, held);
    co_return true;
}

asio::awaitable<lease> lock_worker::ask(plan const& p, error_code& ec) {
    auto const lock = lock_of(p);
    auto const& how = p.with;
    lease held;
    if (p.how == way::limited) {
        auto asked = lock.try_acquire_for(p.limit, how, asio::deferred);
        held = co_await std::move(asked)(asio::redirect_error(awaited, ec));
    } else if (p.how == way::cancelled) {
        auto asked = lock.acquire(how, asio::cancel_after(p.limit, p.cancellation, asio::deferred));
        held = co_await std::move(asked)(asio::redirect_error(awaited, ec));
    } else {
        auto asked = lock.acquire(how, asio::deferred);
        held = co_await std::move(asked)(asio::redirect_error(awaited, ec));
    }
    co_return held;
}

// Reads what the lock protects, takes its time, and writes it back.
asio::awaitable<void> lock_worker::use(plan const& p, account& a, lease& held) {
    access const by{.lock = a.lock(), .token = a.token(), .process = a.process(), .op = a.op()};
    auto const seen = co_await resource_.read(by);
    look(p, a, held);
    co_await hold(p, a, held);
    if (!p.careful || held.valid()) {
        co_await resource_.write(by, seen);
    }
    look(p, a, held);
}

asio::awaitable<void> lock_worker::hold(plan const& p, account& a, lease& held) {
    auto const end = now() + p.hold.count();
    bool renewed = !p.renews;
    // Whose answers were late finds out whether his deadline is right, unless others wait to go.
    bool const stays = p.blocks && !where_.closing;
    for (;;) {
        auto const left = nanos{end - now()};
        if (left <= 0ns || (where_.closing && !stays) || (p.careful && !held.valid())) {
            co_return;
        }
        co_await sleep_for(std::min<nanos>(left, look_interval));
        look(p, a, held);
        if (!std::exchange(renewed, true)) {
            if (p.blocks) {
                block_soon();
            }
            co_await renew(p, a, held);
        }
    }
}

asio::awaitable<void> lock_worker::renew(plan const& p, account& a, lease& held) {
    a.renew();
    error_code ec;
    auto asked = held.renew(asio::deferred);
    co_await std::move(asked)(asio::redirect_error(awaited, ec));
    a.renewed(ec);
    look(p, a, held);
}

asio::awaitable<void> lock_worker::linger(lease& held) {
    while (held.remaining() > 0ns) {
        co_await sleep_for(held.remaining());
    }
    co_await sleep_for(30ms);
}

asio::awaitable<void> lock_worker::give_up(plan const& p, account& a, lease& held) {
    if (p.lingers && !held.valid()) {
        co_await linger(held);
    }
    a.releasing(held);
    if (p.drops) {
        held = lease{};
        co_return;
    }
    error_code ec;
    auto released = held.release(asio::deferred);
    co_await std::move(released)(asio::redirect_error(awaited, ec));
    a.released(ec);
}

asio::awaitable<bool> lock_worker::turn_with_body(plan p) {
    auto a = open(p, 0);
    bool had_it = false;
    auto body = [&](lease& held) -> asio::awaitable<void> {
        had_it = true;
        a.granted(held);
        std::exception_ptr failure;
        try {
            co_await use(p, a, held);
        } catch (...) {
            failure = std::current_exception();
        }
        if (held.state() == lease_state::lost) {
            a.lost(held.loss());
        }
        a.releasing(held);
        if (failure) {
            std::rethrow_exception(failure);
        }
    };
    auto const lock = lock_of(p);
    error_code ec;
    try {
        co_await with_lease(lock, body, p.with);
    } catch (boost::system::system_error const& e) {
        ec = e.code();
    }
    if (had_it) {
        a.released(ec);
    } else {
        a.failed(ec);
    }
    co_return had_it;
}

asio::awaitable<bool> lock_worker::turn_twice(plan p) {
    auto const me = owner::make();
    auto const name = static_cast<std::int64_t>(me.words()[0] >> 1U) | 1;
    auto a = open(p, name);
    auto const lock = lock_of(p);
    error_code ec;
    auto how = p.with;
    how.owner = me;
    auto asked = lock.acquire(how, asio::deferred);
    auto held = co_await std::move(asked)(asio::redirect_error(awaited, ec));
    if (!settle(p, a, held, ec)) {
        co_return false;
    }
    p.hold /= 2;
    co_await use(p, a, held);
    co_await again(p, me, name);
    co_await give_up(p, a, held);
    co_return true;
}

// The same owner once more, while it has the lock, or just after it has lost it.
asio::awaitable<void> lock_worker::again(plan p, owner me, std::int64_t name) {
    p.limit = 100ms;
    auto a = open(p, name);
    auto const lock = lock_of(p);
    error_code ec;
    auto how = p.with;
    how.owner = me;
    auto asked = lock.try_acquire_for(p.limit, how, asio::deferred);
    auto held = co_await std::move(asked)(asio::redirect_error(awaited, ec));
    if (settle(p, a, held, ec)) {
        co_await use(p, a, held);
        co_await give_up(p, a, held);
    }
}

}  // namespace holdfast::soak
