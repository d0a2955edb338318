#ifndef FLASH_SALE_HOLDER_KILL_HPP
#define FLASH_SALE_HOLDER_KILL_HPP

#include "processes.hpp"
#include "sale_floor.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace flash_sale {

/// Kills one server while it holds the lock, when `after` items have been sold, and waits until the
/// sale goes on.
boost::asio::awaitable<void> kill_a_holder(
    std::shared_ptr<sale_floor> floor,
    std::shared_ptr<std::vector<server_process>> servers,
    std::string_view redis_url,
    std::uint64_t after
);

}  // namespace flash_sale

#endif
