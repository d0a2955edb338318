#ifndef HOLDFAST_TEST_SIMULATION_STAGE_HPP
#define HOLDFAST_TEST_SIMULATION_STAGE_HPP

#include "simulation/call.hpp"
#include "simulation/server.hpp"
#include "simulation/world.hpp"

#include <holdfast/client.hpp>
#include <holdfast/options.hpp>

#include <boost/asio/detached.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim {

/// A process with a client, for tests that say themselves what happens.
class actor {
public:
    actor(world& in, std::uint32_t number, config const& settings)
        : process_{in, number, 1.0},
          lane_{&process_.new_lane()} {
        auto& own = process_.new_lane();
        in.within(own, [&] { client_.emplace(process_.executor_of(own), settings); });
    }
    actor(actor const&) = delete;
    actor& operator=(actor const&) = delete;
    ~actor() {
        view_of const view{process_};
        process_.kill();
    }

    [[nodiscard]] process& of() noexcept { return process_; }
    [[nodiscard]] lane& on() noexcept { return *lane_; }
    [[nodiscard]] asio::any_io_executor executor() { return process_.executor_of(*lane_); }
    [[nodiscard]] holdfast::client& client() { return *client_; }
    [[nodiscard]] bool has_client() const noexcept { return client_.has_value(); }
    [[nodiscard]] holdfast::lock lock(std::string const& name) { return client_->lock(name); }

    /// An operation's callback and result.
    template <class... Results>
    [[nodiscard]] std::shared_ptr<call<Results...>> make_call() {
        view_of const view{process_};
        return std::make_shared<call<Results...>>(executor());
    }

    /// In a handler on this process' thread.
    template <class F>
    void run(F f) {
        process_.in().within(*lane_, std::move(f));
    }
    void close() {
        run([this] { client_.reset(); });
    }

    /// Begins to acquire a lock.
    [[nodiscard]] std::shared_ptr<call<lease>> acquire(std::string const& name = "lock") {
        return acquire(acquire_options{}, name);
    }
    [[nodiscard]] std::shared_ptr<call<lease>> acquire(
        acquire_options const& options,
        std::string const& name = "lock"
    ) {
        auto const asked = make_call<lease>();
        run([&] { lock(name).acquire(options, asked->token()); });
        return asked;
    }
    /// Gives back what it got.
    void drop(call<lease>& got) {
        run([&] { got.results.reset(); });
    }

private:
    process process_;
    lane* lane_;
    std::optional<holdfast::client> client_;
};

/// A server and its clients, without any fault but those that the test makes.
class stage {
public:
    explicit stage(std::uint64_t seed = 1) : world_{seed, false}, server_{world_, 1.0} {
        world_.set_in_order(true);
        settings_.host = "simulated";
        settings_.lease = 3s;
    }

    [[nodiscard]] world& in() noexcept { return world_; }
    [[nodiscard]] server& on() noexcept { return server_; }
    [[nodiscard]] config& settings() noexcept { return settings_; }

    actor& add() {
        actors_.push_back(std::make_unique<actor>(
            world_,
            static_cast<std::uint32_t>(actors_.size() + 1),
            settings_
        ));
        return *actors_.back();
    }
    [[nodiscard]] std::vector<std::unique_ptr<actor>>& actors() noexcept { return actors_; }

    /// Until `done`, at most for `limit`; false if that never was.
    template <class Done>
    bool run_until(Done done, nanos limit = 60s) {
        auto const end = world_.now() + limit;
        while (!done()) {
            if (world_.now() >= end || world_.failed() || !world_.step()) {
                return done();
            }
        }
        return true;
    }
    void run_for(nanos time) { world_.run_until(world_.now() + time); }

    /// A client that is connected.
    actor& add_ready() {
        auto& made = add();
        auto const ready = made.make_call<>();
        made.run([&] { made.client().ready(ready->token()); });
        run_until([&] { return ready->done; });
        return made;
    }

    /// What nobody holds is not on the server: empty if all is well.
    [[nodiscard]] std::string left_behind() {
        std::string text;
        for (auto const& key : server_.data().lock_keys()) {
            text += key + " is held on the server; ";
        }
        for (auto const& one : actors_) {
            if (!one->has_client()) {
                continue;
            }
            auto const now = one->client().stats();
            if (now.waiters_now + now.leases_now + now.subscriptions_now != 0) {
                text += "waiters " + std::to_string(now.waiters_now) + ", leases " +
                        std::to_string(now.leases_now) + ", subscriptions " +
                        std::to_string(now.subscriptions_now) + "; ";
            }
        }
        return text;
    }

    /// In the queue of `lock`.
    [[nodiscard]] std::int64_t waiting_clients() {
        return on().as_operator({"ZCARD", "holdfast_queue:{lock}"}).number;
    }

    /// The clients go, and nothing may be left of them.
    [[nodiscard]] std::string close_all() {
        for (auto const& one : actors_) {
            if (one->has_client()) {
                one->close();
            }
        }
        run_for(20s);
        std::string text;
        for (auto const& one : actors_) {
            if (!one->of().idle()) {
                text += std::to_string(one->of().timers()) + " timers are left; ";
            }
            if (one->of().outstanding_work() != 0) {
                text += "work is left; ";
            }
        }
        return text;
    }

private:
    world world_;
    server server_;
    config settings_;
    std::vector<std::unique_ptr<actor>> actors_;
};

}  // namespace holdfast::sim

#endif
