#ifndef HOLDFAST_BENCH_SUPPORT_CONTEST_HPP
#define HOLDFAST_BENCH_SUPPORT_CONTEST_HPP

#include "support/environment.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

/// Processes of one kind (see `jobs/contend.cpp`).
struct side {
    std::string kind = "ours";
    int processes = 2;
    int coroutines = 1;  // in each process
    int hold_us = 1000;
    int pause_us = 0;
    /// Of the server on this machine; zero: by its socket.
    std::uint16_t port = 0;
};

/// Several processes that want the same key, over and over.
struct contest {
    std::vector<side> sides{};
    int duration_ms = 1000;

    [[nodiscard]] int processes() const noexcept;
};

/// One grant; instants are in ns of CLOCK_MONOTONIC.
struct turn {
    int side = 0;
    int process = 0;  // counted over all sides
    std::uint64_t token = 0;
    std::int64_t called = 0;
    std::int64_t granted = 0;
    std::int64_t releasing = 0;
};

struct contest_record {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::vector<turn> turns;  // in the order of the grants
    /// What clients sent to the server while all of them competed, for each grant of that time.
    double commands_a_grant = 0.0;

    [[nodiscard]] double milliseconds_a_grant() const noexcept;
    /// Between a call and its grant.
    [[nodiscard]] double longest_wait_ms() const noexcept;
    [[nodiscard]] double longest_wait_ms(int side) const noexcept;
    /// That a process went without a grant, between start and end.
    [[nodiscard]] double longest_drought_ms(int processes) const;
    /// The share of the grants that went to the process which had just released, of those for
    /// which another process was waiting.
    [[nodiscard]] double percent_taken_back() const;
    [[nodiscard]] double share_of(int side) const noexcept;
};

/// Runs the processes to their end. Throws `std::runtime_error` if two had the lock at a time, or a
/// token did not grow.
[[nodiscard]] contest_record hold_contest(environment& env, contest const& rules);

}  // namespace holdfast::bench

#endif
