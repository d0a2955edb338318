#include "soak/runner.hpp"

#include "soak/cell.hpp"
#include "soak/nemesis.hpp"
#include "soak/scoreboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace holdfast::soak {

namespace {

#ifdef HOLDFAST_TEST_SANITIZER
constexpr int time_scale = 3;
#else
constexpr int time_scale = 1;
#endif

constexpr int most_attempts = 3;

std::vector<fault> const& faults_of(run_options const& options) {
    switch (options.kept_by) {
        case deployment::sentinels: return failover_faults();
        case deployment::cluster: return cluster_faults();
        case deployment::nodes: return quorum_faults();
        case deployment::single: break;
    }
    switch (options.shared) {
        case workload::permits: return permit_faults();
        case workload::leaders: return leader_faults();
        case workload::pairs: return pair_faults();
        case workload::locks:
        case workload::quorum: break;
    }
    return all_faults();
}

fault const& find_fault(run_options const& options, std::string const& name) {
    auto const& all = faults_of(options);
    auto const found =
        std::find_if(all.begin(), all.end(), [&](fault const& f) { return f.name == name; });
    if (found == all.end()) {
        throw std::invalid_argument{"no fault " + name};
    }
    return *found;
}

// "redis" or "valkey".
std::string short_name(std::string const& program) {
    auto const name = std::filesystem::path{program}.filename().string();
    return name.substr(0, name.find('-'));
}

bool has_two_versions(run_options const& options, int number) {
    bool const second = number / std::ssize(options.servers) % 2 == 1;
    return options.two_versions && (second || !options.one_version);
}

/// Runs the cycles of one cell, on a thread of its own.
class shift {
public:
    shift(run_options const& options, int number, scoreboard& board)
        : options_{options},
          number_{number},
          board_{board},
          program_{options.servers.at(static_cast<std::size_t>(number) % options.servers.size())},
          two_versions_{has_two_versions(options, number)},
          end_{std::chrono::steady_clock::now() + options.time.value_or(std::chrono::minutes{0})} {}

    void run() {
        try {
            for (std::int64_t turn = 0; goes_on(turn); ++turn) {
                run_cycle(turn);
            }
            end_cell();
        } catch (std::exception const& e) {
            board_.add_failure(fmt::format("cell {} on {}: {}", number_, program_, e.what()));
        }
    }

private:
    [[nodiscard]] std::int64_t cycle_number(std::int64_t turn) const {
        return turn * options_.cells + number_;
    }

    [[nodiscard]] bool goes_on(std::int64_t turn) const {
        if (board_.has_enough()) {
            return false;
        }
        return options_.time ? std::chrono::steady_clock::now() < end_
                             : cycle_number(turn) < options_.cycles;
    }

    // Each cell begins somewhere else, so that a short run has them all.
    [[nodiscard]] fault const& next_fault(std::int64_t turn) const {
        if (!options_.fault.empty()) {
            return find_fault(options_, options_.fault);
        }
        auto const& all = faults_of(options_);
        auto const& chosen = options_.faults;
        auto const count = chosen.empty() ? std::ssize(all) : std::ssize(chosen);
        auto const a_cell = (count + options_.cells - 1) / options_.cells;
        auto const next = static_cast<std::size_t>((number_ * a_cell + turn) % count);
        return chosen.empty() ? all[next] : find_fault(options_, chosen[next]);
    }

    void run_cycle(std::int64_t turn) {
        for (int attempt = 1; !carry_out_or_void(turn); ++attempt) {
            if (attempt == most_attempts) {
                throw std::runtime_error{"gave up"};
            }
        }
    }

    // Servers that do not start, or do not find together, say nothing about the locks.
    bool carry_out_or_void(std::int64_t turn) {
        try {
            return carry_out(turn);
        } catch (unreadable const&) {
            throw;
        } catch (std::exception const& e) {
            cell_.reset();
            board_.add_void(describe(turn), e.what());
            return false;
        }
    }

    [[nodiscard]] cycle describe(std::int64_t turn) const {
        return {
            .number = cycle_number(turn),
            .fault = std::string{next_fault(turn).name},
            .server = short_name(program_) + (two_versions_ ? "+0.1" : ""),
            .seed = options_.seed
        };
    }

    // False if that was not possible.
    bool carry_out(std::int64_t turn) {
        if (!cell_) {
            cell_options chosen;
            chosen.server_program = program_;
            chosen.kept_by = options_.kept_by;
            chosen.shared = options_.shared;
            chosen.workers = options_.workers;
            chosen.coroutines = options_.coroutines;
            chosen.two_versions = two_versions_;
            chosen.time_scale = time_scale;
            chosen.seed = options_.seed + static_cast<std::uint64_t>(number_) * 1'000'003;
            cell_ = std::make_unique<cell>(chosen);
        }
        auto const& bad = next_fault(turn);
        auto const number = cycle_number(turn);
        std::seed_seq mixed{options_.seed, static_cast<std::uint64_t>(number)};
        std::mt19937_64 random{mixed};
        auto const result =
            cell_->run(std::string{bad.name}, [&] { bad.strike(*cell_, random); }, random);
        auto const c = describe(turn);
        if (result.broken) {
            cell_.reset();
        }
        if (!result.failure.empty()) {
            board_.add_void(c, result.failure);
            return false;
        }
        board_.add(c, result);
        return true;
    }

    void end_cell() {
        if (cell_) {
            if (auto const failure = cell_->end()) {
                board_.add_failure(*failure);
            }
        }
    }

    run_options const& options_;
    int number_;
    scoreboard& board_;
    std::string program_;
    bool two_versions_;
    std::chrono::steady_clock::time_point end_;
    std::unique_ptr<cell> cell_;
};

}  // namespace

int kinds_of_cells(run_options const& options) {
    auto const servers = static_cast<int>(options.servers.size());
    return servers * (options.one_version && options.two_versions ? 2 : 1);
}

bool run(run_options const& options) {
    if (!options.fault.empty()) {
        find_fault(options, options.fault);
    }
    fmt::print(stderr, "{} cells, seed {}\n", options.cells, options.seed);
    scoreboard board{
        options.time ? std::nullopt : std::optional{options.cycles},
        options.histories
    };
    {
        std::vector<std::unique_ptr<shift>> shifts;
        std::vector<std::jthread> threads;
        for (int i = 0; i < options.cells; ++i) {
            shifts.push_back(std::make_unique<shift>(options, i, board));
            threads.emplace_back([s = shifts.back().get()] { s->run(); });
        }
    }
    board.print_table();
    return !board.has_violations();
}

}  // namespace holdfast::soak
