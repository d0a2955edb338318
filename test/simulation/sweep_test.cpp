// Each operation is cancelled at each point at which it can be: after every single step of the
// world from its start to its end, that is also between its completion and the call of its handler.
// Whatever the point and the type, it completes once, and leaves nothing behind.

#include "simulation/stage.hpp"

#include <holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <fmt/core.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace holdfast;
using namespace holdfast::sim;
using asio::cancellation_type;

namespace {

/// One operation in its circumstances, over and over again from the start.
class scene {
public:
    virtual ~scene() = default;

    /// All that has to be there before.
    virtual void prepare() { first_ = &stage_.add_ready(); }
    virtual void begin() = 0;
    virtual void emit(cancellation_type type) = 0;
    [[nodiscard]] virtual bool done() const = 0;
    [[nodiscard]] virtual error_code result() const = 0;
    /// What it got, it gives back.
    virtual void end() {}
    /// Errors but `operation_aborted` that are right.
    [[nodiscard]] virtual bool may_fail_with(error_code) const { return false; }
    /// What else has to be true when all is over.
    [[nodiscard]] virtual std::string wrong() const { return {}; }

    [[nodiscard]] stage& on() noexcept { return stage_; }
    [[nodiscard]] actor& first() noexcept { return *first_; }

protected:
    /// Somebody else's process, which holds the lock for so long.
    void held_by_another(nanos how_long) {
        other_ = &stage_.add_ready();
        taken_ = other_->make_call<lease>();
        other_->run([&] { other_->lock("lock").acquire(taken_->token()); });
        stage_.run_until([&] { return taken_->done; });
        stage_.in().after(how_long, [this] {
            other_->run([this] { std::get<0>(*taken_->results) = lease{}; });
        });
    }

    stage stage_;
    actor* first_ = nullptr;
    actor* other_ = nullptr;
    std::shared_ptr<call<lease>> taken_;
};

template <class... Results>
class callback_scene : public scene {
public:
    void emit(cancellation_type type) override {
        first_->run([&] { asked_->signal.emit(type); });
    }
    [[nodiscard]] bool done() const override { return asked_ && asked_->done; }
    [[nodiscard]] error_code result() const override { return asked_->error; }

protected:
    template <class Start>
    void ask(Start start) {
        asked_ = first_->make_call<Results...>();
        first_->run([&] { start(asked_->token()); });
    }

    std::shared_ptr<call<Results...>> asked_;
};

class acquire_scene : public callback_scene<lease> {
public:
    void begin() override {
        ask([&](auto token) { first_->lock("lock").acquire(std::move(token)); });
    }
    void end() override {
        if (asked_->results) {
            first_->run([&] { std::get<0>(*asked_->results) = lease{}; });
        }
    }
    [[nodiscard]] std::string wrong() const override {
        auto const& held = std::get<0>(*asked_->results);
        return asked_->error && held ? "an error, and a lease" : "";
    }
};

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
        second_ = first_->make_call<lease>();
        first_->run([&] { first_->lock("lock").acquire(second_->token()); });
    }
    void end() override {
        acquire_scene::end();
        if (!stage_.run_until([&] { return second_->done; }, 1s)) {
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
        stage_.on().break_after("acquire");
        acquire_scene::begin();
    }
};

class lost_request final : public acquire_scene {
    void begin() override {
        stage_.on().break_before("acquire");
        acquire_scene::begin();
    }
};

class late_answer final : public acquire_scene {
    void begin() override {
        acquire_scene::begin();
        auto const whose = first_->of().number();
        stage_.on().stall(whose, direction::to_client, true);
        stage_.in().after(700ms, [this, whose] {
            stage_.on().stall(whose, direction::to_client, false);
        });
    }
};

