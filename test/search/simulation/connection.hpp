#ifndef HOLDFAST_TEST_SIMULATION_CONNECTION_HPP
#define HOLDFAST_TEST_SIMULATION_CONNECTION_HPP

// What `HOLDFAST_CONNECTION` names in the simulator's build: the library's links run unchanged over
// this stand-in for `boost::redis::connection`, which does to them what the original does,
// in virtual time.

#include "simulation/completion.hpp"
#include "simulation/process.hpp"
#include "simulation/world.hpp"

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/redis/adapter/any_adapter.hpp>
#include <boost/redis/config.hpp>
#include <boost/redis/operation.hpp>
#include <boost/redis/request.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace holdfast::memory {

struct value;

}  // namespace holdfast::memory

namespace holdfast::sim {

using memory::value;

class link;
class server;

struct is_answered {
    process::request_ref which{};
    void operator()(process* of) const noexcept { of->on_answered(which); }
};
/// The process of a request, as long as the request waits for its answer.
using waits_for_answer = std::unique_ptr<process, is_answered>;
[[nodiscard]] inline waits_for_answer waits_of(process& of) {
    return waits_for_answer{&of, {of.on_request()}};
}

class connection final : public std::enable_shared_from_this<connection>, private keeper {
public:
    connection(boost::asio::any_io_executor executor, std::string host);
    connection(connection const&) = delete;
    connection& operator=(connection const&) = delete;
    ~connection();

    template <class Token>
    auto async_run(boost::redis::config const& endpoint, Token&& token) {
        return boost::asio::async_initiate<Token, void(error_code)>(
            [](auto handler, connection* self, boost::redis::config const* to) {
                self->run({std::move(handler), self->executor_}, *to);
            },
            token,
            this,
            &endpoint
        );
    }

    template <class Token>
    auto async_exec(
        boost::redis::request const& request,
        boost::redis::any_adapter adapter,
        Token&& token
    ) {
        return boost::asio::async_initiate<Token, void(error_code, std::size_t)>(
            [](auto handler,
               connection* self,
               boost::redis::request const* what,
               boost::redis::any_adapter to) {
                self->exec({std::move(handler), self->executor_}, *what, std::move(to));
            },
            token,
            this,
            &request,
            std::move(adapter)
        );
    }

    template <class Token>
    auto async_receive2(Token&& token) {
        return boost::asio::async_initiate<Token, void(error_code)>(
            [](auto handler, connection* self) {
                self->receive({std::move(handler), self->executor_});
            },
            token,
            this
        );
    }

    void cancel(boost::redis::operation what = boost::redis::operation::all);
    void set_receive_response(boost::redis::any_adapter adapter) { receiver_ = std::move(adapter); }

    // What the network says, at any time; it is dealt with on the executor.
    void on_connected(std::shared_ptr<link> established);
    void on_failed(error_code why);
    void on_message(value message);
    /// A health check, as for a connection that has been silent for a while.
    void ping();

    [[nodiscard]] process& of() const noexcept { return *of_; }
    [[nodiscard]] boost::asio::any_io_executor const& get_executor() const noexcept {
        return executor_;
    }
    /// What answers nothing for this long is dead.
    [[nodiscard]] std::chrono::nanoseconds health_check_interval() const noexcept {
        return health_check_;
    }

private:
    using run_handler = completion<error_code>;
    using exec_handler = completion<error_code, std::size_t>;

    struct pending {
        boost::redis::request const* request;
        boost::redis::any_adapter adapter;
        exec_handler handler;
        std::size_t expected;
        bool written = false;
        // Its process, from when it was written, if it is to be answered.
        waits_for_answer waits{};

        void set_written(process& of) {
            written = true;
            if (expected > 0) {
                waits = waits_of(of);
            }
        }
    };

    void run(run_handler handler, boost::redis::config const& endpoint);
    void exec(
        exec_handler handler,
        boost::redis::request const& request,
        boost::redis::any_adapter adapter
    );
    void receive(run_handler handler);
    void write_all();
    void take(value const& message);
    void end_run(error_code why);
    void drop() noexcept override;

    boost::asio::any_io_executor executor_;
    process* of_;
    std::string host_;
    std::chrono::nanoseconds health_check_{0};
    std::shared_ptr<link> link_;
    std::deque<pending> requests_;
    boost::redis::any_adapter receiver_;
    run_handler running_;
    run_handler receiving_;
    // Its process, as long as the connection is being made.
    waits_for_answer connecting_;
    std::uint64_t epoch_ = 0;
    bool unread_ = false;
};

}  // namespace holdfast::sim

namespace holdfast::detail {

using redis_connection = sim::connection;

}  // namespace holdfast::detail

#endif
