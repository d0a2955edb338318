#ifndef HOLDFAST_TEST_SOAK_CELL_HPP
#define HOLDFAST_TEST_SOAK_CELL_HPP

#include "soak/cell_options.hpp"
#include "soak/servers.hpp"
#include "soak/worker_handle.hpp"
#include "support/child_process.hpp"
#include "support/history/checker.hpp"
#include "support/history/event.hpp"
#include "support/history/record.hpp"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace holdfast::soak {

/// Servers, their workers, and what they protect.
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
    /// The one that has the locks; of a cluster, one of those that have some.
    test::redis_server& server() { return *servers_->in_use().front(); }
    /// @{
    /// Only of this deployment.
    test::sentinel_group& group() { return dynamic_cast<sentinel_servers&>(*servers_).group; }
    cluster_group& cluster() { return dynamic_cast<cluster_servers&>(*servers_).group; }
    std::deque<test::redis_server>& nodes() {
        return dynamic_cast<quorum_servers&>(*servers_).nodes;
    }
    /// @}
    std::vector<worker_handle>& workers() { return workers_; }
    [[nodiscard]] workload shared() const { return options_.shared; }
    /// The worker whose client this is; null if it is not there any more.
    worker_handle* worker_of(std::string const& client_id);
    void note(event e);
    void note_change(change const& seen);
    /// A worker is dead: another takes its place.
    void replace(worker_handle& dead);

private:
    [[nodiscard]] millis scaled(millis limit) const { return limit * options_.time_scale; }
    /// Lets them go on for a while after a change of the cluster, and notes what was sent to a
    /// wrong node before and after that.
    void watch_redirections(std::map<std::size_t, std::int64_t> const& before);
    void look_for_other_changes(std::vector<std::size_t> const& before);
    void note_redirections(
        std::map<std::size_t, std::int64_t> const& before,
        std::map<std::size_t, std::int64_t> const& after,
        std::string const& when
    );
    void start_worker();
    void look_for_what_is_there();
    void send_to_work();
    void suffer(std::function<void()> const& strike);
    void drain();
    std::optional<levels> await_drained(worker_handle& worker, instant asked);
    /// Without a process: in which all of them could run.
    [[nodiscard]] nanos time_it_had(std::optional<std::int64_t> process, instant since) const;
    /// False if there was something.
    bool look_for_what_is_left();
    void look_for_silence(outcome& of) const;
    std::int64_t measure_growth();
    void collect();

    cell_options options_;
    std::filesystem::path folder_;
    std::unique_ptr<servers> servers_;
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
