#include "simulation/user.hpp"

#include "core/lease_terms.hpp"
#include "simulation/drawing.hpp"

#include <holdfast/lock.hpp>

#include <boost/asio/error.hpp>

#include <fmt/format.h>

namespace holdfast::sim {

std::string describe(request::kind how) {
    switch (how) {
        case request::kind::acquire: return "acquires ";
        case request::kind::one_try: return "tries ";
        case request::kind::limited: return "tries for a while ";
    }
    return {};
}

user::in_hand::in_hand(
    user& whose,
    std::string const& lock,
    lease const& held,
    oracle::lease_kind kind
)
    : judge_{whose.all_.judge},
      node_{whose.node_},
      at_{judge_.on_delivered(whose.process_, whose.lane_, lock, held, kind)} {
    node_.on_held(1);
    ++whose.all_.grants;
}

void user::in_hand::part() {
    if (!std::exchange(parted_, true)) {
        node_.on_held(-1);
        // A killed process' beliefs went with it.
        if (!node_.killed()) {
            judge_.on_parted(at_);
        }
    }
}

user::user(node& in, lane& on, int number)
    : node_{in},
      all_{in.all()},
      process_{in.of()},
      lane_{on},
      executor_{process_.executor_of(on)},
      number_{number} {}

void user::cancel(asio::cancellation_type type) {
    if (waits()) {
        all_.in.within(lane_, [&] { asked_.lock()->cancel(type); });
    }
}

void user::say(std::string const& what) const {
    if (all_.in.traced()) {
        all_.in.trace(&process_, fmt::format("worker {}: {}", number_, what));
    }
}

std::optional<cancellation> user::random_cancellation(std::size_t percent) {
    using asio::cancellation_type;
    if (!dice().chance(percent)) {
        return std::nullopt;
    }
    // Where the network is slow, often while an attempt is in flight.
    auto const slow = all_.on.route_of(process_.number()).slower_by;
    auto const after = slow > 0ns && dice().chance(50) ? dice().time(0ns, 3 * slow)
                                                       : dice().any_scale(10us, 3 * all_.lease);
    auto const type = dice().one_of(
        {cancellation_type::terminal,
         cancellation_type::partial,
         cancellation_type::total,
         cancellation_type::all}
    );
    return cancellation{after, type};
}

asio::awaitable<void> user::sleep(nanos how_long) {
    detail::timer t{executor_};
    t.expires_after(how_long);
    auto wait = t.async_wait(awaited);
    co_await std::move(wait);
}

asio::awaitable<void> user::wait_until_healed() {
    if (all_.in.now() < all_.heals_at) {
        auto pause = sleep(all_.heals_at - all_.in.now() + dice().any_scale(1ms, 1s));
        co_await std::move(pause);
    }
}

// Acquisitions

void user::start(request const& what, call<lease>& asked) {
    say(describe(what.how) + what.lock);
    with_lock_of(node_.client(), what.lock, what.permits, what.stated, [&](auto const& lock) {
        begin(lock, what, asked);
    });
}

asio::awaitable<lease> user::ask(request what) {
    auto const asked = std::make_shared<call<lease>>(executor_);
    asked_ = asked;
    // Whoever may leave at any time is not owed the lock.
    bool const patient = what.how == request::kind::acquire && !what.cancelled;
    auto const started = all_.in.now();
    // An owner may join a lease, and a try asks for itself. Of a fair lock the order on the server
    // counts, readers do not wait for each other, and those who want other numbers of permits wait
    // apart.
    bool const one_queue =
        is_pool(what.lock) ? what.permits == 1 : !is_fair(what.lock) && !is_reader(what.lock);
    bool const in_order = what.how != request::kind::one_try && !what.options.owner && one_queue;
    auto const waits = all_.judge.on_waits(process_, what.lock, patient, in_order);
    start(what, *asked);
    if (what.cancelled) {
        asked->cancel_after(what.cancelled->after, what.cancelled->type);
    }
    auto wait = done(asked);
    co_await std::move(wait);
    all_.judge.on_waits_no_more(waits, static_cast<bool>(std::get<0>(*asked->results)));
    judge_answer(what, *asked, started);
    co_return std::move(std::get<0>(*asked->results));
}

oracle::lease_kind user::kind_of(request const& what, nanos asked_at) const {
    auto const& settings = node_.settings();
    auto const& options = what.options;
    bool const owned = options.owner.has_value();
    auto const length = length_of(settings, options);
    auto const lease =
        std::chrono::floor<std::chrono::milliseconds>(length.value_or(settings.lease));
    auto const timeout = detail::request_timeout_for(settings, lease);
    // A grant that is confirmed is as old as its request.
    bool const confirmed = settings.replicas.count > 0;
    return {
        .owned = owned,
        .learned = !length,
        .permits = what.permits,
        .max_hold = options.max_hold,
        .lease = lease,
        .margin_part = settings.loss_margin,
        .drift = settings.drift,
        .renew_at = options.renew_at,
        .request_timeout =
            timeout + (confirmed ? detail::replication_timeout_for(settings, timeout) : 0ns),
        .endless = options.renew && options.max_hold == 0ns && !options.max_renewals && !owned,
        .is_renewed = options.renew && options.max_renewals != 0U,
        .asked_at = asked_at,
    };
}

std::string user::failure_of(std::string const& name, error_code ec, nanos asked_at) const {
    return fmt::format(
        "acquiring {} ended after {:.3f} ms with: {}",
        name,
        static_cast<double>((all_.in.now() - asked_at).count()) / 1e6,
        ec.message()
    );
}

nanos user::overtime(request const& what) const {
    auto const& settings = node_.settings();
    auto const lease = length_of(settings, what.options).value_or(settings.lease);
    auto const timeout =
        detail::request_timeout_for(settings, std::chrono::floor<std::chrono::milliseconds>(lease));
    return std::min<nanos>(100ms, timeout);
}

bool user::may_be_cut_off(nanos asked_at) const {
    // In a quiet schedule only the first connections may be waited for.
    return asked_at < 1s || !all_.judge.healthy_for(process_, all_.in.now() - asked_at);
}

bool user::may_be_unreachable(nanos asked_at, request const& what) const {
    auto const since = process_.unanswered_since();
    // By a clock that may be fast.
    auto const waits = overtime(what) - overtime(what) / 200;
    // Of a cluster, other nodes may have answered meanwhile.
    constexpr auto longest_pause = 3s;
    bool const connects = (process_.connects_at() >= asked_at && since <= asked_at) ||
                          process_.is_connecting(longest_pause);
    return may_be_cut_off(asked_at) || connects || all_.in.now() - since >= waits;
}

// Who connects only now may find a replica in the place of the primary that it knew, and is granted
// nothing by it for `lock_delay`, by a clock that may be slow.
bool user::may_be_refused(nanos asked_at) const {
    nanos const delay = node_.settings().lock_delay;
    return may_be_cut_off(asked_at) ||
           process_.connects_at() + delay + delay / 100 + 2ms >= asked_at;
}

bool user::may_pass(error_code ec, nanos asked_at, request const& what) const {
    return ec == errc::unreachable ? may_be_unreachable(asked_at, what)
           : ec == errc::not_replicated
               ? node_.settings().replicas.count > 0 && may_be_unreachable(asked_at, what)
           : ec == errc::server_refused ? may_be_refused(asked_at)
                                        : false;
}

void user::judge_cancellation(
    asio::cancellation_type type,
    nanos cancelled_at,
    nanos done_at,
    std::string const& name
) {
    // What is in flight may be waited for.
    constexpr auto longest_timeout = 3s;
    auto const late = done_at - cancelled_at;
    bool const waits = type == asio::cancellation_type::total;
    auto const limit = waits ? longest_timeout + 1s : nanos{1us};
    if (late > limit && process_.punctual_since() < cancelled_at) {
        violation(fmt::format(
            "{}: it was over {:.3f} ms after it was cancelled",
            name,
            static_cast<double>(late.count()) / 1e6
        ));
    }
}

bool user::expected(error_code ec, bool cancelled) const {
    return (ec == asio::error::operation_aborted && cancelled) ||
           (ec == errc::client_stopped && node_.closed()) ||
           (ec == errc::corrupt_state && all_.foreign_values) ||
           (ec == errc::no_permission && all_.denials) ||
           (ec == errc::too_many_waiters && node_.settings().max_waiters < most_users) ||
           (ec == errc::auth_failed && all_.bad_passwords);
}

bool user::release_may_end_with(error_code ec, bool cancelled, bool valid) const {
    return !ec || expected(ec, cancelled) || (ec == errc::lease_lost && (!valid || !all_.quiet)) ||
           (ec == errc::release_unknown && (!all_.quiet || node_.closed())) ||
           (ec == errc::not_held && node_.closed());
}

void user::judge_answer(request const& what, call<lease> const& asked, nanos started) {
    auto const ec = asked.error;
    auto const& held = std::get<0>(*asked.results);
    auto const& name = what.lock;
    say(fmt::format(
        "{}: {}",
        name,
        ec     ? ec.message()
        : held ? fmt::format("granted {}", held.token().value)
               : "busy"
    ));
    bool const one_try = what.how == request::kind::one_try;
    bool const limited = what.how == request::kind::limited;
    judge_cancellation(asked, name);
    // An answer that is on its way is waited for. The process's clock may be slow.
    auto const ends = started + what.limit + overtime(what);
    bool const stuck = process_.punctual_since() >= started + what.limit;
    if (limited && !held && !stuck && asked.done_at > ends + 1ms + (ends - started) / 50) {
        violation(failure_of(name, ec, started) + ", later than its limit allows");
    }
    if (ec) {
        bool const waits = what.how == request::kind::acquire;
        bool const passing = may_pass(ec, started, what);
        bool const waits_for_itself =
            ec == errc::would_deadlock && what.options.owner && is_writer(name);
        bool const number_lost = ec == errc::permits_not_set && !all_.quiet && what.stated == 0;
        bool const right =
            expected(ec, asked.cancelled) || waits_for_itself || number_lost || (passing && !waits);
        if (waits_for_itself) {
            all_.judge.reached(sometimes::would_deadlock);
        }
        if (!right || held) {
            violation(failure_of(name, ec, started));
        }
        if (ec == asio::error::operation_aborted) {
            all_.judge.reached(sometimes::cancelled_waiting);
            all_.judge.on_cancelled(process_, name);
        }
        return;
    }
    if (!held) {
        if (!one_try && !limited) {
            violation(name + ": neither a lease nor an error for one who waits");
        } else if (!all_.judge.busy_is_right(process_, name, started)) {
            violation(name + ": busy, but no attempt was answered so since it began");
        }
        all_.judge.reached(one_try ? sometimes::busy_try : sometimes::time_up);
        return;
    }
    judge_fresh(held, name);
    if (asked.cancelled) {
        all_.judge.reached(sometimes::cancelled_late);
    }
}

// Leases

void user::judge_release(std::string const& lock, call<> const& asked, bool valid) {
    auto const ec = asked.error;
    say(fmt::format("released {}: {}", lock, ec ? ec.message() : "done"));
    if (ec == errc::release_unknown) {
        all_.judge.reached(sometimes::release_unknown);
    } else if (ec == errc::lease_lost) {
        all_.judge.reached(sometimes::release_lost);
    }
    if (!release_may_end_with(ec, asked.cancelled, valid)) {
        violation(fmt::format("the release of {} ended with: {}", lock, ec.message()));
    }
}

void user::note_told(call<loss_reason> const& watching, oracle::belief& of) {
    if (watching.done && !watching.error && !of.told) {
        say("has been told that the lease is lost");
        all_.judge.on_told(of, watching.done_at);
    }
}

void user::judge_operator(error_code ec) {
    bool const passing = ec == errc::unreachable || ec == errc::server_refused;
    if (ec && !expected(ec, false) && !(passing && !all_.quiet)) {
        violation("an operator's request ended with: " + ec.message());
    }
}

}  // namespace holdfast::sim
