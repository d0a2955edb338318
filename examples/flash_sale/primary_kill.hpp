#ifndef FLASH_SALE_PRIMARY_KILL_HPP
#define FLASH_SALE_PRIMARY_KILL_HPP

#include "sale_floor.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <string_view>

namespace flash_sale {

/// Kills the server that has the lock, when half of the items have been sold, and waits until the
/// others have been sold too, under locks of the replica that was promoted.
///
/// `locks_url` names Sentinels or nodes of a cluster on this machine.
boost::asio::awaitable<void> kill_the_primary(
    std::shared_ptr<sale_floor> floor,
    std::string_view redis_url,
    std::string_view locks_url,
    std::int64_t items
);

}  // namespace flash_sale

#endif
