#ifndef HOLDFAST_TEST_SIMULATION_COUNTING_SCENES_HPP
#define HOLDFAST_TEST_SIMULATION_COUNTING_SCENES_HPP

#include "simulation/scene.hpp"

#include <holdfast.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::sim {

/// Operations on a number that belongs to nobody. When all is over it is what it has to be, and is
/// taken away with the marks of requests.
template <class... Results>
class counting_scene : public callback_scene<Results...> {
public:
    void prepare() override {
        callback_scene<Results...>::prepare();
        set(first_number());
    }
    void end() override {
        give_back();
        this->stage_.in().after(std::chrono::milliseconds{2'500}, [this] {
            left_ = data().get(key).value_or("none");
            for (auto const& one : data().keys()) {
                data().erase(one);
            }
        });
    }
    [[nodiscard]] std::string wrong() const override {
        auto const expected = last_number();
        return left_ == expected ? "" : "there are " + left_ + ", not " + expected;
    }

protected:
    static constexpr char const* key = "number";

    redis_model& data() { return this->stage_.on().data(); }
    void set(std::string_view number) { this->stage_.on().as_operator({"SET", key, number}); }
    void set_after(nanos delay, std::string_view number, std::string_view channel) {
        this->stage_.in().after(delay, [this, number, channel] {
            set(number);
            this->stage_.on().as_operator({"PUBLISH", channel, number});
        });
    }
    [[nodiscard]] counting_semaphore semaphore() {
        return this->first_->client().counting_semaphore(key);
    }
    [[nodiscard]] holdfast::latch latch() { return this->first_->client().latch(key); }

    [[nodiscard]] virtual char const* first_number() const = 0;
    [[nodiscard]] virtual std::string last_number() const = 0;
    virtual void give_back() {}

private:
    std::string left_;
};

class takes_permits : public counting_scene<> {
public:
    void begin() override {
        ask([&](auto token) { semaphore().acquire(2, std::move(token)); });
    }

protected:
    char const* first_number() const override { return "3"; }
    std::string last_number() const override { return "3"; }
    void give_back() override {
        if (asked_ && asked_->done && !asked_->error) {
            first_->run([&] { semaphore().release(2, asio::detached); });
        }
    }
};

class waits_for_permits final : public takes_permits {
    void prepare() override {
        takes_permits::prepare();
        set("0");
        set_after(20ms, "3", "redisson_sc:{number}");
    }
};

class permits_lost_answer final : public takes_permits {
    void begin() override {
        stage_.on().break_after("counting_semaphore.acquire");
        takes_permits::begin();
    }
};

class permits_lost_request final : public takes_permits {
    void begin() override {
        stage_.on().break_before("counting_semaphore.acquire");
        takes_permits::begin();
    }
};

class gives_permits_back final : public counting_scene<> {
    void begin() override {
        stage_.on().break_after("counting_semaphore.add");
        ask([&](auto token) { semaphore().release(2, std::move(token)); });
    }
    char const* first_number() const override { return "3"; }
    std::string last_number() const override { return "5"; }
};

class waits_at_a_latch final : public counting_scene<> {
    void prepare() override {
        counting_scene::prepare();
        set_after(20ms, "0", "redisson_countdownlatch__channel__{number}");
    }
    void begin() override {
        ask([&](auto token) { latch().wait(std::move(token)); });
    }
    char const* first_number() const override { return "1"; }
    std::string last_number() const override { return "0"; }
};

class counts_down final : public counting_scene<> {
    void begin() override {
        stage_.on().break_after("latch.count_down");
        ask([&](auto token) { latch().count_down(2, std::move(token)); });
    }
    char const* first_number() const override { return "7"; }
    std::string last_number() const override { return "5"; }
};

class sets_a_latch final : public counting_scene<bool> {
    void begin() override {
        data().erase(key);
        ask([&](auto token) { latch().try_set(4, std::move(token)); });
    }
    char const* first_number() const override { return "1"; }
    std::string last_number() const override { return "4"; }
};

}  // namespace holdfast::sim

#endif
