#ifndef HOLDFAST_TEST_SIMULATION_SCENE_HPP
#define HOLDFAST_TEST_SIMULATION_SCENE_HPP

#include "simulation/stage.hpp"

#include <holdfast.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace holdfast::sim {

using asio::cancellation_type;

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
        taken_ = other_->acquire();
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
        if (asked_ && asked_->results) {
            first_->run([&] { std::get<0>(*asked_->results) = lease{}; });
        }
    }
    [[nodiscard]] std::string wrong() const override {
        auto const& held = std::get<0>(*asked_->results);
        return asked_->error && held ? "an error, and a lease" : "";
    }
};

/// Operations of one who holds the lock.
template <class... Results>
class holder_scene : public callback_scene<Results...> {
public:
    void prepare() override {
        callback_scene<Results...>::prepare();
        auto& me = *this->first_;
        mine_ = me.acquire();
        this->stage_.run_until([&] { return mine_->done; });
    }
    void end() override {
        this->first_->run([&] { held() = lease{}; });
    }
    lease& held() { return std::get<0>(*mine_->results); }

protected:
    std::shared_ptr<call<lease>> mine_;
};

}  // namespace holdfast::sim

#endif
