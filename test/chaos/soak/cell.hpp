#ifndef HOLDFAST_TEST_SOAK_CELL_HPP
#define HOLDFAST_TEST_SOAK_CELL_HPP

#include "soak/cell_options.hpp"
#include "soak/checker.hpp"
#include "soak/history.hpp"
#include "soak/worker_handle.hpp"
#include "support/child_process.hpp"
#include "support/redis_server.hpp"
#include "support/sentinel_group.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace holdfast::soak {

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
    /// The primary, where there are several.
    test::redis_server& server() { return group_ ? group_->primary_server() : *server_; }
    /// Only with Sentinels.
    test::sentinel_group& group() { return *group_; }
    std::vector<worker_handle>& workers() { return workers_; }
    void note(event e);
    /// A worker is dead: another takes its place.
    void replace(worker_handle& dead);

private:
    [[nodiscard]] millis scaled(millis limit) const { return limit * options_.time_scale; }
    void start_servers();
    /// What a failover has left behind: servers that are down, or have not got all data yet.
    void mend();
    void start_worker();
    void look_for_what_is_there();
    void send_to_work();
    void suffer(std::function<void()> const& strike);
    void drain();
    std::optional<levels> await_drained(worker_handle& worker, instant asked);
    /// Without a process: in which all of them could run.
    [[nodiscard]] nanos time_it_had(std::optional<std::int64_t> process, instant since) const;
    [[nodiscard]] bool is_nobodys_place(test::redis_probe& probe, std::string const& key) const;
    std::vector<std::string> what_is_left(test::redis_probe& probe);
    /// False if there was something.
    bool look_for_what_is_left();
    std::int64_t measure_growth();
    void collect();

    cell_options options_;
    std::filesystem::path folder_;
    std::unique_ptr<test::redis_server> server_;
    std::unique_ptr<test::sentinel_group> group_;
    std::optional<test::child_process> resource_;
    history_reader resource_history_;
    std::vector<worker_handle> workers_;
    std::int64_t last_worker_ = 0;
    instant place_left_ = 0;
    checker checker_;
    std::vector<event> events_;
    bool broken_ = false;
    std::string failure_;
    bool started_ = false;
};

}  // namespace holdfast::soak

#endif
