#include "simulation/workload.hpp"

#include "ops/runtime.hpp"
#include "simulation/call.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace holdfast::sim {

namespace {

using detail::timer;

constexpr auto awaited = asio::as_tuple(asio::deferred);

}  // namespace

/// A coroutine on a lane of its own that does one operation after the other.
class worker : public std::enable_shared_from_this<worker> {
public:
    worker(node& in, lane& on, int number, int operations)
        : node_{in},
          all_{in.all_},
          process_{*in.process_},
          lane_{on},
          number_{number},
          left_{operations} {}

    static asio::awaitable<void> run(std::shared_ptr<worker> self) {
        auto const executor = co_await asio::this_coro::executor;
        self->executor_ = executor;
        while (self->left_-- > 0 && !self->node_.closed_) {
            auto pause = self->sleep(self->dice().any_scale(100us, 300ms));
            co_await std::move(pause);
            auto operation = self->one_operation();
            co_await std::move(operation);
        }
        // Once more when all is healed: nobody may have been forgotten.
        if (self->all_.in.now() < self->all_.heals_at) {
            auto pause = self->sleep(
                self->all_.heals_at - self->all_.in.now() + self->dice().any_scale(1ms, 1s)
            );
            co_await std::move(pause);
        }
        auto last = self->acquire_and_use(self->random_lock(), 50);
        co_await std::move(last);
        --self->node_.working_;
    }

private:
    using lease_call = call<lease>;
    using plain_call = call<>;

    /// A lease that the oracle knows of, as long as it is in this coroutine's hands.
    class in_hand {
    public:
        in_hand(worker& whose, std::string const& lock, lease const& held)
            : judge_{whose.all_.judge},
              node_{whose.node_},
              at_{judge_.on_delivered(whose.process_, whose.lane_, lock, held)} {
            ++node_.holding_;
            ++whose.all_.grants;
        }
        in_hand(in_hand const&) = delete;
        in_hand& operator=(in_hand const&) = delete;
        ~in_hand() { part(); }

        void part() {
            if (!std::exchange(parted_, true)) {
                --node_.holding_;
                // A killed process' beliefs went with it.
                if (!node_.killed()) {
                    judge_.on_parted(at_);
                }
            }
        }
        oracle::belief& belief() { return *at_; }

    private:
        oracle& judge_;
        node& node_;
        oracle::belief_ref at_;
        bool parted_ = false;
    };

    random_source& dice() { return all_.in.dice(); }

    void say(std::string const& what) {
        if (all_.in.traced()) {
            all_.in.trace(&process_, fmt::format("worker {}: {}", number_, what));
        }
    }

    asio::awaitable<void> sleep(nanos how_long) {
        timer t{executor_};
        t.expires_after(how_long);
        auto wait = t.async_wait(awaited);
        co_await std::move(wait);
    }

    template <class Call>
    asio::awaitable<void> done(std::shared_ptr<Call> what) {
        while (!what->done) {
            what->wake.expires_after(std::chrono::hours{24 * 365});
            auto wait = what->wake.async_wait(awaited);
            co_await std::move(wait);
        }
    }

    acquire_options random_options() {
        acquire_options options;
        if (dice().chance(15)) {
            options.renew = false;
        }
        if (dice().chance(10)) {
            options.max_hold = all_.lease + dice().time(0ns, all_.lease);
        }
        if (dice().chance(10)) {
            options.renew_at = 0.1 + 0.4 * dice().part();
        }
        return options;
    }

    asio::cancellation_type random_type() {
        using asio::cancellation_type;
        return dice().one_of(
            {cancellation_type::terminal,
             cancellation_type::partial,
             cancellation_type::total,
             cancellation_type::all}
        );
    }

    // Often just when something is going on.
    nanos random_moment() { return dice().any_scale(10us, 3 * all_.lease); }

    std::string const& random_lock() { return all_.locks[dice().below(all_.locks.size())]; }

