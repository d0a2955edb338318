#ifndef HOLDFAST_TEST_SUPPORT_RUNNING_CONTEXT_HPP
#define HOLDFAST_TEST_SUPPORT_RUNNING_CONTEXT_HPP

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

namespace holdfast::test {

/// A context that threads of its own run until it goes out of scope and has nothing left to do.
class running_context {
public:
    explicit running_context(int threads = 1) : work_{context_.get_executor()} {
        for (int i = 0; i < threads; ++i) {
            threads_.emplace_back([this] { context_.run(); });
        }
    }
    ~running_context() {
        work_.reset();
        for (auto& thread : threads_) {
            thread.join();
        }
    }
    running_context(running_context const&) = delete;
    running_context& operator=(running_context const&) = delete;

    boost::asio::io_context& get() { return context_; }

    bool runs(std::thread::id thread) const {
        return std::any_of(threads_.begin(), threads_.end(), [thread](std::thread const& one) {
            return one.get_id() == thread;
        });
    }
    bool runs_here() const { return runs(std::this_thread::get_id()); }

private:
    boost::asio::io_context context_;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
    std::vector<std::thread> threads_;
};

/// The result of a future; throws `std::runtime_error` when it does not come.
template <class T>
T get(std::future<T> result) {
    if (result.wait_for(std::chrono::seconds{20}) != std::future_status::ready) {
        throw std::runtime_error{"the future did not become ready"};
    }
    return result.get();
}

}  // namespace holdfast::test

#endif
