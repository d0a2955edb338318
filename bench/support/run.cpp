#include "support/run.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <stdexcept>
#include <utility>

namespace holdfast::bench {

void run(asio::awaitable<void> body, std::chrono::seconds limit) {
    struct state {
        asio::io_context context;
        bool ended = false;
        std::exception_ptr failure;
    };
    auto owner = std::make_unique<state>();
    auto& s = *owner;
    asio::co_spawn(s.context, std::move(body), [&s](std::exception_ptr thrown) {
        s.ended = true;
        s.failure = thrown;
        s.context.stop();
    });
    // `run_for` would look at the clock before each handler, which programs do not do.
    asio::steady_timer late{s.context, limit};
    late.async_wait([&s](boost::system::error_code ec) {
        if (!ec) {
            s.context.stop();
        }
    });
    s.context.run();
    if (!s.ended) {
        // Whatever hangs there may refer to anything: it is left alone.
        static_cast<void>(owner.release());
        throw std::runtime_error{"did not end in time"};
    }
    // What the body has left behind.
    late.cancel();
    s.context.restart();
    s.context.run_for(limit);
    if (s.failure) {
        std::rethrow_exception(s.failure);
    }
}

asio::awaitable<void> sleep_for(std::chrono::nanoseconds duration) {
    co_await sleep_until(std::chrono::steady_clock::now() + duration);
}

asio::awaitable<void> sleep_until(std::chrono::steady_clock::time_point at) {
    asio::steady_timer timer{co_await asio::this_coro::executor, at};
    co_await timer.async_wait(asio::use_awaitable);
}

task_group::task_group(asio::any_io_executor executor)
    : executor_{std::move(executor)},
      all_done_{executor_, asio::steady_timer::time_point::max()} {}

void task_group::spawn(asio::awaitable<void> task) {
    ++running_;
    asio::co_spawn(executor_, std::move(task), [this](std::exception_ptr thrown) {
        if (thrown && !failure_) {
            failure_ = thrown;
        }
        if (--running_ == 0) {
            all_done_.cancel();
        }
    });
}

asio::awaitable<void> task_group::join() {
    if (running_ != 0) {
        co_await all_done_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    if (failure_) {
        std::rethrow_exception(failure_);
    }
}

}  // namespace holdfast::bench