    asio::awaitable<void> one_operation() {
        if (node_.closed_) {
            co_return;
        }
        auto const& name = random_lock();
        auto const kind = dice().below(100);
        if (kind < 4) {
            auto look = inspect(name);
            co_await std::move(look);
        } else if (kind < 6 && !all_.quiet) {
            auto freeing = force_release(name);
            co_await std::move(freeing);
        } else if (kind < 20) {
            auto guarded = with_body(name);
            co_await std::move(guarded);
        } else {
            auto use = acquire_and_use(name, kind);
            co_await std::move(use);
        }
    }

    asio::awaitable<void> acquire_and_use(std::string const& name, std::size_t kind) {
        if (node_.closed_) {
            co_return;
        }
        auto const lock = node_.client_->lock(name);
        auto const asked = std::make_shared<lease_call>(executor_);
        auto const options = random_options();
        auto const who = dice().chance(20)
                             ? std::optional{node_.owners_[dice().below(node_.owners_.size())]}
                             : std::nullopt;
        bool const one_try = kind >= 70 && kind < 80;
        bool const limited = kind >= 80;
        auto const limit = dice().any_scale(1ms, 3 * all_.lease);
        // Never in vain: in the end everybody has to get his lock.
        bool const to_cancel = !all_.healed && dice().chance(35);
        auto const started = all_.in.now();
        auto const waits = all_.judge.on_waits(process_, name, !one_try && !limited && !to_cancel);
        say(fmt::format(
            "{} {}{}",
            one_try   ? "tries"
            : limited ? "tries for a while"
                      : "acquires",
            name,
            who ? " for an owner" : ""
        ));
        asked->initiating = true;
        if (one_try) {
            if (who) {
                lock.try_acquire(*who, options, asked->token());
            } else {
                lock.try_acquire(options, asked->token());
            }
        } else if (limited) {
            if (who) {
                lock.try_acquire_for(*who, limit, options, asked->token());
            } else {
                lock.try_acquire_for(limit, options, asked->token());
            }
        } else if (who) {
            lock.acquire(*who, options, asked->token());
        } else {
            lock.acquire(options, asked->token());
        }
        asked->initiating = false;
        if (to_cancel) {
            asked->cancel_after(random_moment(), random_type());
        }
        auto wait = done(asked);
        co_await std::move(wait);
        all_.judge.on_waits_no_more(waits);
        auto held = std::move(std::get<0>(*asked->results));
        judge_answer(*asked, held, name, one_try, limited, started);
        if (held) {
            if (asked->cancelled) {
                all_.judge.reached(sometimes::cancelled_late);
            }
            auto use = use_lease(held, name, who, options);
            co_await std::move(use);
        }
    }

    bool expected(error_code ec, bool cancelled) const {
        return (ec == asio::error::operation_aborted && cancelled) ||
               (ec == errc::client_stopped && node_.closed_) ||
               (ec == errc::corrupt_state && all_.foreign_values) ||
               (ec == errc::no_permission && all_.denials) ||
               (ec == errc::auth_failed && all_.bad_passwords);
    }

    // In a quiet schedule only the first connection may be waited for.
    bool up_in_time(nanos started) const { return all_.quiet && started > 1s; }

