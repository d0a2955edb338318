#ifndef HOLDFAST_PROMETHEUS_CLIENT_TOTALS_HPP
#define HOLDFAST_PROMETHEUS_CLIENT_TOTALS_HPP

#include <holdfast/stats.hpp>
#include <holdfast/stats_source.hpp>

#include <cstddef>
#include <mutex>
#include <vector>

namespace holdfast::detail {

/// Adds the counters up; `longest_wait` is the greatest. Levels, which end in `_now`, stay.
void add_counters(stats& to, stats const& more) noexcept;

/// The statistics of all clients there have been. Of those that are gone only their sum is kept.
///
/// May be used by any number of threads.
class client_totals {
public:
    void add(stats_source const& client);

    struct sums {
        /// Levels are those of the clients that are there.
        stats all;
        std::size_t clients = 0;
    };
    [[nodiscard]] sums read();

    /// How many are kept one by one.
    [[nodiscard]] std::size_t kept();

private:
    void forget_ended() noexcept;

    std::mutex mutex_;
    std::vector<stats_source> there_;
    stats gone_;
    // Clients may come and go without anybody reading: they are looked through now and then.
    std::size_t look_at_ = 16;
};

}  // namespace holdfast::detail

#endif
