#ifndef HOLDFAST_TEST_UNIT_LEASE_TEST_SLEEPER_HPP
#define HOLDFAST_TEST_UNIT_LEASE_TEST_SLEEPER_HPP

#include "lease/keep_alive.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace holdfast::test {

/// Counts how often it is called.
struct test_sleeper final : detail::sleeper, std::enable_shared_from_this<test_sleeper> {
    std::optional<detail::wake_time> on_due() override {
        ++calls;
        if (then) {
            then();
        }
        return next;
    }
    void on_executor_gone() noexcept override { ++gone; }
    std::shared_ptr<sleeper> share() noexcept override { return shared_from_this(); }

    int calls = 0;
    int gone = 0;
    std::optional<detail::wake_time> next;
    std::function<void()> then;
};

}  // namespace holdfast::test

#endif