    void judge_answer(
        lease_call const& asked,
        lease const& held,
        std::string const& name,
        bool one_try,
        bool limited,
        nanos started
    ) {
        auto const ec = asked.error;
        say(fmt::format(
            "{}: {}",
            name,
            ec     ? ec.message()
            : held ? fmt::format("granted {}", held.token().value)
                   : "busy"
        ));
        if (ec) {
            bool const passing = ec == errc::unreachable || ec == errc::server_refused;
            bool const right = expected(ec, asked.cancelled) ||
                               (passing && (limited || (one_try && !up_in_time(started))));
            if (!right || held) {
                all_.in.violation(fmt::format("acquiring {} ended with: {}", name, ec.message()));
            }
            if (ec == asio::error::operation_aborted) {
                all_.judge.reached(sometimes::cancelled_waiting);
                all_.judge.on_cancelled(process_, name);
            }
            return;
        }
        if (!held) {
            auto const busy_at = all_.judge.told_busy_at(process_, name);
            if (!(one_try || limited) || busy_at < (one_try ? started : 0ns)) {
                all_.in.violation(name + ": an empty lease, but nobody was told that it is busy");
            }
            all_.judge.reached(one_try ? sometimes::busy_try : sometimes::time_up);
            return;
        }
        // It may have been lost on its way, if that took time.
        auto const why = held.loss();
        bool const stale = why == loss_reason::expired || why == loss_reason::unreachable;
        if (stale && process_.free_since() + 1ms < all_.in.now() && !node_.closed_) {
            all_.in.violation(name + ": the lease that was delivered is over");
        }
    }

    asio::awaitable<void> use_lease(
        lease& held,
        std::string const& name,
        std::optional<owner> const& who,
        acquire_options const& options
    ) {
        auto const self = shared_from_this();  // the watch may end later
        in_hand hold{*this, name, held};
        auto const watching = std::make_shared<call<loss_reason>>(executor_);
        bool const watches = dice().chance(50);
        if (watches) {
            watching->initiating = true;
            held.wait_lost(watching->token());
            watching->initiating = false;
            if (dice().chance(10)) {
                watching->cancel_after(random_moment(), random_type());
            }
        }
        bool was_blocked = false;
        auto const parts = 1 + dice().below(3);
        for (std::size_t part = 0; part < parts && held.valid(); ++part) {
            auto const what = dice().below(100);
            if (what < 10) {
                auto renewal = renew(held);
                co_await std::move(renewal);
            } else if (what < 18 && who && !node_.closed_) {
                auto further = re_enter(name, *who);
                co_await std::move(further);
            } else if (what < 26 && !all_.healed) {
                was_blocked = true;
                auto blocked = block(dice().any_scale(1ms, 2 * all_.lease));
                co_await std::move(blocked);
            } else if (what < 70) {
                auto work = sleep(dice().any_scale(10us, 50ms));
                co_await std::move(work);
            } else {
                auto work = sleep(dice().any_scale(1ms, longest_work()));
                co_await std::move(work);
            }
            note_told(*watching, hold.belief());
        }
        if (held.state() == lease_state::lost) {
            all_.judge.on_lost(held.loss());
            if (was_blocked) {
                all_.judge.reached(sometimes::lost_late);
            }
            judge_loss(held, name, who || was_blocked, options);
            if (all_.quiet && !was_blocked && !who && options.renew &&
                options.max_hold == nanos{0} && !node_.closed_) {
                all_.in.violation(name + ": a lease was lost although nothing failed");
            }
        }
        if (watches && held.state() == lease_state::lost) {
            // Everything that is ready runs before time goes on.
            auto moment = sleep(1us);
            co_await std::move(moment);
            note_told(*watching, hold.belief());
            // After a suspend timers are late: the lease is found lost at the first look.
            if (!watching->done && !was_blocked && process_.slept() == 0ns &&
                process_.free_since() + 1us < all_.in.now()) {
                all_.in.violation(name + ": a lease is lost, and its watcher was not told");
            }
        }
        bool const valid = held.valid();
        hold.part();
        if (dice().chance(25)) {
            say("drops " + name);
            held = lease{};
        } else {
            auto parting = release(held, name, valid);
            co_await std::move(parting);
        }
        auto end = done_if_started(watching, watches);
        co_await std::move(end);
    }

