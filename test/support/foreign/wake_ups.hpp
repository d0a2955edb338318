#ifndef HOLDFAST_TEST_SUPPORT_FOREIGN_WAKE_UPS_HPP
#define HOLDFAST_TEST_SUPPORT_FOREIGN_WAKE_UPS_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <limits>
#include <list>

namespace holdfast::test {

/// A semaphore for coroutines of one executor: who waits longest is woken first, and a wake-up that
/// finds nobody is kept for the next.
class wake_ups {
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// Keeps at most so many.
    explicit wake_ups(int most = std::numeric_limits<int>::max()) : most_{most} {}

    void give();
    /// Wakes all who wait; keeps nothing.
    void give_all();
    /// Drops what was kept.
    void forget() noexcept { kept_ = 0; }

    /// Waits for a wake-up, or until that time.
    [[nodiscard]] boost::asio::awaitable<void> take(time_point until = time_point::max());

private:
    struct sleeper {
        boost::asio::steady_timer timer;
        bool woken = false;
    };

    int most_;
    int kept_ = 0;
    std::list<sleeper*> asleep_;
};

}  // namespace holdfast::test

#endif
