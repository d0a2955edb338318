#include "simulation/schedule.hpp"

#include "simulation/faults.hpp"
#include "simulation/oracle.hpp"
#include "simulation/server.hpp"
#include "simulation/workload.hpp"
#include "simulation/world.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace holdfast::sim {

namespace {

// A search that never ends is a violation, too: nobody needs that many steps.
constexpr std::uint64_t most_steps = 400'000;

class schedule {
public:
    schedule(std::uint64_t seed, bool traced)
        : world_{seed, traced},
          server_{world_, 1.0 + drift()},
          oracle_{world_, server_},
          all_{world_, server_, oracle_, {}, {}, {}} {}

    outcome run() {
        prepare();
        act();
        settle();
        part();
        outcome result;
        result.hash = world_.hash();
        result.steps = world_.steps();
        result.grants = all_.grants;
        result.faults = faults_ ? faults_->count() : 0;
        result.reached = oracle_.reached();
        result.violation = world_.first_violation();
        return result;
    }

private:
    random_source& dice() { return world_.dice(); }

    // Clocks go wrong by up to 0.4 %: two of them by less than what a lease allows for.
    double drift() { return 0.004 * (2 * dice().part() - 1); }

    void prepare() {
        all_.quiet = dice().chance(15);
        world_.set_in_order(dice().chance(40));
        auto const locks = 1 + dice().below(2);
        for (std::size_t i = 0; i < locks; ++i) {
            all_.locks.push_back(fmt::format("lock-{}", i));
        }
        // A long lease shows a lost wake-up: its end comes too late to hide it.
        all_.lease = dice().one_of({1'000ms, 1'000ms, 1'500ms, 3'000ms, 30'000ms, 3'600'000ms});
        // New connections, their checks and time-outs after the worst; and clocks that differ.
        oracle_.set_slowest_wake_up(12s + nanos{all_.lease} / 100);
        oracle_.set_lease(all_.lease, nanos{all_.lease} / 10);
        all_.client.host = "simulated";
        all_.client.lease = all_.lease;
        all_.client.fallback = dice().one_of({100ms, 5'000ms, 600'000ms});
        all_.client.reconnect_max = dice().one_of({200ms, 2'000ms});
        all_.client.log = [this](log_level, std::string_view message) { on_log(message); };
        all_.heals_at = dice().any_scale(300ms, 6s);
        auto const clients = 1 + dice().below(3);
        for (std::size_t i = 0; i < clients; ++i) {
            add_node();
        }
        if (!all_.quiet) {
            faults_.emplace(all_, nodes_);
            faults_->plan(1 + dice().below(6), all_.heals_at);
        }
    }

    void add_node() {
        auto const number = static_cast<std::uint32_t>(nodes_.size() + 1);
        auto& route = server_.route_of(number);
        route.shortest = 20us;
        route.longest = all_.quiet ? 500us : nanos{dice().any_scale(100us, 20ms)};
        auto const made = std::make_shared<node>(all_, number, 1.0 + drift());
        nodes_.push_back(made);
        made->start(1 + static_cast<int>(dice().below(3)), 1 + static_cast<int>(dice().below(6)));
    }

    void on_log(std::string_view message) {
        if (world_.traced()) {
            world_.trace(world_.running(), fmt::format("log: {}", message));
        }
        if (message.find("does not belong to its request") != std::string_view::npos) {
            oracle_.reached(sometimes::wrong_answer);
        } else if (message.find("no answer for two time-outs") != std::string_view::npos) {
            oracle_.reached(sometimes::silence);
        }
    }

    template <class Until>
    void run_while(Until goes_on, nanos limit) {
        auto const end = world_.now() + limit;
        while (!world_.failed() && goes_on() && world_.now() < end) {
            if (!world_.step()) {
                return;
            }
            if (world_.steps() > most_steps) {
                world_.violation("too many steps: something goes round in circles");
            }
        }
    }

    bool working() const {
        return std::any_of(nodes_.begin(), nodes_.end(), [](auto const& one) {
            return one->working();
        });
    }

    void act() {
        run_while([&] { return world_.now() < all_.heals_at; }, all_.heals_at);
        if (faults_) {
            faults_->heal();
        }
        all_.healed = true;
    }

    // Everybody gets what he waits for, now that nothing fails any more.
    void settle() {
        auto const all = static_cast<std::int64_t>(nodes_.size() * 12);
        run_while([&] { return working(); }, all * (3 * nanos{all_.lease} + 60s));
        if (!world_.failed() && working()) {
            world_.violation("somebody waits for ever");
        }
        if (all_.quiet && !world_.failed()) {
            world_.run_until(world_.now() + 2s);
            for (auto const& key : server_.data().lock_keys()) {
                world_.violation("nobody has " + key + ", but it is held on the server");
            }
        }
        run_on(3s + nanos{all_.lease} / 2);
        for (auto const& one : nodes_) {
            if (!one->killed() && !one->closed()) {
                check_empty(*one);
            }
        }
    }

    void run_on(nanos time) {
        run_while([] { return true; }, time);
    }

    void check_empty(node& one) {
        auto const now = one.stats();
        if (now.waiters_now != 0 || now.leases_now != 0 || now.subscriptions_now != 0) {
            world_.violation(fmt::format(
                "p{} has {} waiters, {} leases and {} subscriptions left",
                one.number(),
                now.waiters_now,
                now.leases_now,
                now.subscriptions_now
            ));
        }
    }

    void part() {
        for (auto const& one : nodes_) {
            if (!one->killed() && !one->closed()) {
                one->close(dice().chance(50));
            }
        }
        auto const longest = 10s + 2 * nanos{all_.client.lease};
        run_while([&] { return true; }, 20s);
        for (auto const& one : nodes_) {
            if (!one->killed() && !world_.failed()) {
                check_ended(*one);
            }
        }
        run_on(longest);
        if (!world_.failed()) {
            world_.run_until(world_.now() + longest);
        }
        for (auto const& key : server_.data().lock_keys()) {
            world_.violation(
                fmt::format("{} is left on the server, for {} ms", key, server_.data().pttl(key))
            );
        }
        if (server_.data().subscriptions() != 0 && !server_.has_half_open()) {
            world_.violation("subscriptions are left on the server");
        }
        nodes_.clear();
    }

    void check_ended(node& one) {
        if (one.of().timers() != 0 || !one.of().idle()) {
            world_.violation(fmt::format(
                "p{} has {} timers left after its client is gone",
                one.number(),
                one.of().timers()
            ));
        }
        if (one.of().outstanding_work() != 0) {
            world_.violation(fmt::format(
                "p{} is kept running by {} pieces of work after its client is gone",
                one.number(),
                one.of().outstanding_work()
            ));
        }
    }

    world world_;
    server server_;
    oracle oracle_;
    setting all_;
    std::vector<std::shared_ptr<node>> nodes_;
    std::optional<faults> faults_;
};

}  // namespace

outcome run_schedule(std::uint64_t seed, bool traced) {
    schedule one{seed, traced};
    return one.run();
}

}  // namespace holdfast::sim
