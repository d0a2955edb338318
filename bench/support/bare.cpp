#include "support/bare.hpp"

#include "redis/scripts.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/redis/ignore.hpp>
#include <boost/redis/logger.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace holdfast::bench {

namespace {

namespace redis = boost::redis;

// As long as the library's.
std::uint64_t next_number() {
    static std::uint64_t number = 0x1000'0000'0000'0000U;
    return ++number;
}

constexpr std::string_view fence_ttl = "2592000000";

}  // namespace

bare_connection::bare_connection(asio::any_io_executor executor, std::string const& unix_socket)
    : connection_{std::make_shared<redis::connection>(
          std::move(executor),
          redis::logger{redis::logger::level::disabled}
      )} {
    redis::config settings;
    settings.unix_socket = unix_socket;
    settings.reconnect_wait_interval = std::chrono::seconds{0};
    connection_->async_run(settings, [keep = connection_](boost::system::error_code) {});
}

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
    response_.value().clear();
    auto exec = connection_->async_exec(request_, response_, asio::deferred);
    co_await std::move(exec)(asio::use_awaitable);
    if (response_.has_error()) {
        throw std::runtime_error{"bare script: " + response_.error().diagnostic};
    }
}

std::string_view bare_caller::value(std::size_t index) const {
    return response_.value().at(index + 1).value;
}

bare_lock::bare_lock(bare_connection& on, std::string_view name, std::chrono::milliseconds lease)
    : caller_{on},
      keys_{detail::make_key_names({}, name)},
      lease_{std::to_string(lease.count())} {}

std::string const& bare_lock::next_nonce() {
    nonce_.clear();
    fmt::format_to(std::back_inserter(nonce_), "{:x}", next_number());
    return nonce_;
}

asio::awaitable<std::uint64_t> bare_lock::acquire() {
    holder_.clear();
    fmt::format_to(
        std::back_inserter(holder_),
        "6ba7b810-9dad-11d1-80b4-{:012x}:{}",
        ::getpid(),  // two processes are two holders
        next_number()
    );
    std::array const words{
        std::string_view{"2"},
        std::string_view{keys_.lock},
        std::string_view{keys_.counter},
        std::string_view{lease_},
        std::string_view{holder_},
        fence_ttl,
        std::string_view{"0"},
        std::string_view{next_nonce()},
    };
    co_await caller_.call(detail::scripts::acquire.sha1, words);
    std::uint64_t token = 0;
    if (caller_.value(1) == "1") {
        auto const text = caller_.value(2);
        std::from_chars(text.data(), text.data() + text.size(), token);
    }
    co_return token;
}

asio::awaitable<void> bare_lock::renew() {
    std::array const words{
        std::string_view{"1"},
        std::string_view{keys_.lock},
        std::string_view{lease_},
        std::string_view{holder_},
        std::string_view{next_nonce()},
    };
    co_await caller_.call(detail::scripts::renew.sha1, words);
}

asio::awaitable<void> bare_lock::release() {
    std::array const words{
        std::string_view{"2"},
        std::string_view{keys_.lock},
        std::string_view{keys_.channel},
        std::string_view{holder_},
        std::string_view{next_nonce()},
    };
    co_await caller_.call(detail::scripts::release.sha1, words);
}

bare_notices::state::state(asio::any_io_executor const& executor, std::string const& unix_socket)
    : connection{executor, unix_socket},
      arrived{executor, asio::steady_timer::time_point::max()} {}

bare_notices::bare_notices(asio::any_io_executor executor, std::string const& unix_socket)
    : state_{std::make_shared<state>(executor, unix_socket)} {
    receive(state_);
}

bare_notices::~bare_notices() {
    state_->stopped = true;
    state_->connection.get().cancel();
}

void bare_notices::receive(std::shared_ptr<state> s) {
    auto& connection = s->connection.get();
    connection.async_receive2([s = std::move(s)](boost::system::error_code ec) mutable {
        if (ec || s->stopped) {
            return;
        }
        s->news = true;
        s->arrived.cancel();
        receive(std::move(s));
    });
}

asio::awaitable<void> bare_notices::subscribe(std::string_view name) {
    redis::request request;
    request.push("SUBSCRIBE", detail::make_key_names({}, name).channel);
    auto exec = state_->connection.get().async_exec(request, redis::ignore, asio::deferred);
    co_await std::move(exec)(asio::use_awaitable);
    co_await wait();  // for the confirmation
}

asio::awaitable<void> bare_notices::wait() {
    while (!state_->news) {
        co_await state_->arrived.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

}  // namespace holdfast::bench
