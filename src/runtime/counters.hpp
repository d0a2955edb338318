#ifndef HOLDFAST_RUNTIME_COUNTERS_HPP
#define HOLDFAST_RUNTIME_COUNTERS_HPP

#include <holdfast/lease_state.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/stats.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace holdfast::detail {

/// One number of `stats`. Counting needs no order among threads, only that nothing is lost.
class counter {
public:
    void add(std::uint64_t n = 1) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
    void subtract(std::uint64_t n = 1) noexcept { value_.fetch_sub(n, std::memory_order_relaxed); }
    void raise_to(std::uint64_t n) noexcept {
        auto seen = value_.load(std::memory_order_relaxed);
        while (seen < n && !value_.compare_exchange_weak(seen, n, std::memory_order_relaxed)) {
        }
    }
    [[nodiscard]] std::uint64_t get() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint64_t> value_{0};
};

struct counters {
    counter attempts, grants, refusals, waits, re_entries, hand_overs, local_hand_overs,
        direct_hand_overs, notified_hand_overs, expired_hand_overs, claims_passed_on, claims_lost,
        claims_confirmed, longest_wait_ns, total_wait_ns, total_hold_ns, renewals, failed_renewals,
        releases, withdrawals, reconnects, notifications, refused_notifications, commands,
        waiters_now, leases_now, connections_now, subscriptions_now;
    std::array<counter, 9> losses;

    void lost(loss_reason reason) noexcept { losses[static_cast<std::size_t>(reason)].add(); }
    /// An acquisition that had waited was granted.
    void handed_over(grant_kind how) noexcept;
    [[nodiscard]] stats snapshot() const noexcept;
};

}  // namespace holdfast::detail

#endif
