#ifndef HOLDFAST_TEST_SOAK_CELL_HPP
#define HOLDFAST_TEST_SOAK_CELL_HPP

#include "soak/checker.hpp"
#include "soak/history.hpp"
#include "support/child_process.hpp"
#include "support/redis_server.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::soak {

using millis = std::chrono::milliseconds;

struct cell_options {
    std::string server_program;  // empty: redis-server
    int workers = 3;
    int coroutines = 16;     // in each
    int time_scale = 1;      // all limits times this, where programs run slowly
    std::uint64_t seed = 1;  // what the workers draw from
};

/// What a process takes from the system.
struct footprint {
    std::int64_t descriptors = 0;
    std::int64_t memory = 0;  // resident, in bytes
};

/// What a worker's client still has when everybody is done.
struct levels {
    int waiters = 0;
    int leases = 0;
    int subscriptions = 0;
};

/// One worker, seen from the conductor. Throws `std::runtime_error` when it does not answer.
class worker_process {
public:
    worker_process(cell_options const& options, std::int64_t number, std::filesystem::path folder);

    [[nodiscard]] std::int64_t number() const { return number_; }
    test::child_process& child() { return child_; }

    void await_ready(millis limit) { expect("ready", limit); }
    void go(millis limit);
    void ask_to_drain() { child_.signal(SIGUSR2); }
    /// Nothing when it does not answer in time; it may be asked again.
    std::optional<levels> await_drained(millis limit);
    /// Returns as `child_process::wait`.
    int end(millis limit) {
        child_.signal(SIGTERM);
        return child_.wait(limit);
    }
    std::vector<event> read_history() { return history_.read(); }

    [[nodiscard]] footprint measure() const;
    /// That of its first rest, once it had one.
    std::optional<footprint> at_first{};

private:
    void expect(std::string_view word, millis limit);

    std::int64_t number_;
    history_reader history_;
    test::child_process child_;
};

/// A server, its workers, and what they protect.
///
/// Not thread-safe; each cell may have a thread of its own.
class cell {
public:
    struct outcome {
        findings found;
        std::vector<event> history;
        std::int64_t growth = 0;  // of a worker's memory since its first rest, at most; in bytes
        bool broken = false;      // somebody hangs or has died: the cell is of no use any more
        std::string failure{};    // why the cycle could not be carried out; it is not checked then
    };

    /// Returns when all of it runs.
    explicit cell(cell_options options);
    cell(cell const&) = delete;
    cell& operator=(cell const&) = delete;
    ~cell();

    /// One cycle: everybody works, `strike` does its harm and mends it, everybody comes to an end;
    /// then whatever happened is checked.
    outcome run(
        std::string const& fault,
        std::function<void()> const& strike,
        std::mt19937_64& random
    );

    /// Ends the workers; false, with a text, if one of them does not end as it should.
    std::optional<std::string> end();

    // For those who do the harm.
    test::redis_server& server() { return *server_; }
    std::vector<worker_process>& workers() { return workers_; }
    void note(event e);
    /// A worker is dead: another takes its place.
    void replace(worker_process& dead);

private:
    [[nodiscard]] millis scaled(millis limit) const { return limit * options_.time_scale; }
    void start_worker();
    void look_for_what_is_there();
    void send_to_work();
    void suffer(std::function<void()> const& strike);
    void drain();
    std::optional<levels> await_drained(worker_process& worker, instant asked);
    /// Without a process: in which all of them could run.
    [[nodiscard]] nanos time_it_had(std::optional<std::int64_t> process, instant since) const;
    std::vector<std::string> what_is_left(test::redis_probe& probe);
    /// False if there was something.
    bool look_for_what_is_left();
    std::int64_t measure_growth();
    void collect();

    cell_options options_;
    std::filesystem::path folder_;
    std::unique_ptr<test::redis_server> server_;
    std::optional<test::child_process> resource_;
    history_reader resource_history_;
    std::vector<worker_process> workers_;
    std::int64_t last_worker_ = 0;
    checker checker_;
    std::vector<event> events_;
    bool broken_ = false;
    std::string failure_;
    bool started_ = false;
};

}  // namespace holdfast::soak

#endif
