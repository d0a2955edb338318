#include "cli/command_line.hpp"

#include "cli/duration.hpp"

#include <holdfast/version.hpp>

#include <CLI/CLI.hpp>

#include <map>
#include <string>

namespace holdfast::cli {

namespace {

constexpr char const* duration_type = "DURATION";
constexpr char const* kinds =
    "auto|lock|fair_lock|read_write_lock|semaphore|latch|counting_semaphore";
constexpr char const* colours = "auto|always|never";

template <class Target>
CLI::Option* add_duration(
    CLI::App& to,
    std::string const& name,
    Target& target,
    std::string const& description
) {
    auto const read = [&target, name](std::string const& text) {
        auto const time = parse_duration(text);
        if (!time) {
            throw CLI::ValidationError{name, "'" + text + "' is no duration such as 10s or 1m30s"};
        }
        target = *time;
    };
    return to.add_option_function<std::string>(name, read, description)->type_name(duration_type);
}

// The type's name says which values there are, for the help.
template <class T>
CLI::Option* add_choice(
    CLI::App& to,
    std::string const& name,
    T& target,
    std::map<std::string, T> const& values,
    char const* type,
    std::string const& description
) {
    return to.add_option(name, target, description)
        ->transform(CLI::CheckedTransformer(values).description(""))
        ->type_name(type);
}

void add_kind(CLI::App& to, lock_kind& target) {
    static std::map<std::string, lock_kind> const values{
        {"auto", lock_kind::automatic},
        {"lock", lock_kind::lock},
        {"fair_lock", lock_kind::fair_lock},
        {"read_write_lock", lock_kind::read_write_lock},
        {"semaphore", lock_kind::semaphore},
        {"latch", lock_kind::latch},
        {"counting_semaphore", lock_kind::counting_semaphore},
    };
    add_choice(to, "--kind", target, values, kinds, "What the name stands for; auto looks");
}

void add_name(CLI::App& to, std::string& target) {
    to.add_option("NAME", target, "The name of the lock")->required();
}

void define_globals(CLI::App& app, global_options& to) {
    static std::map<std::string, colour_mode> const when{
        {"auto", colour_mode::automatic},
        {"always", colour_mode::always},
        {"never", colour_mode::never},
    };
    app.add_option("-u,--url", to.url, "Where the server is (default: $HOLDFAST_URL)")
        ->type_name("URL");
    app.add_option("--key-prefix", to.key_prefix, "Put before every name")->type_name("TEXT");
    app.add_flag("--json", to.json, "Results as JSON, one value a line");
    add_choice(app, "--color", to.colour, when, colours, "When output has colours");
    app.add_flag("-v,--verbose", to.verbose, "Tell what happens to the connections");
}

void define_run(CLI::App& app, run_options& to) {
    auto& run = *app.add_subcommand("run", "Run a command while holding a lock");
    add_name(run, to.name);
    run.add_option("CMD", to.command, "The command, behind --")->required()->type_name("");
    add_duration(run, "--lease", to.lease, "How long the lock outlives this program (30s)");
    auto* const wait = add_duration(run, "--wait", to.wait, "Wait no longer for another holder");
    run.add_flag("-n,--no-wait", to.no_wait, "Do not wait for another holder")->excludes(wait);
    auto* const shared = run.add_flag("--shared", to.shared, "Hold a read/write lock for reading");
    auto* const exclusive =
        run.add_flag("--exclusive", to.exclusive, "Hold a read/write lock for writing");
    auto* const fair = run.add_flag("--fair", to.fair, "Hold a lock that is granted in order");
    auto* const permits = run.add_option("--permits", to.permits, "Hold so many permits");
    permits->type_name("N")->check(CLI::Range(1, 1000).description(""));
    shared->excludes(exclusive)->excludes(fair)->excludes(permits);
    exclusive->excludes(fair)->excludes(permits);
    fair->excludes(permits);
    run.add_option("--limit", to.limit, "Say how many permits there are")
        ->type_name("N")
        ->check(CLI::Range(1, 2'147'483'647).description(""))
        ->needs(permits);
    add_duration(run, "--max-hold", to.max_hold, "End the command after this time");
    add_duration(run, "--kill-after", to.kill_after, "The time between TERM and KILL");
    run.add_flag("--leave-daemons", to.leave_daemons, "Let daemons of the command live on");
    run.add_flag("-q,--quiet", to.quiet, "No message about a lock that is held");
}

void define_others(CLI::App& app, command_line& to) {
    auto& inspect = *app.add_subcommand("inspect", "Show who holds a lock");
    add_name(inspect, to.inspect.name);
    add_kind(inspect, to.inspect.kind);

    auto& list = *app.add_subcommand("list", "List the locks, who holds them and who waits");
    list.add_option("PATTERN", to.list_pattern, "Of the names, such as 'stock:*'");

    auto& release = *app.add_subcommand("force-release", "Take a lock from its holder");
    add_name(release, to.force_release.name);
    add_kind(release, to.force_release.kind);

    auto& doctor =
        *app.add_subcommand("doctor", "Examine the servers, and what locks need of them");
    doctor.add_flag("-q,--quiet", to.doctor.quiet, "Leave out what is well");
}

}  // namespace

std::shared_ptr<CLI::App> define(command_line& into) {
    auto app = std::make_shared<CLI::App>("Distributed locks on Redis and Valkey", "holdfast");
    app->set_version_flag("--version", "holdfast " HOLDFAST_VERSION_STRING);
    app->set_help_flag("-h,--help", "Print this help");
    app->get_formatter()->column_width(28);
    app->footer("The exit codes are in the manual page, holdfast(1).");
    // Options for all commands may stand behind them, too.
    app->fallthrough();
    app->require_subcommand(1);
    define_globals(*app, into.global);
    define_run(*app, into.run);
    define_others(*app, into);
    return app;
}

}  // namespace holdfast::cli
