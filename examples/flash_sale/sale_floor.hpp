#ifndef FLASH_SALE_SALE_FLOOR_HPP
#define FLASH_SALE_SALE_FLOOR_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <vector>

namespace flash_sale {

/// What the servers say about their locks.
struct lock_stats {
    std::uint64_t holding = 0;
    std::uint64_t waits = 0;
    std::uint64_t renewals = 0;
    std::chrono::duration<double> longest_wait{0};
};

/// How the killing of a server went.
struct kill_report {
    std::size_t server = 0;
    lock_stats stats;
    /// From the victim's grant to its death, and from there to the next sale.
    std::chrono::duration<double> held{0};
    std::chrono::duration<double> stood_still{0};
};

/// How the killing of the locks' primary went.
struct failover_report {
    /// The longest time without a sale since then.
    std::chrono::duration<double> stood_still{0};
};

/// What the buyers and the others of one sale share. They all run on one thread.
struct sale_floor {
    std::vector<std::uint16_t> ports;
    std::uint64_t bought = 0;
    std::uint64_t unanswered = 0;
    std::uint64_t turned_away = 0;
    /// Buyers wait while so many have been sold.
    std::uint64_t wait_at = std::numeric_limits<std::uint64_t>::max();
    /// Ends the sale early.
    bool closed = false;
    /// Coroutines that still run.
    std::size_t busy = 0;
    std::exception_ptr failure;
    std::optional<kill_report> killed;
    std::optional<failover_report> failed_over;
};

}  // namespace flash_sale

#endif
