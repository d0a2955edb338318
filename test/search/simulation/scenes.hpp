#ifndef HOLDFAST_TEST_SIMULATION_SCENES_HPP
#define HOLDFAST_TEST_SIMULATION_SCENES_HPP

#include "simulation/counting_scenes.hpp"
#include "simulation/scene.hpp"

#include <holdfast.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim {

// A free lock, whose script the server does not know yet.
class free_lock final : public acquire_scene {};

class free_lock_again final : public acquire_scene {
    void prepare() override {
        acquire_scene::prepare();
        held_by_another(1us);
        stage_.run_for(10ms);
    }
};

class before_the_connection final : public acquire_scene {
    void prepare() override { first_ = &stage_.add(); }
};

class busy_lock : public acquire_scene {
    void prepare() override {
        acquire_scene::prepare();
        held_by_another(20ms);
    }
};

// Two of one client wait; the second has to get the lock whatever happens to the first.
class first_of_two final : public acquire_scene {
    void prepare() override {
        acquire_scene::prepare();
        held_by_another(20ms);
    }
    void begin() override {
        acquire_scene::begin();
        second_ = first_->acquire();
    }
    void end() override {
        acquire_scene::end();
        if (!second_ || !stage_.run_until([&] { return second_->done; }, 1s)) {
            second_failed_ = "the second waiter was forgotten";
            return;
        }
        second_failed_ = second_->error ? second_->error.message() : "";
        first_->run([&] { std::get<0>(*second_->results) = lease{}; });
    }
    [[nodiscard]] std::string wrong() const override { return second_failed_; }

    std::shared_ptr<call<lease>> second_;
    std::string second_failed_;
};

class lost_answer final : public acquire_scene {
    void begin() override {
        stage_.on().break_after("lock.acquire");
        acquire_scene::begin();
    }
};

class lost_request final : public acquire_scene {
    void begin() override {
        stage_.on().break_before("lock.acquire");
        acquire_scene::begin();
    }
};

class late_answer final : public acquire_scene {
    void begin() override {
        acquire_scene::begin();
        own_business const the_network;
        auto const whose = first_->of().number();
        stage_.on().stall(whose, direction::to_client, true);
        stage_.in().after(700ms, [this, whose] {
            stage_.on().stall(whose, direction::to_client, false);
        });
    }
};

class subscriptions_break final : public acquire_scene {
    void prepare() override {
        acquire_scene::prepare();
        held_by_another(20ms);
    }
    void begin() override {
        acquire_scene::begin();
        own_business const the_network;
        stage_.in().after(5ms, [this] {
            for (auto const& one : stage_.on().links()) {
                if (!one->is_for_commands()) {
                    one->close_by_server(asio::error::connection_reset);
                }
            }
        });
    }
};

class owner_joins final : public acquire_scene {
    void prepare() override {
        acquire_scene::prepare();
        earlier_ = first_->make_call<lease>();
        first_->run([&] {
            who_ = owner::make();
            first_->lock("lock").acquire({.owner = *who_}, earlier_->token());
        });
        stage_.run_until([&] { return earlier_->done; });
    }
    void begin() override {
        ask([&](auto token) { first_->lock("lock").acquire({.owner = *who_}, std::move(token)); });
    }
    void end() override {
        acquire_scene::end();
        first_->run([&] { std::get<0>(*earlier_->results) = lease{}; });
    }
    std::optional<owner> who_;
    std::shared_ptr<call<lease>> earlier_;
};

class try_busy final : public acquire_scene {
    void prepare() override {
        acquire_scene::prepare();
        held_by_another(20ms);
    }
    void begin() override {
        ask([&](auto token) { first_->lock("lock").try_acquire(std::move(token)); });
    }
};

class try_for_a_while final : public acquire_scene {
    void prepare() override {
        acquire_scene::prepare();
        held_by_another(50ms);
    }
    void begin() override {
        ask([&](auto token) { first_->lock("lock").try_acquire_for(10ms, std::move(token)); });
    }
};

class release final : public holder_scene<> {
    void begin() override {
        ask([&](auto token) { held().release(std::move(token)); });
    }
};

