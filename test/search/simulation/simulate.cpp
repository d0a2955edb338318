// Searches for schedules that break a promise: `--schedules N`, `--minutes M`; `--seed S` runs one
// of them again, `--trace` shows it. `--deployment` says what the clients talk to.

#include "simulation/schedule.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace {

using namespace holdfast::sim;
using clock_type = std::chrono::steady_clock;

struct totals {
    std::uint64_t schedules = 0;
    std::uint64_t steps = 0;
    std::uint64_t grants = 0;
    std::uint64_t faults = 0;
    std::uint64_t hash = 0;
    sometimes_counts reached{};
    std::map<std::uint64_t, std::string> violations;

    void add(std::uint64_t seed, outcome const& one) {
        ++schedules;
        steps += one.steps;
        grants += one.grants;
        faults += one.faults;
        hash += one.hash;  // a sum: the order of the threads does not matter
        for (std::size_t i = 0; i < reached.size(); ++i) {
            reached[i] += one.reached[i] > 0 ? 1 : 0;
        }
        if (!one.violation.empty()) {
            violations.emplace(seed, one.violation);
        }
    }
};

class search {
public:
    search(
        deployment at,
        std::uint64_t first,
        std::uint64_t count,
        std::size_t most_violations,
        bool twice
    )
        : at_{at},
          next_{first},
          end_{first + count},
          most_violations_{most_violations},
          twice_{twice} {}

    void run(std::size_t threads, std::optional<std::chrono::minutes> limit) {
        started_ = clock_type::now();
        if (limit) {
            stop_at_ = started_ + *limit;
        }
        std::vector<std::jthread> pool;
        for (std::size_t i = 0; i < threads; ++i) {
            pool.emplace_back([this] { work(); });
        }
        pool.clear();
        show(true);
    }

    [[nodiscard]] totals const& result() const noexcept { return totals_; }
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(clock_type::now() - started_).count();
    }

private:
    void work() {
        for (;;) {
            auto const seed = next_.fetch_add(1);
            if (seed >= end_ || stopped_ || clock_type::now() >= stop_at_) {
                return;
            }
            auto one = run_schedule(seed, at_);
            if (twice_ && one.hash != run_schedule(seed, at_).hash) {
                one.violation = "the same seed did two different things";
            }
            std::lock_guard const guard{mutex_};
            totals_.add(seed, one);
            if (!one.violation.empty()) {
                tell(seed, one.violation);
            }
            stopped_ = stopped_ || totals_.violations.size() >= most_violations_;
            show(false);
        }
    }

    // At once: a long search may be given up.
    static void tell(std::uint64_t seed, std::string const& violation) {
        fmt::print(
            stderr,
            "{}VIOLATION, seed {}: {}\n",
            is_terminal() ? "\n" : "",
            seed,
            violation
        );
    }

    static bool is_terminal() { return isatty(STDERR_FILENO) != 0; }

    // A line that is written over on a terminal, and comes now and then elsewhere.
    void show(bool last) {
        bool const terminal = is_terminal();
        auto const now = clock_type::now();
        if (!last && now < next_line_) {
            return;
        }
        next_line_ = now + std::chrono::milliseconds{terminal ? 500 : 30'000};
        fmt::print(
            stderr,
            "{}{} schedules, {} grants, {} faults, {} violations, {:.0f} a second{}",
            terminal ? "\r" : "",
            totals_.schedules,
            totals_.grants,
            totals_.faults,
            totals_.violations.size(),
            static_cast<double>(totals_.schedules) / std::max(seconds(), 0.001),
            terminal && !last ? "" : "\n"
        );
    }

    deployment at_;
    std::atomic<std::uint64_t> next_;
    std::uint64_t end_;
    std::size_t most_violations_;
    bool twice_;
    std::atomic<bool> stopped_{false};
    clock_type::time_point started_;
    clock_type::time_point stop_at_ = clock_type::time_point::max();
    clock_type::time_point next_line_{};
    std::mutex mutex_;
    totals totals_;
};

int replay(std::uint64_t seed, deployment at, bool traced) {
    auto const first = run_schedule(seed, at, traced);
    auto const second = run_schedule(seed, at);
    fmt::print(
        "seed {}: {} steps, {} grants, {} faults, hash {:016x}, again {:016x}\n",
        seed,
        first.steps,
        first.grants,
        first.faults,
        first.hash,
        second.hash
    );
    if (!first.violation.empty()) {
        fmt::print("VIOLATION: {}\n", first.violation);
    }
    if (first.hash != second.hash) {
        fmt::print("the same seed did two different things\n");
    }
    return first.violation.empty() && first.hash == second.hash ? 0 : 1;
}

int report(search const& done, deployment at, std::uint64_t enough) {
    auto const& all = done.result();
    std::size_t missed = 0;
    fmt::print("\n{:>10}  sometimes\n", "schedules");
    std::size_t possible = 0;
    for (std::size_t i = 0; i < all.reached.size(); ++i) {
        if (can_reach(at, static_cast<sometimes>(i))) {
            fmt::print("{:>10}  {}\n", all.reached[i], sometimes_texts[i]);
            ++possible;
            missed += all.reached[i] == 0 ? 1 : 0;
        }
    }
    for (auto const& [seed, what] : all.violations) {
        fmt::print("\nVIOLATION, seed {}: {}\n", seed, what);
    }
    fmt::print(
        "\n{} schedules in {:.1f} s, {} steps, {} grants, {} faults, hash {:016x}\n{} violations, "
        "{} of {} rare states reached\n",
        all.schedules,
        done.seconds(),
        all.steps,
        all.grants,
        all.faults,
        all.hash,
        all.violations.size(),
        possible - missed,
        possible
    );
    bool const incomplete = missed > 0 && all.schedules >= enough;
    return all.violations.empty() && !incomplete ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Searches for schedules that break a promise of the library."};
    std::uint64_t schedules = 100'000;
    auto at = deployment::single;
    std::map<std::string, deployment> const deployments{
        {"single", deployment::single},
        {"failover", deployment::failover},
        {"quorum", deployment::quorum},
        {"cluster", deployment::cluster},
    };
    std::optional<std::uint64_t> seed;
    std::optional<long> minutes;
    std::uint64_t first = 1;
    std::size_t violations = 5;
    std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
    bool traced = false;
    bool twice = false;
    app.add_option("--deployment", at, "single (the default), failover, quorum or cluster")
        ->transform(CLI::CheckedTransformer(deployments));
    app.add_option("--schedules", schedules, "how many");
    app.add_option("--minutes", minutes, "as many as there is time for");
    app.add_option("--first", first, "the seed of the first");
    app.add_option("--seed", seed, "runs this one, twice");
    app.add_flag("--trace", traced, "with --seed: shows what happens");
    app.add_flag("--twice", twice, "runs each of them twice, and compares");
    app.add_option("--violations", violations, "how many to find before it stops");
    app.add_option("--threads", threads, "how many to use");
    CLI11_PARSE(app, argc, argv);

    if (seed) {
        return replay(*seed, at, traced);
    }
    auto const count = minutes ? std::numeric_limits<std::uint64_t>::max() / 2 : schedules;
    search all{at, first, count, violations, twice};
    all.run(threads, minutes ? std::optional{std::chrono::minutes{*minutes}} : std::nullopt);
    return report(all, at, 50'000);
}
