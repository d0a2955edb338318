#ifndef FLASH_SALE_SHOP_HPP
#define FLASH_SALE_SHOP_HPP

#include "store.hpp"

#include <holdfast/client.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>

namespace flash_sale {

struct shop_options {
    std::string url;
    /// The servers of the locks.
    std::string locks;
    bool locked = true;
    std::chrono::milliseconds lease{2'000};
    std::shared_ptr<holdfast::observer> observer;
};

enum class purchase { done, sold_out, refused };

/// Sells from the store, with the lock or without it.
class shop {
public:
    shop(asio::any_io_executor executor, shop_options const& options);

    asio::awaitable<void> ready();

    asio::awaitable<purchase> buy();

    /// Takes the lock and never gives it back: what the demo kills.
    asio::awaitable<void> hold();

    asio::awaitable<std::int64_t> stock();

    [[nodiscard]] boost::json::object stats() const;

    asio::awaitable<void> close();

private:
    asio::awaitable<purchase> sell(holdfast::fencing_token token);
    asio::awaitable<void> think();

    asio::any_io_executor executor_;
    store store_;
    std::optional<holdfast::client> client_;
    std::uint64_t purchases_ = 0;
    std::uint64_t holding_ = 0;
    std::minstd_rand random_{std::random_device{}()};
};

}  // namespace flash_sale

#endif
