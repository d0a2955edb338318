#include "shop.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

namespace flash_sale {

namespace {

holdfast::config lock_config(shop_options const& options) {
    auto result = holdfast::parse_url(options.locks);
    result.lease = options.lease;
    result.observer = options.observer;
    return result;
}

}  // namespace

shop::shop(asio::any_io_executor executor, shop_options const& options)
    : executor_{std::move(executor)},
      store_{executor_, options.url} {
    if (options.locked) {
        client_.emplace(executor_, lock_config(options));
    }
}

asio::awaitable<void> shop::ready() {
    co_await store_.look();
    if (client_) {
        co_await client_->ready();
    }
}

asio::awaitable<purchase> shop::buy() {
    if (!client_) {
        holdfast::fencing_token const none;
        co_return co_await sell(none);
    }
    auto const lock = client_->lock(lock_name);
    auto lease = co_await lock.acquire();
    auto const result = co_await sell(lease.token());
    // Whether the lease lasted matters no more: the store has decided about the sale.
    co_await lease.release(asio::as_tuple(asio::deferred));
    co_return result;
}

asio::awaitable<purchase> shop::sell(holdfast::fencing_token token) {
    auto const stock = co_await store_.read_stock(token);
    if (!stock) {
        co_return purchase::refused;
    }
    if (*stock <= 0) {
        co_return purchase::sold_out;
    }
    co_await think();
    auto const name = fmt::format("{}:{}", ::getpid(), ++purchases_);
    auto const recorded = co_await store_.record_sale(*stock - 1, name, token);
    co_return recorded ? purchase::done : purchase::refused;
}

// A real shop would check the payment between read and write.
asio::awaitable<void> shop::think() {
    std::uniform_int_distribution<int> microseconds{1'000, 2'000};
    asio::steady_timer timer{executor_, std::chrono::microseconds{microseconds(random_)}};
    co_await timer.async_wait();
}

asio::awaitable<void> shop::hold() {
    auto const lock = client_.value().lock(lock_name);
    auto lease = co_await lock.acquire();
    holding_ = lease.token().value;
    co_await lease.wait_lost(asio::as_tuple(asio::deferred));
    holding_ = 0;
}

asio::awaitable<std::int64_t> shop::stock() {
    auto const state = co_await store_.look();
    co_return state.stock;
}

boost::json::object shop::stats() const {
    auto const counted = client_ ? client_->stats() : holdfast::stats{};
    std::chrono::duration<double, std::milli> const longest = counted.longest_wait;
    return {
        {"holding", holding_},
        {"lock_waits", counted.waits},
        {"longest_wait_ms", longest.count()},
        {"renewals", counted.renewals},
    };
}

asio::awaitable<void> shop::close() {
    if (client_) {
        co_await client_->shutdown(asio::as_tuple(asio::deferred));
    }
}

}  // namespace flash_sale
