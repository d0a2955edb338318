// A program that has its own loop around poll(), and no Asio in it. The client's sockets and timers
// run in a thread of their own; handlers run in the loop, by way of an executor that puts them into
// a queue and wakes the loop through an eventfd.
//
// The loop is also where leases are renewed, as with any executor that a handler is bound to: a
// loop that is stuck loses its locks, as it should. Handlers that ran in the client's thread would
// keep them.
#include "main.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

/// What other threads want done in the loop's thread.
class loop_queue {
public:
    using task = asio::any_completion_handler<void()>;

    loop_queue() : wakeup_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)} {
        if (wakeup_ < 0) {
            throw std::system_error{errno, std::generic_category(), "eventfd"};
        }
    }
    ~loop_queue() { ::close(wakeup_); }
    loop_queue(loop_queue const&) = delete;
    loop_queue& operator=(loop_queue const&) = delete;

    /// The descriptor that is readable while there is something to do.
    int descriptor() const { return wakeup_; }

    /// From any thread.
    void push(task what) {
        {
            std::scoped_lock const guard{mutex_};
            tasks_.push_back(std::move(what));
        }
        // It cannot fail but by an overflow, and then the loop is awake already.
        static_cast<void>(::eventfd_write(wakeup_, 1));
    }

    /// In the loop's thread: does what has come so far. What comes meanwhile wakes the loop again.
    void run_all() {
        eventfd_t count = 0;
        static_cast<void>(::eventfd_read(wakeup_, &count));
        std::vector<task> tasks;
        {
            std::scoped_lock const guard{mutex_};
            tasks.swap(tasks_);
        }
        for (auto& each : tasks) {
            std::move(each)();
        }
    }

private:
    int wakeup_;
    std::mutex mutex_;
    std::vector<task> tasks_;
};

/// Runs functions in the loop. Asio asks an executor for four things: a context, whose timers are
/// used; whether execute() may run the function at once; equality; and execute().
class loop_executor {
public:
    loop_executor(loop_queue& queue, asio::io_context& context)
        : queue_{&queue},
          context_{&context} {}

    asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
        return asio::execution::blocking.never;
    }
    bool operator==(loop_executor const&) const noexcept = default;

    template <class Function>
    void execute(Function function) const {
        queue_->push(std::move(function));
    }

private:
    loop_queue* queue_;
    asio::io_context* context_;
};

/// The thread of the client's sockets and timers.
class asio_thread {
public:
    asio_thread() : work_{context_.get_executor()}, thread_{[this] { context_.run(); }} {}
    ~asio_thread() {
        work_.reset();
        thread_.join();  // ends when the clients have given back what they had
    }

    asio::io_context& context() { return context_; }

private:
    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_;
    std::thread thread_;
};

/// The legacy program: a loop with a tick, as it was before there were locks in it.
class program {
public:
    explicit program(holdfast::config config) : client_{thread_.context(), std::move(config)} {}

    void run() {
        acquire();
        pollfd watched{.fd = queue_.descriptor(), .events = POLLIN, .revents = 0};
        while (!done_) {
            int const ready = ::poll(&watched, 1, 50);
            if (ready < 0 && errno != EINTR) {
                throw std::system_error{errno, std::generic_category(), "poll"};
            }
            if (ready > 0) {
                queue_.run_all();
            }
            tick();
        }
    }

    bool was_renewed() const { return renewed_; }
    bool was_lost() const { return lost_; }

private:
    // The handler runs in the loop because it is bound to the loop's executor.
    template <class Handler>
    auto in_loop(Handler handler) {
        return asio::bind_executor(loop_executor{queue_, thread_.context()}, std::move(handler));
    }

    void acquire() {
        holdfast::acquire_options const short_lease{.lease = 2s};
        client_.lock("report").acquire(
            short_lease,
            in_loop([this](holdfast::error_code ec, holdfast::lease lease) {
                if (ec) {
                    return stop("acquire", ec);
                }
                expect(std::this_thread::get_id() == loop_, "the handler is not in the loop");
                lease_ = std::move(lease);
                first_deadline_ = lease_.deadline();
                fmt::print("the loop has the lock, with token {}\n", lease_.token().value);
            })
        );
    }

    // Every 50 ms: the work that the lock guards.
    void tick() {
        if (!lease_ || lost_) {
            return;
        }
        expect(lease_.valid(), "a loop that turns has lost the lock");
        if (!renewed_) {
            renewed_ = lease_.deadline() > *first_deadline_;
            return;
        }
        fmt::print("it was renewed between two turns of the loop; now the loop gets stuck\n");
        std::this_thread::sleep_for(2500ms);  // stands for a call that blocks
        lost_ = !lease_.valid();
        fmt::print("a loop that was stuck {} the lock\n", lost_ ? "has lost" : "still has");
        lease_.release(in_loop([this](holdfast::error_code) { shut_down(); }));
    }

    void shut_down() {
        client_.shutdown(in_loop([this](holdfast::error_code ec) { stop("shutdown", ec); }));
    }

    void stop(char const* step, holdfast::error_code ec) {
        if (ec) {
            fmt::print(stderr, "{}: {}\n", step, ec.message());
        }
        done_ = true;
    }

    std::thread::id const loop_ = std::this_thread::get_id();
    loop_queue queue_;    // outlives the thread that pushes to it
    asio_thread thread_;  // outlives the client that runs in it
    holdfast::client client_;
    holdfast::lease lease_;
    std::optional<holdfast::lease_clock::time_point> first_deadline_;
    bool renewed_ = false;
    bool lost_ = false;
    bool done_ = false;
};

}  // namespace

int main(int argc, char** argv) try {
    program legacy{holdfast::parse_url(argc > 1 ? argv[argc - 1] : "redis://127.0.0.1")};
    legacy.run();
    expect(legacy.was_renewed(), "the lease was not renewed");
    expect(legacy.was_lost(), "the lease of a loop that was stuck is still valid");
} catch (std::exception const& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
}
