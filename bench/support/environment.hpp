#ifndef HOLDFAST_BENCH_SUPPORT_ENVIRONMENT_HPP
#define HOLDFAST_BENCH_SUPPORT_ENVIRONMENT_HPP

#include "support/child_process.hpp"
#include "support/redis_server.hpp"

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

/// What every question needs: a private server, how much to measure, and a place for the progress.
class environment {
public:
    /// Starts the server and loads our scripts there, so that no side pays for that.
    environment(bool quick, int fairness_seconds);

    [[nodiscard]] bool quick() const noexcept { return quick_; }
    /// A question may have fewer than the usual number.
    [[nodiscard]] int rounds(int full = 5) const noexcept {
        return quick_ ? std::min(full, 2) : full;
    }
    /// For ratios of two measurements that take a moment each. Within a second a machine that is
    /// shared may become half as fast: two that follow each other at once are alike, and of many
    /// such ratios the median is near the true one.
    [[nodiscard]] int short_rounds() const noexcept { return rounds(31); }
    /// How long clients of two kinds compete.
    [[nodiscard]] int fairness_seconds() const noexcept { return fairness_seconds_; }

    /// `full`, or `few` in a quick run.
    template <class T>
    [[nodiscard]] T amount(T full, T few) const noexcept {
        return quick_ ? few : full;
    }

    [[nodiscard]] std::string socket() const { return server_.unix_socket(); }
    [[nodiscard]] std::string url() const { return server_.url(); }
    [[nodiscard]] test::redis_probe& probe() noexcept { return probe_; }

    /// How often a client sent one of these commands.
    [[nodiscard]] std::int64_t calls(std::vector<std::string_view> const& commands);
    /// The server's time in scripts, in microseconds.
    [[nodiscard]] std::int64_t script_microseconds();

    [[nodiscard]] pid_t server_pid() const { return server_.pid(); }

    /// This program once more, as a child that does one job (see `jobs.hpp`), and may be run
    /// `under` another program with its options.
    [[nodiscard]] test::child_process start_child(
        std::vector<std::string> const& arguments,
        std::vector<std::string> under = {}
    ) const;

    void begin(std::string_view question, std::size_t number, std::size_t of);
    void progress(int round, int of) const;
    void progress(int round) const { progress(round, rounds()); }
    /// Clears the line for what follows.
    void end() const;

private:
    test::redis_server server_;
    test::redis_probe probe_;
    bool quick_;
    int fairness_seconds_;
    bool terminal_;
    std::string current_;
};

}  // namespace holdfast::bench

#endif
