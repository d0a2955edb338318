#include "run.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {

namespace asio = boost::asio;

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds look_interval{5};

// How long it has been looked. While a machine stands still, or has much else to do, little can
// happen that is waited for: of the time between two looks no more than `longest_look` counts.
class patience {
public:
    explicit patience(milliseconds limit) : limit_{limit} {}

    bool over() {
        constexpr milliseconds longest_look{25};
        auto const now = steady_clock::now();
        spent_ += std::min<steady_clock::duration>(now - last_, longest_look);
        last_ = now;
        return spent_ >= limit_;
    }

private:
    steady_clock::duration limit_;
    steady_clock::duration spent_{0};
    steady_clock::time_point last_ = steady_clock::now();
};

// One run of a test body: the context, its threads and what became of them.
class test_run {
public:
    test_run(test_body const& body, milliseconds deadline, int threads)
        : threads_{threads},
          context_{threads},
          limit_{steady_clock::now() + deadline} {
        asio::any_io_executor executor = context_.get_executor();
        if (threads > 1) {
            executor = asio::make_strand(context_);
        }
        asio::co_spawn(executor, body(context_.get_executor()), [this](std::exception_ptr error) {
            fail(error);
            limit_ = steady_clock::now() + idle_limit;
            body_ended_ = true;
        });
    }

    void run() {
        std::vector<std::thread> others;
        for (int i = 1; i < threads_; ++i) {
            others.emplace_back([this] { work(); });
        }
        work();
        for (auto& other : others) {
            other.join();
        }
    }

    void rethrow_failure(milliseconds deadline) const {
        if (failure_) {
            std::rethrow_exception(failure_);
        }
        if (!body_ended_) {
            throw std::runtime_error{
                "the test body did not end within " + std::to_string(deadline.count()) + " ms"
            };
        }
        if (!context_.stopped()) {
            throw std::runtime_error{
                "the context did not become idle within " + std::to_string(idle_limit.count()) +
                " s of the end of the test body"
            };
        }
    }

private:
    void work() {
        // In slices, because the limit moves when the body ends.
        constexpr milliseconds slice{50};
        try {
            while (!context_.stopped() && steady_clock::now() < limit_.load()) {
                context_.run_one_until(std::min(limit_.load(), steady_clock::now() + slice));
            }
        } catch (...) {
            fail(std::current_exception());
            context_.stop();
        }
    }

    void fail(std::exception_ptr error) {
        std::lock_guard const hold{mutex_};
        if (!failure_) {
            failure_ = error;
        }
    }

    int threads_;
    std::mutex mutex_;
    std::exception_ptr failure_;
    std::atomic<bool> body_ended_ = false;
    asio::io_context context_;
    std::atomic<steady_clock::time_point> limit_;
};

}  // namespace

void run_with_deadline(test_body const& body, milliseconds deadline, int threads) {
    test_run run{body, deadline, threads};
    run.run();
    run.rethrow_failure(deadline);
}

bool eventually(milliseconds limit, std::function<bool()> const& holds) {
    patience left{limit};
    while (!holds()) {
        if (left.over()) {
            return false;
        }
        std::this_thread::sleep_for(look_interval);
    }
    return true;
}

asio::awaitable<bool> co_eventually(milliseconds limit, std::function<bool()> holds) {
    patience left{limit};
    while (!holds()) {
        if (left.over()) {
            co_return false;
        }
        co_await sleep_for(look_interval);
    }
    co_return true;
}

asio::awaitable<void> sleep_for(std::chrono::nanoseconds duration) {
    asio::steady_timer timer{co_await asio::this_coro::executor};
    timer.expires_after(duration);
    co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace holdfast::test
