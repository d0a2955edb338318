#ifndef HOLDFAST_TEST_SUPPORT_PROXY_CONNECTION_HPP
#define HOLDFAST_TEST_SUPPORT_PROXY_CONNECTION_HPP

#include "expected_replies.hpp"
#include "fault_plan.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

/// One client of a proxy, with the connection made for it to the server.
/// Used on the proxy's thread only.
class proxy_connection : public std::enable_shared_from_this<proxy_connection> {
public:
    using protocol = boost::asio::generic::stream_protocol;

    proxy_connection(protocol::socket client, std::size_t number, fault_plan& plan);

    void start(protocol::endpoint const& server);
    void cut(cut_kind kind);

    /// To be called when the plan has changed.
    void look_again();

    bool active() const { return !closed_; }
    bool left_by_client() const { return left_by_client_; }
    connection_record const& record() const { return record_; }

private:
    // What has been read and waits to be written.
    struct piece {
        enum class kind { bytes, fault, call, end, reset };

        kind type;
        std::chrono::steady_clock::time_point due{};
        std::string bytes{};
        stream_fault fault{};
        std::function<void()> call{};
    };

    struct pipe {
        direction way;
        protocol::socket& from;
        protocol::socket& to;
        boost::asio::steady_timer wake;
        std::string unread{};  // less than a message
        bool framed = true;    // so far all of it was RESP
        std::deque<piece> queue{};
        bool ended = false;
    };

    boost::asio::awaitable<void> connect(protocol::endpoint server);
    boost::asio::awaitable<void> read(pipe& p);
    boost::asio::awaitable<void> write(pipe& p);
    boost::asio::awaitable<bool> wait_for_work(pipe& p);

    std::string take_message(pipe& p);
    std::vector<std::string> take_messages(pipe& p);
    void on_commands(std::vector<std::string> messages);
    void on_command(std::string message, std::vector<std::string> words);
    void on_reply(std::string message);
    void apply(stream_fault fault, direction way);
    void queue(pipe& p, piece what);
    void queue(pipe& p, message_part part);
    void finish(pipe& p);
    bool happen(pipe& p);

    fault_plan& plan_;
    connection_record record_;
    protocol::socket client_;
    protocol::socket server_;
    pipe to_server_;
    pipe to_client_;
    expected_replies expected_;
    bool left_by_client_ = false;
    bool closed_ = false;
};

}  // namespace holdfast::test

#endif
