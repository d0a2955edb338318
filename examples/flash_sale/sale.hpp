#ifndef FLASH_SALE_SALE_HPP
#define FLASH_SALE_SALE_HPP

#include "sale_floor.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flash_sale {

struct sale_options {
    std::int64_t items = 500;
    std::size_t buyers = 64;
    std::size_t servers = 4;
    std::uint16_t metrics_port = 0;
    /// Sentinels or a cluster on this machine; empty: the locks are on the server of the stock.
    std::string locks;
};

struct sale_result {
    std::int64_t items = 0;
    std::int64_t sold = 0;
    std::int64_t refused = 0;
    std::uint64_t unanswered = 0;
    double per_second = 0;
    lock_stats locks;
    std::optional<kill_report> killed;
    std::optional<failover_report> failed_over;

    [[nodiscard]] std::int64_t oversold() const { return sold > items ? sold - items : 0; }
};

/// Holds the sale once. With the lock, one of the servers is killed while it holds it; or, where
/// the locks have servers of their own, their primary.
boost::asio::awaitable<sale_result> hold_sale(
    sale_options const& options,
    std::string_view redis_url,
    bool locked
);

}  // namespace flash_sale

#endif