class release_with_a_lost_answer final : public holder_scene<> {
    void begin() override {
        stage_.on().break_after("lock.release");
        ask([&](auto token) { held().release(std::move(token)); });
    }
};

class renewal final : public holder_scene<> {
    void begin() override {
        ask([&](auto token) { held().renew(std::move(token)); });
    }
};

class watch final : public holder_scene<loss_reason> {
    void begin() override {
        ask([&](auto token) { held().wait_lost(std::move(token)); });
        stage_.in().after(30ms, [this] { stage_.on().data().erase("lock"); });
    }
};

// One lock of several that are renewed by one script is gone.
class renewals_together final : public holder_scene<loss_reason> {
    void prepare() override {
        holder_scene::prepare();
        for (auto const* const name : {"second", "third"}) {
            others_.push_back(first_->acquire(name));
            stage_.run_until([&] { return others_.back()->done; });
        }
        stage_.run_for(800ms);
        stage_.on().on_script = [](script_event const&) {};
        stage_.on().on_renewed_together = [this] { together_ = true; };
    }
    void begin() override {
        stage_.on().data().erase("lock");
        ask([&](auto token) { held().wait_lost(std::move(token)); });
    }
    void end() override {
        holder_scene::end();
        for (auto const& one : others_) {
            first_->run([&] { lost_ = lost_ || !std::get<0>(*one->results).valid(); });
            first_->drop(*one);
        }
    }
    [[nodiscard]] std::string wrong() const override {
        if (!asked_->error && !together_) {
            return "they are not renewed together";
        }
        return lost_ ? "a lock that is gone cost the lease of another" : "";
    }

    bool together_ = false;
    bool lost_ = false;
    std::vector<std::shared_ptr<call<lease>>> others_;
};

// Several locks as one.
class several_scene : public callback_scene<multi_lease> {
public:
    void prepare() override {
        callback_scene::prepare();
        // What the client needs is known to be allowed.
        auto const once = first_->acquire("another");
        stage_.run_until([&] { return once->done; });
        first_->drop(*once);
        stage_.run_for(10ms);
    }
    void begin() override {
        ask([&](auto token) {
            multi_lock{first_->lock("lock"), first_->lock("before")}.acquire(std::move(token));
        });
    }
    void end() override {
        if (asked_ && asked_->results) {
            first_->run([&] { held() = multi_lease{}; });
        }
    }
    [[nodiscard]] std::string wrong() const override {
        auto const& got = std::get<0>(*asked_->results);
        return asked_->error && got ? "an error, and a lease" : "";
    }

protected:
    multi_lease& held() { return std::get<0>(*asked_->results); }
};

class several_free_locks final : public several_scene {};

class several_locks_one_busy final : public several_scene {
    void prepare() override {
        several_scene::prepare();
        held_by_another(20ms);
    }
};

class several_locks_lost_answer final : public several_scene {
    void begin() override {
        stage_.on().break_after("multi_lock.acquire");
        several_scene::begin();
    }
};

template <class... Results>
class several_held : public callback_scene<Results...> {
public:
    void prepare() override {
        callback_scene<Results...>::prepare();
        auto& me = *this->first_;
        mine_ = me.template make_call<multi_lease>();
        me.run([&] { multi_lock{me.lock("lock"), me.lock("before")}.acquire(mine_->token()); });
        this->stage_.run_until([&] { return mine_->done; });
    }
    void end() override {
        this->first_->run([&] { held() = multi_lease{}; });
    }
    multi_lease& held() { return std::get<0>(*mine_->results); }

protected:
    std::shared_ptr<call<multi_lease>> mine_;
};

// One of them is gone.
class several_watched final : public several_held<loss_reason> {
    void begin() override {
        ask([&](auto token) { held().wait_lost(std::move(token)); });
        stage_.in().after(30ms, [this] { stage_.on().data().erase("lock"); });
    }
};

class several_released final : public several_held<> {
    void begin() override {
        ask([&](auto token) { held().release(std::move(token)); });
    }
};

