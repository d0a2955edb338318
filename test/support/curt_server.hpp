#ifndef HOLDFAST_TEST_SUPPORT_CURT_SERVER_HPP
#define HOLDFAST_TEST_SUPPORT_CURT_SERVER_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>

namespace holdfast::test {

/// A server on 127.0.0.1 that says the same thing to everybody, unasked, and hangs up: as Redis
/// does in protected mode, or with too many clients. It has a thread of its own.
class curt_server {
public:
    explicit curt_server(std::string says);
    curt_server(curt_server const&) = delete;
    curt_server& operator=(curt_server const&) = delete;
    ~curt_server();

    std::string url() const;
    /// From the next client on.
    void say(std::string what);
    std::size_t accepted() const { return accepted_; }

private:
    boost::asio::awaitable<void> serve();

    std::string says_;
    std::atomic<std::size_t> accepted_{0};
    boost::asio::io_context context_{1};
    boost::asio::ip::tcp::acceptor acceptor_;
    std::thread thread_;
};

}  // namespace holdfast::test

#endif
