#include "proxy_engine.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>

namespace holdfast::test {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

proxy_engine::proxy_engine(
    proxy_connection::protocol::endpoint server,
    std::optional<std::string> turns_away
)
    : server_{std::move(server)},
      work_{asio::make_work_guard(context_)},
      turns_away_{std::move(turns_away)} {
    if (auto const error = listen()) {
        throw boost::system::system_error{error, "a proxy cannot listen"};
    }
    thread_ = std::thread{[this] { context_.run(); }};
}

proxy_engine::~proxy_engine() {
    call([this] {
        stop_listening();
        cut(cut_kind::fin, {});
        work_.reset();  // the coroutines end, and the thread with them
    });
    thread_.join();
}

error_code proxy_engine::listen() {
    stop_listening();
    error_code error;
    acceptor_.open(tcp::v4(), error);
    if (!error) {
        acceptor_.set_option(tcp::acceptor::reuse_address{true}, error);
    }
    if (!error) {
        acceptor_.bind({asio::ip::address_v4::loopback(), port_}, error);
    }
    if (!error) {
        acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    }
    if (error) {
        stop_listening();
        return error;
    }
    if (port_ == 0) {
        port_ = acceptor_.local_endpoint().port();
    }
    asio::co_spawn(context_, accept(listening_), asio::detached);
    return error;
}

void proxy_engine::stop_listening() {
    error_code ignored;
    acceptor_.close(ignored);
    ++listening_;
}

asio::awaitable<void> proxy_engine::accept(unsigned listening) {
    constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
    while (listening == listening_) {
        auto [error, socket] = co_await acceptor_.async_accept(as_result);
        if (error || listening != listening_) {
            continue;
        }
        if (turns_away_) {
            ++refused_;
            auto const words = *turns_away_;
            co_await asio::async_write(socket, asio::buffer(words), as_result);
            continue;
        }
        connections_.push_back(
            std::make_shared<proxy_connection>(std::move(socket), ++accepted_, plan_)
        );
        connections_.back()->start(server_);
    }
}

void proxy_engine::cut(cut_kind kind, connection_selector const& which) {
    for (auto const& connection : connections_) {
        if (which.matches(connection->record())) {
            connection->cut(kind);
        }
    }
}

void proxy_engine::forget_closed() {
    std::erase_if(connections_, [this](auto const& connection) {
        if (!connection->active()) {
            plan_.forget(connection->record().number);
        }
        return !connection->active();
    });
}

void proxy_engine::look_again() {
    for (auto const& connection : connections_) {
        connection->look_again();
    }
}

std::vector<connection_record const*> proxy_engine::records() const {
    std::vector<connection_record const*> all;
    for (auto const& connection : connections_) {
        all.push_back(&connection->record());
    }
    return all;
}

std::size_t proxy_engine::active() const {
    auto const count =
        std::count_if(connections_.begin(), connections_.end(), [](auto const& each) {
            return each->active();
        });
    return static_cast<std::size_t>(count);
}

std::size_t proxy_engine::in_use() const {
    auto const count =
        std::count_if(connections_.begin(), connections_.end(), [](auto const& each) {
            return each->active() && !each->left_by_client();
        });
    return static_cast<std::size_t>(count);
}

}  // namespace holdfast::test
