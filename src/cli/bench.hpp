#ifndef HOLDFAST_CLI_BENCH_HPP
#define HOLDFAST_CLI_BENCH_HPP

#include "cli/context.hpp"
#include "cli/options.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <vector>

namespace holdfast::cli {

/// What was measured: how long each acquisition with its release took.
struct bench_figures {
    std::size_t pairs = 0;
    double pairs_per_second = 0.0;
    std::chrono::nanoseconds median{0};
    std::chrono::nanoseconds p99{0};
    std::chrono::nanoseconds longest{0};
};

/// All zero if nothing was measured.
[[nodiscard]] bench_figures figures_of(
    std::vector<std::chrono::nanoseconds> times,
    std::chrono::nanoseconds in
);

/// `holdfast bench`: tasks acquire and release locks that nobody else uses. Returns the exit code.
[[nodiscard]] boost::asio::awaitable<int> bench(context const& on, bench_options const& options);

}  // namespace holdfast::cli

#endif
