// Locks on real servers, for long, while things go wrong: whatever happens is written down and
// checked.
#include "soak/nemesis.hpp"
#include "soak/resource.hpp"
#include "soak/runner.hpp"
#include "soak/worker_process.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace holdfast::soak;

// Where a busy disk cannot hold everybody up; what matters here survives a process, not a machine.
void prefer_memory() {
    constexpr char const* in_memory = "/dev/shm";
    if (::access(in_memory, W_OK) == 0) {
        ::setenv("TMPDIR", in_memory, 0);
    }
}

// What this program does as its own child.
void add_jobs(CLI::App& app) {
    auto const worker = std::make_shared<worker_options>();
    auto* sub = app.add_subcommand("worker")->group("");
    sub->add_option("--server", worker->server)->required();
    sub->add_option("--resource", worker->resource)->required();
    sub->add_option("--history", worker->history)->required();
    sub->add_option("--number", worker->number);
    sub->add_option("--share", worker->shared);
    sub->add_option("--coroutines", worker->coroutines);
    sub->add_option("--threads", worker->threads);
    sub->add_option("--seed", worker->seed);
    sub->add_option("--hand-over", worker->hands_over);
    sub->final_callback([worker] { work(*worker); });

    auto const resource = std::make_shared<resource_options>();
    sub = app.add_subcommand("resource")->group("");
    sub->add_option("--socket", resource->socket)->required();
    sub->add_option("--history", resource->history)->required();
    sub->final_callback([resource] { serve_resource(*resource); });
}

std::string describe(std::vector<fault> const& faults) {
    std::string text = "Faults:\n";
    for (auto const& f : faults) {
        text += fmt::format("  {:<24}{}\n", f.name, f.what);
    }
    return text;
}

std::vector<std::string> names_of(std::vector<fault> const& faults) {
    std::vector<std::string> names;
    for (auto const& f : faults) {
        names.emplace_back(f.name);
    }
    return names;
}

// Both, where there are both.
std::vector<std::string> servers_of(std::string const& wanted) {
    std::vector<std::string> found;
    if (wanted != "valkey") {
        found.emplace_back("redis-server");
    }
    std::string const valkey = HOLDFAST_VALKEY_SERVER;
    if (wanted != "redis") {
        if (std::filesystem::exists(valkey)) {
            found.push_back(valkey);
        } else {
            fmt::print("valkey: skipped, there is no valkey-server here\n");
        }
    }
    return found;
}

// What both kinds of runs are told.
void add_common_options(CLI::App& to, run_options& options) {
    to.add_option("--seed", options.seed, "What the choices are drawn from")->capture_default_str();
    to.add_option("--histories", options.histories, "Where the history of a bad cycle is kept")
        ->type_name("FOLDER");
}

// What runs are told whose cells are all of one kind.
void add_group_options(CLI::App& to, run_options& options, std::string& server) {
    to.add_option("--server", server, "redis or valkey")
        ->capture_default_str()
        ->check(CLI::IsMember({"redis", "valkey"}));
    to.add_option("--processes", options.workers, "Workers")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    to.add_option("--cells", options.cells, "Groups with workers of their own, side by side")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    add_common_options(to, options);
}

// Cells of another kind than the first one, with the faults of that kind. Ends the program if it
// was asked for.
void add_kind(
    CLI::App& app,
    run_options const& chosen,
    std::string const& name,
    std::string const& what,
    std::vector<fault> const& faults
) {
    auto const options = std::make_shared<run_options>(chosen);
    options->cycles = 20;
    options->cells = 1;
    options->two_versions = false;
    auto const server = std::make_shared<std::string>("redis");
    auto* const sub = app.add_subcommand(name, what);
    sub->footer(describe(faults));
    sub->add_option("--cycles", options->cycles, "How many times something goes wrong")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    sub->add_option("--fault", options->fault, "Only this fault; all of them in turn without it")
        ->type_name("NAME")
        ->check(CLI::IsMember(names_of(faults)));
    add_group_options(*sub, *options, *server);
    sub->final_callback([options, server] {
        prefer_memory();
        options->servers = servers_of(*server);
        if (options->servers.empty() || !run(*options)) {
            throw CLI::RuntimeError{1};
        }
    });
}