class inspection final : public callback_scene<lock_info> {
    void begin() override {
        ask([&](auto token) { first_->lock("lock").inspect(std::move(token)); });
    }
};

class forced_release final : public callback_scene<bool> {
    void prepare() override {
        callback_scene::prepare();
        held_by_another(50ms);
    }
    void begin() override {
        ask([&](auto token) { first_->lock("lock").force_release(std::move(token)); });
    }
};

class readiness final : public callback_scene<> {
    void prepare() override { first_ = &stage_.add(); }
    void begin() override {
        ask([&](auto token) { first_->client().ready(std::move(token)); });
    }
};

class shutdown_with_a_lease final : public holder_scene<> {
    void begin() override {
        ask([&](auto token) { first_->client().shutdown(std::move(token)); });
    }
};

// The coroutine is cancelled: while it acquires, in its body, and while it releases.
class guarded : public callback_scene<> {
public:
    void begin() override {
        asked_ = first_->make_call<>();
        first_->run([&] {
            asio::co_spawn(
                first_->executor(),
                with_lease(first_->lock("lock"), body_),
                asio::bind_cancellation_slot(
                    asked_->signal.slot(),
                    asio::bind_executor(
                        first_->executor(),
                        [asked = asked_](std::exception_ptr failure) {
                            asked->complete(code_of(failure));
                        }
                    )
                )
            );
        });
    }
    [[nodiscard]] bool may_fail_with(error_code ec) const override {
        return ec == asio::error::operation_aborted;
    }

private:
    std::function<asio::awaitable<void>(lease&)> body_ = [this](lease&) -> asio::awaitable<void> {
        detail::timer pause{first_->executor()};
        pause.expires_after(10ms);
        auto wait = pause.async_wait(asio::deferred);
        co_await std::move(wait);
    };
};

class guarded_behind_another final : public guarded {
    void prepare() override {
        guarded::prepare();
        held_by_another(20ms);
    }
};

/// Calls `f<scene>(name)` for each of them.
template <class F>
void for_each_scene(F& f) {
#define HOLDFAST_SCENE(scene) f.template operator()<scene>(#scene)
    HOLDFAST_SCENE(free_lock);
    HOLDFAST_SCENE(free_lock_again);
    HOLDFAST_SCENE(before_the_connection);
    HOLDFAST_SCENE(busy_lock);
    HOLDFAST_SCENE(first_of_two);
    HOLDFAST_SCENE(lost_answer);
    HOLDFAST_SCENE(lost_request);
    HOLDFAST_SCENE(late_answer);
    HOLDFAST_SCENE(subscriptions_break);
    HOLDFAST_SCENE(owner_joins);
    HOLDFAST_SCENE(try_busy);
    HOLDFAST_SCENE(try_for_a_while);
    HOLDFAST_SCENE(release);
    HOLDFAST_SCENE(release_with_a_lost_answer);
    HOLDFAST_SCENE(renewal);
    HOLDFAST_SCENE(watch);
    HOLDFAST_SCENE(renewals_together);
    HOLDFAST_SCENE(several_free_locks);
    HOLDFAST_SCENE(several_locks_one_busy);
    HOLDFAST_SCENE(several_locks_lost_answer);
    HOLDFAST_SCENE(several_watched);
    HOLDFAST_SCENE(several_released);
    HOLDFAST_SCENE(takes_permits);
    HOLDFAST_SCENE(waits_for_permits);
    HOLDFAST_SCENE(permits_lost_answer);
    HOLDFAST_SCENE(permits_lost_request);
    HOLDFAST_SCENE(gives_permits_back);
    HOLDFAST_SCENE(waits_at_a_latch);
    HOLDFAST_SCENE(counts_down);
    HOLDFAST_SCENE(sets_a_latch);
    HOLDFAST_SCENE(inspection);
    HOLDFAST_SCENE(forced_release);
    HOLDFAST_SCENE(readiness);
    HOLDFAST_SCENE(shutdown_with_a_lease);
    HOLDFAST_SCENE(guarded);
    HOLDFAST_SCENE(guarded_behind_another);
#undef HOLDFAST_SCENE
}

}  // namespace holdfast::sim

#endif
