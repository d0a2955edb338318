#include "curt_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;
using asio::ip::tcp;

curt_server::curt_server(std::string says)
    : says_{std::move(says)},
      acceptor_{context_, {asio::ip::address_v4::loopback(), 0}} {
    asio::co_spawn(context_, serve(), asio::detached);
    thread_ = std::thread{[this] { context_.run(); }};
}

curt_server::~curt_server() {
    asio::post(context_, [this] { acceptor_.close(); });
    thread_.join();
}

std::string curt_server::url() const {
    return "redis://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
}

void curt_server::say(std::string what) {
    asio::post(context_, [this, what = std::move(what)]() mutable { says_ = std::move(what); });
}

asio::awaitable<void> curt_server::serve() {
    constexpr auto ignore_failure = asio::as_tuple(asio::use_awaitable);
    while (acceptor_.is_open()) {
        auto [failed, client] = co_await acceptor_.async_accept(ignore_failure);
        if (!failed) {
            ++accepted_;
            co_await asio::async_write(client, asio::buffer(says_), ignore_failure);
        }
    }
}

}  // namespace holdfast::test