    // A lease that is renewed is not lost when nothing has gone wrong for longer than it lasts.
    void judge_loss(
        lease const& held,
        std::string const& name,
        bool excused,
        acquire_options const& options
    ) {
        auto const why = held.loss();
        bool const renewed = options.renew && options.max_hold == nanos{0} && !excused;
        auto const since = std::max(all_.judge.last_disturbance(), process_.free_since());
        if ((why == loss_reason::expired || why == loss_reason::unreachable) && renewed &&
            !all_.judge.disturbed() && !process_.paused() && !node_.closed_ &&
            all_.in.now() - since > nanos{all_.lease} + 12s) {
            all_.in.violation(name + ": a lease was lost long after the last fault");
        }
    }

    asio::awaitable<void> done_if_started(
        std::shared_ptr<call<loss_reason>> watching,
        bool started
    ) {
        if (started) {
            auto wait = done(watching);
            co_await std::move(wait);
        }
    }

    void note_told(call<loss_reason> const& watching, oracle::belief& of) {
        if (watching.done && !watching.error && !of.told) {
            say("has been told that the lease is lost");
            all_.judge.on_told(of, watching.done_at);
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
        auto const asked = std::make_shared<plain_call>(executor_);
        asked->initiating = true;
        held.renew(asked->token());
        asked->initiating = false;
        if (dice().chance(20)) {
            asked->cancel_after(random_moment(), random_type());
        }
        auto wait = done(asked);
        co_await std::move(wait);
        if (!asked->error && !held.valid() && process_.free_since() < all_.in.now() - 1s &&
            all_.quiet && !node_.closed_) {
            all_.in.violation("a lease that was renewed is not valid");
        }
    }

    asio::awaitable<void> re_enter(std::string const& name, owner who) {
        auto const lock = node_.client_->lock(name);
        auto const asked = std::make_shared<lease_call>(executor_);
        asked->initiating = true;
        lock.try_acquire(who, asked->token());
        asked->initiating = false;
        auto wait = done(asked);
        co_await std::move(wait);
        auto further = std::move(std::get<0>(*asked->results));
        if (further) {
            all_.judge.reached(sometimes::joined);
            in_hand hold{*this, name, further};
            auto work = sleep(dice().any_scale(10us, 20ms));
            co_await std::move(work);
            bool const valid = further.valid();
            hold.part();
            auto parting = release(further, name, valid);
            co_await std::move(parting);
        }
    }

    asio::awaitable<void> release(lease& held, std::string const& name, bool valid) {
        auto const asked = std::make_shared<plain_call>(executor_);
        asked->initiating = true;
        held.release(asked->token());
        asked->initiating = false;
        if (held.valid()) {
            all_.in.violation(name + ": valid after its release began");
        }
        if (dice().chance(20)) {
            asked->cancel_after(random_moment(), random_type());
        }
        auto wait = done(asked);
        co_await std::move(wait);
        auto const ec = asked->error;
        say(fmt::format("released {}: {}", name, ec ? ec.message() : "done"));
        if (ec == errc::release_unknown) {
            all_.judge.reached(sometimes::release_unknown);
        } else if (ec == errc::lease_lost) {
            all_.judge.reached(sometimes::release_lost);
        }
        bool const allowed = !ec || expected(ec, asked->cancelled) ||
                             (ec == errc::lease_lost && (!valid || !all_.quiet)) ||
                             (ec == errc::release_unknown && (!all_.quiet || node_.closed_)) ||
                             (ec == errc::not_held && node_.closed_);
        if (!allowed) {
            all_.in.violation(fmt::format("the release of {} ended with: {}", name, ec.message()));
        }
        if (held.valid() || held.state() == lease_state::held) {
            all_.in.violation(name + ": valid after its release");
        }
    }

    asio::awaitable<void> with_body(std::string const& name) {
        auto const lock = node_.client_->lock(name);
        auto const self = shared_from_this();
        auto const asked = std::make_shared<plain_call>(executor_);
        auto const waits = all_.judge.on_waits(process_, name, false);
        bool const fails = dice().chance(10);
        auto body = [this, &name, fails](lease& held) -> asio::awaitable<void> {
            in_hand hold{*this, name, held};
            timer t{executor_};
            t.expires_after(dice().any_scale(10us, longest_work()));
            auto wait = t.async_wait(awaited);
            co_await std::move(wait);
            if (fails) {
                throw std::runtime_error("the body fails");
            }
        };
        say("with_lease of " + name);
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
        if (!all_.healed && dice().chance(30)) {
            asked->cancel_after(random_moment(), asio::cancellation_type::terminal);
        }
        auto wait = done(asked);
        co_await std::move(wait);
        all_.judge.on_waits_no_more(waits);
        auto const ec = asked->error;
        say(fmt::format("with_lease of {}: {}", name, ec ? ec.message() : "done"));
        bool const allowed =
            !ec || expected(ec, asked->cancelled) || (ec == errc::lease_lost && !all_.quiet);
        if (!allowed) {
            all_.in.violation(fmt::format("with_lease of {} ended with: {}", name, ec.message()));
        }
    }

    // Longer than a lease, but others wait.
    [[nodiscard]] nanos longest_work() const { return std::min(2 * nanos{all_.lease}, nanos{20s}); }

    static error_code code_of(std::exception_ptr const& failure) {
        try {
            if (failure) {
                std::rethrow_exception(failure);
            }
        } catch (boost::system::system_error const& e) {
            return e.code();
        } catch (std::runtime_error const&) {
            // The body's own.
        }
        return {};
    }

    asio::awaitable<void> inspect(std::string const& name) {
        auto const lock = node_.client_->lock(name);
        auto const asked = std::make_shared<call<lock_info>>(executor_);
        lock.inspect(asked->token());
        auto wait = done(asked);
        co_await std::move(wait);
        judge_operator(asked->error);
    }

    asio::awaitable<void> force_release(std::string const& name) {
        auto const lock = node_.client_->lock(name);
        auto const asked = std::make_shared<call<bool>>(executor_);
        say("force_release of " + name);
        lock.force_release(asked->token());
        auto wait = done(asked);
        co_await std::move(wait);
        judge_operator(asked->error);
    }

    void judge_operator(error_code ec) {
        bool const passing = ec == errc::unreachable || ec == errc::server_refused;
        if (ec && !expected(ec, false) && !(passing && !all_.quiet)) {
            all_.in.violation("an operator's request ended with: " + ec.message());
        }
    }

    node& node_;
    setting& all_;
    process& process_;
    lane& lane_;
    asio::any_io_executor executor_;
    int number_;
    int left_;
};

node::node(setting& all, std::uint32_t number, double rate)
    : all_{all},
      number_{number},
      process_{std::make_unique<process>(all.in, number, rate)} {
    view_of const view{*process_};
    auto& own = process_->new_lane();
    lanes_.push_back(&own);
    owners_.push_back(owner::make());
    owners_.push_back(owner::make());
    client_.emplace(process_->executor_of(own), all_.client);
}

node::~node() {
    kill();
}

void node::start(int workers, int operations) {
    for (int i = 0; i < workers; ++i) {
        auto& on = process_->new_lane();
        lanes_.push_back(&on);
        ++working_;
        auto const made = std::make_shared<worker>(*this, on, i, operations);
        asio::co_spawn(process_->executor_of(on), worker::run(made), asio::detached);
    }
}

lane& node::random_lane() {
    return *lanes_[all_.in.dice().below(lanes_.size())];
}

void node::kill() {
    if (std::exchange(killed_, true)) {
        return;
    }
    process_->kill();
    all_.judge.on_killed(*process_);
    view_of const view{*process_};
    working_ = 0;
    if (all_.in.dice().chance(50)) {
        client_.reset();
    }
    process_.reset();
    client_.reset();
}

void node::close(bool shut_down) {
    closed_ = true;
    view_of const view{*process_};
    if (shut_down) {
        client_->shutdown(asio::detached);
    } else {
        if (holding()) {
            all_.judge.reached(sometimes::destroyed_holding);
        }
        client_.reset();
    }
}

}  // namespace holdfast::sim
