#include "simulation/workload.hpp"

#include "simulation/drawing.hpp"
#include "simulation/multi_user.hpp"

#include <holdfast.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

namespace holdfast::sim {

namespace {

class worker final : public multi_user {
public:
    using owners = std::vector<owner>;

    worker(node& in, lane& on, int number, int operations, std::shared_ptr<owners const> who)
        : multi_user{in, on, number},
          owners_{std::move(who)},
          left_{operations} {}

    static asio::awaitable<void> run(std::shared_ptr<worker> self) {
        while (self->left_-- > 0 && !self->node_.closed()) {
            auto pause = self->sleep(self->dice().any_scale(100us, self->all_.longest_rest));
            co_await std::move(pause);
            auto operation = self->one_operation();
            co_await std::move(operation);
        }
        // Once more when all is healed: nobody may have been forgotten.
        auto healing = self->wait_until_healed();
        co_await std::move(healing);
        for (self->turned_away_ = true; self->turned_away_ && !self->node_.closed();) {
            // Others hold it.
            auto pause = self->sleep(self->dice().time(1ms, self->all_.lease / 10 + 1s));
            co_await std::move(pause);
            auto last = self->acquire_and_use(request::kind::acquire);
            co_await std::move(last);
        }
        self->node_.on_user_done();
    }

private:
    acquire_options random_options(std::size_t owned) {
        auto options = draw_options(dice(), node_.settings());
        if (dice().chance(owned)) {
            options.owner = (*owners_)[dice().below(owners_->size())];
        }
        return options;
    }

    // Of a read/write lock one side.
    std::string one_side_of(std::string const& name) {
        return !is_read_write(name) ? name : name + (dice().chance(60) ? ":r" : ":w");
    }

    std::string random_lock() { return one_side_of(all_.locks[dice().below(all_.locks.size())]); }

    std::int64_t random_permits(std::string const& name) {
        auto const limit = is_pool(name) ? all_.judge.permits().limit_of(name) : 1;
        return limit == 1
                   ? 1
                   : 1 + static_cast<std::int64_t>(dice().below(static_cast<std::size_t>(limit)));
    }

    // Who does not say it depends on others after the server lost its data.
    std::int64_t stated_limit(std::string const& name) {
        return is_pool(name) && dice().chance(70) ? all_.judge.permits().limit_of(name) : 0;
    }

    // Longer than a lease, but others wait.
    [[nodiscard]] nanos longest_work() const { return std::min(2 * nanos{all_.lease}, nanos{20s}); }

    // A fault ends a short lease that is not renewed; only a long one shows that it should have
    // been.
    [[nodiscard]] bool holds_long() const { return all_.quiet || all_.lease == 30s; }

    // Past several renewals, where one need not wait for hours.
    [[nodiscard]] nanos long_work() {
        return all_.lease > 1min ? longest_work()
                                 : dice().time(nanos{all_.lease}, 3 * nanos{all_.lease});
    }

    [[nodiscard]] nanos some_work() {
        return dice().chance(holds_long() ? 25 : 10) ? long_work()
                                                     : dice().any_scale(10us, longest_work());
    }

    asio::awaitable<void> one_operation() {
        if (node_.closed()) {
            co_return;
        }
        auto const kind = dice().below(100);
        auto operation = kind < 4                  ? inspect()
                         : kind < 6 && !all_.quiet ? force_release()
                         : kind < 7                ? ask_for_too_much()
                         : kind < 15               ? with_body()
                         : kind < 30               ? use_some()
                         : kind >= 70 && kind < 80 ? acquire_and_use(request::kind::one_try)
                         : kind >= 80              ? acquire_and_use(request::kind::limited)
                                                   : acquire_and_use(request::kind::acquire);
        co_await std::move(operation);
    }

    asio::awaitable<void> acquire_and_use(request::kind how) {
        if (node_.closed()) {
            co_return;
        }
        request what;
        what.lock = random_lock();
        what.permits = random_permits(what.lock);
        what.stated = stated_limit(what.lock);
        what.how = how;
        what.limit = dice().any_scale(1ms, 3 * all_.lease);
        what.options = random_options(20);
        // Never in vain: in the end everybody has to get his lock.
        what.cancelled = random_cancellation(all_.healed ? 0 : 35);
        auto const started = all_.in.now();
        auto asked = ask(what);
        auto held = co_await std::move(asked);
        turned_away_ = !held;
        if (held) {
            auto use = use_lease(held, what, started);
            co_await std::move(use);
        }
    }

    // Two or three at once, in any order; one if there are no more.
    std::vector<member> some_locks() {
        auto locks = all_.locks;
        for (std::size_t i = locks.size(); i > 1; --i) {
            std::swap(locks[i - 1], locks[dice().below(i)]);
        }
        auto const most = 2 + dice().below(2);
        std::vector<member> some;
        for (auto const& name : locks) {
            if (some.size() < most) {
                some.push_back({one_side_of(name), random_permits(name)});
            }
        }
        return some;
    }

