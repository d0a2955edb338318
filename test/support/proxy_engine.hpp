#ifndef HOLDFAST_TEST_SUPPORT_PROXY_ENGINE_HPP
#define HOLDFAST_TEST_SUPPORT_PROXY_ENGINE_HPP

#include "fault_plan.hpp"
#include "proxy_connection.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/error_code.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::test {

/// The thread of a proxy, with all that lives on it. Everything but the constructor, the
/// destructor, `port`, `call` and `change` is for functions that `call` and `change` run.
class proxy_engine {
public:
    explicit proxy_engine(
        proxy_connection::protocol::endpoint server,
        std::optional<std::string> turns_away = {}
    );
    proxy_engine(proxy_engine const&) = delete;
    proxy_engine& operator=(proxy_engine const&) = delete;
    ~proxy_engine();

    std::uint16_t port() const { return port_; }

    /// Runs `f` on the thread, and waits for its result.
    template <class F>
    auto call(F f) {
        return boost::asio::dispatch(context_, boost::asio::use_future(std::move(f))).get();
    }

    /// Lets `f` change the plan; those who act by the plan then look at it again.
    template <class F>
    void change(F f) {
        call([this, &f] {
            f(plan_);
            look_again();
        });
    }

    boost::system::error_code listen();
    void stop_listening();
    /// A new connection is told this and closed; nothing: it is accepted.
    void turn_away(std::optional<std::string> words) { turns_away_ = std::move(words); }
    void lead_to(proxy_connection::protocol::endpoint server) { server_ = std::move(server); }
    void cut(cut_kind kind, connection_selector const& which);
    void forget_closed();

    std::vector<connection_record const*> records() const;
    std::size_t accepted() const { return accepted_; }
    std::size_t active() const;
    std::size_t in_use() const;
    std::size_t refused() const { return refused_; }
    std::size_t pending_faults() const { return plan_.pending(); }

private:
    boost::asio::awaitable<void> accept(unsigned listening);
    void look_again();

    proxy_connection::protocol::endpoint server_;
    boost::asio::io_context context_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
    boost::asio::ip::tcp::acceptor acceptor_{context_};
    unsigned listening_ = 0;  // changes when the acceptor is opened or closed
    std::uint16_t port_ = 0;  // never changes after the constructor
    fault_plan plan_;
    std::vector<std::shared_ptr<proxy_connection>> connections_;  // closed ones too
    std::optional<std::string> turns_away_;
    std::size_t accepted_ = 0;
    std::size_t refused_ = 0;
    std::thread thread_;
};

}  // namespace holdfast::test

#endif
