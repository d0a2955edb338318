#include "jobs/jobs.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace holdfast::bench {

namespace {

template <class Options>
CLI::App* add_job(
    CLI::App& app,
    char const* name,
    std::shared_ptr<Options> const& options,
    void (*job)(Options const&)
) {
    auto* const sub = app.add_subcommand(name)->group("");
    sub->add_option("--socket", options->socket)->required();
    sub->add_option("--name", options->name)->required();
    sub->final_callback([options, job] { job(*options); });
    return sub;
}

}  // namespace

void add_jobs(CLI::App& app) {
    auto const contest = std::make_shared<contend_options>();
    auto* sub = add_job(app, "contend", contest, contend);
    sub->add_option("--kind", contest->kind)
        ->check(CLI::IsMember({"ours", "bare", "first_version"}));
    sub->add_option("--coroutines", contest->coroutines);
    sub->add_option("--hold-us", contest->hold_us);
    sub->add_option("--pause-us", contest->pause_us);
    sub->add_option("--port", contest->port);
    sub->add_option("--start-at", contest->start_at);
    sub->add_option("--duration-ms", contest->duration_ms);

    auto const held = std::make_shared<hold_options>();
    sub = add_job(app, "hold", held, hold);
    sub->add_option("--keys", held->keys);
    sub->add_option("--lease-ms", held->lease_ms);
    sub->add_flag("--learned", held->learned);
    sub->add_option("--brief-holds", held->brief_holds);

    auto const kept = std::make_shared<keep_options>();
    sub = add_job(app, "keep", kept, keep);
    sub->add_flag("--bare", kept->bare);
    sub->add_flag("--strands", kept->strands);
    sub->add_option("--leases", kept->leases);
    sub->add_option("--lease-ms", kept->lease_ms);
    sub->add_option("--window-ms", kept->window_ms);

    auto const repeated = std::make_shared<pairs_options>();
    sub = add_job(app, "pairs", repeated, pairs);
    sub->add_flag("--bare", repeated->bare);
    sub->add_option("--pairs", repeated->pairs);

    auto const passed = std::make_shared<pass_options>();
    sub = add_job(app, "pass", passed, pass);
    sub->add_option("--waiters", passed->waiters);
}

}  // namespace holdfast::bench