class notices_break final : public acquire_scene {
    void prepare() override {
        acquire_scene::prepare();
        held_by_another(20ms);
    }
    void begin() override {
        acquire_scene::begin();
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
            first_->lock("lock").acquire(*who_, earlier_->token());
        });
        stage_.run_until([&] { return earlier_->done; });
    }
    void begin() override {
        ask([&](auto token) { first_->lock("lock").acquire(*who_, std::move(token)); });
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

// Operations of one who holds the lock.
template <class... Results>
class holder_scene : public callback_scene<Results...> {
public:
    void prepare() override {
        callback_scene<Results...>::prepare();
        auto& me = *this->first_;
        mine_ = me.template make_call<lease>();
        me.run([&] { me.lock("lock").acquire(mine_->token()); });
        this->stage_.run_until([&] { return mine_->done; });
    }
    void end() override {
        this->first_->run([&] { held() = lease{}; });
    }
    lease& held() { return std::get<0>(*mine_->results); }

protected:
    std::shared_ptr<call<lease>> mine_;
};

class release final : public holder_scene<> {
    void begin() override {
        ask([&](auto token) { held().release(std::move(token)); });
    }
};

class release_with_a_lost_answer final : public holder_scene<> {
    void begin() override {
        stage_.on().break_after("release");
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
    static error_code code_of(std::exception_ptr const& failure) {
        try {
            if (failure) {
                std::rethrow_exception(failure);
            }
        } catch (boost::system::system_error const& e) {
            return e.code();
        }
        return {};
    }

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

struct tally {
    std::size_t points = 0;
    std::size_t combinations = 0;
    std::size_t aborted = 0;
    std::size_t completed = 0;
};

// One run with a cancellation after `point` steps; true if the operation was not over before.
bool run_one(scene& one, std::size_t point, cancellation_type type, tally& all) {
    one.prepare();
    BOOST_REQUIRE(!one.on().in().failed());
    one.begin();
    std::size_t steps = 0;
    bool emitted = false;
    for (;;) {
        if (steps++ == point && !one.done()) {
            one.emit(type);
            emitted = true;
        }
        if (one.done() || one.on().in().failed() || !one.on().in().step()) {
            break;
        }
        if (steps > 100'000) {
            break;
        }
    }
    BOOST_TEST(one.done());
    if (!one.done()) {
        return false;
    }
    auto const ec = one.result();
    bool const right = !ec || (emitted && ec == asio::error::operation_aborted) ||
                       one.may_fail_with(ec);
    BOOST_TEST(right, ec.message());
    (ec == asio::error::operation_aborted ? all.aborted : all.completed) += emitted ? 1 : 0;
    one.end();
    // Withdrawals, and the time for which a subscription lingers.
    one.on().run_for(3s);
    BOOST_TEST(one.wrong() == "");
    BOOST_TEST(one.on().left_behind() == "");
    BOOST_TEST(one.on().close_all() == "");
    BOOST_TEST(one.on().in().first_violation() == "");
    return emitted;
}

template <class Scene>
void sweep(char const* name, tally& all) {
    bool more = true;
    for (std::size_t point = 0; more; ++point) {
        more = false;
        for (auto const type :
             {cancellation_type::terminal,
              cancellation_type::partial,
              cancellation_type::total,
              cancellation_type::all}) {
            BOOST_TEST_CONTEXT(
                name << ", cancelled after " << point << " steps, type " << static_cast<int>(type)
            ) {
                Scene one;
                if (run_one(one, point, type, all)) {
                    more = true;
                    ++all.combinations;
                }
            }
        }
        all.points += more ? 1 : 0;
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_operation_that_is_cancelled_at_any_point_leaves_nothing_behind) {
    tally all;
    std::size_t scenes = 0;
    auto const each = [&]<class Scene>(char const* name) {
        ++scenes;
        auto const before = all;
        sweep<Scene>(name, all);
        BOOST_TEST(all.points > before.points + 1);
        fmt::print(
            "{:<28} {:>4} points, {:>5} combinations, {:>5} aborted, {:>5} completed\n",
            name,
            all.points - before.points,
            all.combinations - before.combinations,
            all.aborted - before.aborted,
            all.completed - before.completed
        );
    };
#define SWEEP(scene) each.operator()<scene>(#scene)
    SWEEP(free_lock);
    SWEEP(free_lock_again);
    SWEEP(before_the_connection);
    SWEEP(busy_lock);
    SWEEP(first_of_two);
    SWEEP(lost_answer);
    SWEEP(lost_request);
    SWEEP(late_answer);
    SWEEP(notices_break);
    SWEEP(owner_joins);
    SWEEP(try_busy);
    SWEEP(try_for_a_while);
    SWEEP(release);
    SWEEP(release_with_a_lost_answer);
    SWEEP(renewal);
    SWEEP(watch);
    SWEEP(inspection);
    SWEEP(forced_release);
    SWEEP(readiness);
    SWEEP(shutdown_with_a_lease);
    SWEEP(guarded);
    SWEEP(guarded_behind_another);
#undef SWEEP
    fmt::print(
        "{} operations, {} points, {} combinations: {} aborted, {} completed\n",
        scenes,
        all.points,
        all.combinations,
        all.aborted,
        all.completed
    );
}