    asio::awaitable<void> use_some() {
        auto members = some_locks();
        if (members.size() < 2) {
            return acquire_and_use(request::kind::acquire);
        }
        request what;
        what.how =
            dice().one_of({request::kind::acquire, request::kind::one_try, request::kind::limited});
        what.limit = dice().any_scale(1ms, 3 * all_.lease);
        what.options = random_options(10);
        what.cancelled = random_cancellation(all_.healed ? 0 : 35);
        return use_several(std::move(members), what, some_work());
    }

    asio::awaitable<void> ask_for_too_much() {
        auto members = some_locks();
        if (dice().chance(50)) {
            members.resize(1);
        }
        request what;
        auto why = errc::invalid_options;
        auto const pool = std::find_if(members.begin(), members.end(), [](member const& one) {
            return is_pool(one.lock);
        });
        if (pool != members.end() && dice().chance(70)) {
            pool->permits = dice().one_of<std::int64_t>({-1, 0, 1'001});
        } else {
            std::tie(what.options, why) = draw_wrong_options(dice());
        }
        return ask_in_vain(std::move(members), what, why);
    }

    asio::awaitable<void> use_lease(lease& held, request const& what, nanos started) {
        auto const self = shared_from_this();  // the watch may end later
        auto const& name = what.lock;
        in_hand hold{*this, name, held, kind_of(what, started)};
        auto const watching = std::make_shared<call<loss_reason>>(executor_);
        // Most programs rely on `valid()`.
        bool const watches = dice().chance(30);
        if (watches) {
            watch(held, *watching);
        }
        bool was_blocked = false;
        auto const parts = 1 + dice().below(3);
        for (std::size_t part = 0; part < parts && held.valid(); ++part) {
            auto work = one_part(held, what, was_blocked);
            co_await std::move(work);
            note_told(*watching, hold.belief());
        }
        if (held.state() == lease_state::lost) {
            all_.judge.on_lost(held.loss(), &hold.belief());
            if (was_blocked) {
                all_.judge.reached(sometimes::lost_late);
            }
            if (watches) {
                // Everything that is ready runs before time goes on.
                auto moment = sleep(1us);
                co_await std::move(moment);
                note_told(*watching, hold.belief());
                judge_watch(*watching, held, name, was_blocked);
            }
            if (dice().chance(30)) {
                auto longer = sleep(dice().any_scale(1ms, nanos{all_.lease} + 3s));
                co_await std::move(longer);
            }
        }
        hold.part();
        auto parting = part_with(held, name, 20);
        co_await std::move(parting);
        if (watches) {
            auto end = done(watching);
            co_await std::move(end);
        }
    }

    void watch(lease& held, call<loss_reason>& watching) {
        watching.initiating = true;
        held.wait_lost(watching.token());
        watching.initiating = false;
        if (auto const ends = random_cancellation(10)) {
            watching.cancel_after(ends->after, ends->type);
        }
    }

    asio::awaitable<void> one_part(lease& held, request const& what, bool& was_blocked) {
        auto const kind = dice().below(100);
        if (kind < 10) {
            auto renewal = renew(held);
            co_await std::move(renewal);
        } else if (kind < 18 && what.options.owner && !node_.closed()) {
            auto further = re_enter(what);
            co_await std::move(further);
        } else if (kind < 26 && !all_.healed) {
            was_blocked = true;
            auto blocked = block(dice().any_scale(1ms, 2 * all_.lease));
            co_await std::move(blocked);
        } else {
            auto work = sleep(
                kind < 70                           ? dice().any_scale(10us, 50ms)
                : kind < (holds_long() ? 80U : 90U) ? dice().any_scale(1ms, longest_work())
                                                    : long_work()
            );
            co_await std::move(work);
        }
    }

    // That a client was stopped is told on its own thread.
    void judge_watch(
        call<loss_reason> const& watching,
        lease const& held,
        std::string const& name,
        bool was_blocked
    ) {
        bool const client_is_stuck =
            held.loss() == loss_reason::client_stopped && process_.any_lane_blocked();
        if (!watching.done && !was_blocked && !client_is_stuck &&
            process_.punctual_since() + 1us < all_.in.now()) {
            violation(name + ": a lease is lost, and its watcher was not told");
        }
    }

    asio::awaitable<void> block(nanos how_long) {
        say(fmt::format("blocks its thread for {} ms", how_long.count() / 1'000'000));
        process_.block(lane_);
        all_.in.after(how_long, [weak = node_.weak_from_this(), on = &lane_] {
            if (auto const still = weak.lock(); still && !still->killed()) {
                still->of().unblock(*on);
            }
        });
        auto turn = sleep(0ns);
        co_await std::move(turn);
    }

    asio::awaitable<void> renew(lease& held) {
        auto const asked = std::make_shared<call<>>(executor_);
        asked->initiating = true;
        held.renew(asked->token());
        asked->initiating = false;
        if (auto const ends = random_cancellation(20)) {
            asked->cancel_after(ends->after, ends->type);
        }
        auto wait = done(asked);
        co_await std::move(wait);
        if (!asked->error && !held.valid() && process_.free_since() < all_.in.now() - 1s &&
            all_.quiet && !node_.closed()) {
            violation("a lease that was renewed is not valid");
        }
    }

    asio::awaitable<void> re_enter(request const& first) {
        auto name = first.lock;
        // Who writes may read as well.
        if (is_writer(name) && dice().chance(50)) {
            name = lock_of(name) + ":r";
        }
        request what;
        what.lock = name;
        what.permits = first.permits;
        what.stated = first.stated;
        what.how = request::kind::one_try;
        what.options.owner = first.options.owner;
        auto asked = ask(what);
        auto further = co_await std::move(asked);
        if (further) {
            all_.judge.reached(sometimes::joined);
            in_hand hold{*this, name, further, kind_of(what, all_.in.now())};
            auto work = sleep(dice().any_scale(10us, 20ms));
            co_await std::move(work);
            hold.part();
            auto parting = release(further, name, random_cancellation(20));
            co_await std::move(parting);
        }
    }

    asio::awaitable<void> with_body() {
        auto const name = random_lock();
        auto const permits = random_permits(name);
        auto const self = shared_from_this();
        auto const asked = std::make_shared<call<>>(executor_);
        auto const waits = all_.judge.on_waits(process_, name, false, false);
        bool const fails = dice().chance(10);
        auto body = [this, &name, permits, fails](lease& held) -> asio::awaitable<void> {
            request const what{.lock = name, .permits = permits};
            in_hand hold{*this, name, held, kind_of(what, -1ns)};
            auto work = sleep(some_work());
            co_await std::move(work);
            if (fails) {
                throw std::runtime_error("the body fails");
            }
        };
        say("with_lease of " + name);
        auto const limit = all_.judge.permits().limit_of(name);
        with_lock_of(node_.client(), name, permits, limit, [&](auto const& lock) {
            asio::co_spawn(
                executor_,
                with_lease(lock, body),
                asio::bind_cancellation_slot(
                    asked->signal.slot(),
                    asio::bind_executor(
                        executor_,
                        [asked](std::exception_ptr failure) { asked->complete(code_of(failure)); }
                    )
                )
            );
        });
        if (auto const ends = random_cancellation(all_.healed ? 0 : 30)) {
            asked->cancel_after(ends->after, asio::cancellation_type::terminal);
        }
        auto wait = done(asked);
        co_await std::move(wait);
        all_.judge.on_waits_no_more(waits, false);
        auto const ec = asked->error;
        say(fmt::format("with_lease of {}: {}", name, ec ? ec.message() : "done"));
        bool const allowed =
            !ec || expected(ec, asked->cancelled) || (ec == errc::lease_lost && !all_.quiet);
        if (!allowed) {
            violation(fmt::format("with_lease of {} ended with: {}", name, ec.message()));
        }
    }

    asio::awaitable<void> inspect() {
        auto const name = random_lock();
        if (is_pool(name)) {
            auto pool = inspect_pool(name);
            co_await std::move(pool);
            co_return;
        }
        auto const asked = std::make_shared<call<lock_info>>(executor_);
        auto const called = without_prefix(name);
        if (is_fair(name)) {
            node_.client().fair_lock(called).inspect(asked->token());
        } else {
            node_.client().lock(called).inspect(asked->token());
        }
        auto wait = done(asked);
        co_await std::move(wait);
        judge_operator(asked->error);
    }

    // And says how many there are: others may have done so before.
    asio::awaitable<void> inspect_pool(std::string const& name) {
        auto const pool = node_.client().semaphore(without_prefix(name));
        auto const limit = all_.judge.permits().limit_of(name);
        auto const set = std::make_shared<call<bool>>(executor_);
        pool.try_set_permits(limit, set->token());
        auto said = done(set);
        co_await std::move(said);
        judge_operator(set->error);
        if (node_.closed()) {
            co_return;
        }
        auto const asked = std::make_shared<call<semaphore_info>>(executor_);
        pool.inspect(asked->token());
        auto wait = done(asked);
        co_await std::move(wait);
        judge_operator(asked->error);
        auto const& found = std::get<0>(*asked->results);
        if (!asked->error && found.limit && found.limit != limit) {
            violation(name + ": a wrong number of permits is told");
        }
    }

    asio::awaitable<void> force_release() {
        auto const name = random_lock();
        auto const asked = std::make_shared<call<bool>>(executor_);
        say("force_release of " + name);
        with_lock_of(node_.client(), name, 1, 0, [&](auto const& lock) {
            lock.force_release(asked->token());
        });
        auto wait = done(asked);
        co_await std::move(wait);
        judge_operator(asked->error);
    }

    std::shared_ptr<owners const> owners_;
    int left_;
    bool turned_away_ = false;
};

}  // namespace

void start_workers(node& in, int workers, int operations) {
    start_users<worker>(in, workers, operations);
}

}  // namespace holdfast::sim