void add_kinds(CLI::App& app, run_options const& defaults) {
    auto failover = defaults;
    failover.kept_by = deployment::sentinels;
    failover.workers = 4;
    add_kind(
        app,
        failover,
        "failover",
        "The same with three Sentinels, a primary and two replicas, while the primary changes",
        failover_faults()
    );
    auto permits = defaults;
    permits.shared = workload::permits;
    permits.workers = 4;
    add_kind(app, permits, "permits", "Permits of one semaphore", permit_faults());
    auto election = defaults;
    election.shared = workload::leaders;
    election.workers = 5;
    election.coroutines = 2;
    add_kind(app, election, "election", "Leaders of one election", leader_faults());
    auto transfer = defaults;
    transfer.shared = workload::pairs;
    transfer.workers = 4;
    transfer.coroutines = 8;
    add_kind(
        app,
        transfer,
        "transfer",
        "Locks that are held in pairs, and now and then all at once, while workers are killed",
        pair_faults()
    );
    auto quorum = defaults;
    quorum.kept_by = deployment::nodes;
    quorum.shared = workload::quorum;
    quorum.coroutines = 5;
    add_kind(
        app,
        quorum,
        "quorum",
        "Locks on five servers, of which two may fail at a time",
        quorum_faults()
    );
}

// Each kind of failover in turn, with the migrations spread evenly among them.
std::vector<std::string> mix(std::int64_t failovers, std::int64_t migrations) {
    auto kinds = names_of(cluster_faults());
    std::erase(kinds, migration_fault);
    std::vector<std::string> order;
    for (std::int64_t f = 0, m = 0; f + m < failovers + migrations;) {
        if (m * failovers < f * migrations || f == failovers) {
            order.emplace_back(migration_fault);
            ++m;
        } else {
            order.push_back(kinds[static_cast<std::size_t>(f % std::ssize(kinds))]);
            ++f;
        }
    }
    return order;
}

// As `add_kind`.
void add_cluster(CLI::App& app, run_options const& defaults) {
    struct counts {
        std::int64_t failovers = 20;
        std::int64_t migrations = 10;
    };
    auto const options = std::make_shared<run_options>(defaults);
    options->cells = 1;
    options->workers = 4;
    options->kept_by = deployment::cluster;
    options->two_versions = false;
    auto const server = std::make_shared<std::string>("redis");
    auto const wanted = std::make_shared<counts>();
    auto* const sub = app.add_subcommand(
        "cluster",
        "The same with a Redis Cluster of three primaries with a replica each, while primaries "
        "change and slots move"
    );
    sub->footer(describe(cluster_faults()));
    sub->add_option("--failovers", wanted->failovers, "How many times a primary changes")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
    sub->add_option("--migrations", wanted->migrations, "How many times a slot moves")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
    sub->add_option("--fault", options->fault, "Only this fault, as many times as both together")
        ->type_name("NAME")
        ->check(CLI::IsMember(names_of(cluster_faults())));
    add_group_options(*sub, *options, *server);
    sub->final_callback([options, server, wanted] {
        prefer_memory();
        options->faults = mix(wanted->failovers, wanted->migrations);
        options->cycles = std::ssize(options->faults);
        options->servers = servers_of(*server);
        if (options->servers.empty() || !run(*options)) {
            throw CLI::RuntimeError{1};
        }
    });
}

}  // namespace

int main(int argc, char** argv) try {
    run_options options;
    options.histories =
        (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "histories").string();
    int minutes = 0;
    std::string server = "both";
    std::string versions = "both";
    CLI::App app{
        "Lets processes take locks on private servers while things go wrong, and checks what "
        "happened."
    };
    app.footer(describe(all_faults()));
    auto* const cycles =
        app.add_option("--cycles", options.cycles, "How many times something goes wrong")
            ->capture_default_str()
            ->check(CLI::PositiveNumber);
    app.add_option("--minutes", minutes, "How long, instead of how many times")
        ->excludes(cycles)
        ->check(CLI::PositiveNumber);
    app.add_option("--fault", options.fault, "Only this fault; all of them in turn without it")
        ->type_name("NAME")
        ->check(CLI::IsMember(names_of(all_faults())));
    app.add_option("--server", server, "redis, valkey or both")
        ->capture_default_str()
        ->check(CLI::IsMember({"redis", "valkey", "both"}));
    app.add_option("--versions", versions, "one; two: a worker does as 0.1 did; or both by turns")
        ->capture_default_str()
        ->check(CLI::IsMember({"one", "two", "both"}));
    app.add_option("--cells", options.cells, "Servers with workers of their own, side by side")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    add_common_options(app, options);
    add_kinds(app, options);
    add_cluster(app, options);
    add_jobs(app);
    CLI11_PARSE(app, argc, argv);
    if (!app.get_subcommands().empty()) {
        return 0;
    }

    if (minutes > 0) {
        options.time = std::chrono::minutes{minutes};
    }
    prefer_memory();
    options.servers = servers_of(server);
    if (options.servers.empty()) {
        return 1;
    }
    options.one_version = versions != "two";
    options.two_versions = versions != "one";
    options.cells = std::max(options.cells, kinds_of_cells(options));
    return run(options) ? 0 : 1;
} catch (std::exception const& e) {
    fmt::print(stderr, "holdfast_soak: {}\n", e.what());
    return 1;
}
