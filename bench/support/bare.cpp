#include "support/bare.hpp"

#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/redis/logger.hpp>

#include <stdexcept>
#include <utility>

namespace holdfast::bench {

namespace redis = boost::redis;

namespace {

redis::config at_socket(std::string const& unix_socket) {
    redis::config where;
    where.unix_socket = unix_socket;
    return where;
}

redis::config at_port(std::uint16_t port) {
    redis::config where;
    where.addr = {"127.0.0.1", std::to_string(port)};
    return where;
}

}  // namespace

bare_connection::bare_connection(asio::any_io_executor executor, redis::config where)
    : connection_{std::make_shared<redis::connection>(
          std::move(executor),
          redis::logger{redis::logger::level::disabled}
      )} {
    where.reconnect_wait_interval = std::chrono::seconds{0};
    // Health checks set a timer for each read and each write.
    where.health_check_interval = std::chrono::seconds{0};
    connection_->async_run(where, [keep = connection_](boost::system::error_code) {});
}

bare_connection::bare_connection(asio::any_io_executor executor, std::string const& unix_socket)
    : bare_connection{std::move(executor), at_socket(unix_socket)} {}

bare_connection::bare_connection(asio::any_io_executor executor, std::uint16_t port)
    : bare_connection{std::move(executor), at_port(port)} {}

bare_connection::~bare_connection() {
    connection_->cancel();
}

// Awaited operations are named: GCC 12 destroys some temporaries of a co_await expression twice.
asio::awaitable<void> bare_caller::call(
    std::string_view sha1,
    std::span<std::string_view const> words
) {
    request_.clear();
    request_.push_range("EVALSHA", sha1, words);
    co_await exec();
}

asio::awaitable<void> bare_caller::call_all(std::span<command const> all) {
    request_.clear();
    for (auto const& each : all) {
        request_.push_range("EVALSHA", each.sha1, each.words);
    }
    co_await exec();
}

asio::awaitable<void> bare_caller::exec() {
    response_.value().clear();
    auto exec = connection_->async_exec(request_, response_, asio::deferred);
    co_await std::move(exec)(asio::use_awaitable);
    if (response_.has_error()) {
        throw std::runtime_error{"bare script: " + response_.error().diagnostic};
    }
}

std::string_view bare_caller::reply() const {
    return response_.value().at(0).value;
}

}  // namespace holdfast::bench
