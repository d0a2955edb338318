#ifndef HOLDFAST_BENCH_SUPPORT_RUN_HPP
#define HOLDFAST_BENCH_SUPPORT_RUN_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <exception>

namespace holdfast::bench {

namespace asio = boost::asio;

/// Runs a coroutine on a context of its own, in this thread, and rethrows what it throws.
/// Throws `std::runtime_error` when it has not ended in time.
void run(asio::awaitable<void> body, std::chrono::seconds limit = std::chrono::minutes{2});

[[nodiscard]] asio::awaitable<void> sleep_for(std::chrono::nanoseconds duration);
[[nodiscard]] asio::awaitable<void> sleep_until(std::chrono::steady_clock::time_point at);

/// Coroutines that run side by side. It must live until `join` has returned.
class task_group {
public:
    explicit task_group(asio::any_io_executor executor);

    void spawn(asio::awaitable<void> task);

    /// Waits for all of them; rethrows the first exception.
    [[nodiscard]] asio::awaitable<void> join();

private:
    asio::any_io_executor executor_;
    asio::steady_timer all_done_;
    std::size_t running_ = 0;
    std::exception_ptr failure_;
};

}  // namespace holdfast::bench

#endif
