#ifndef FLASH_SALE_BUYERS_HPP
#define FLASH_SALE_BUYERS_HPP

#include "http_connection.hpp"
#include "sale_floor.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>

namespace flash_sale {

/// Buys until told that the stock is sold out; goes to the next server when one does not answer.
asio::awaitable<void> buyer(std::shared_ptr<sale_floor> floor, std::size_t number);

/// Nothing if the server does not answer.
asio::awaitable<std::optional<lock_stats>> ask_stats(http_connection& server);

asio::awaitable<void> pause_for(std::chrono::milliseconds time);

}  // namespace flash_sale

#endif
