#include "soak/scoreboard.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace holdfast::soak {

namespace {

constexpr std::int64_t enough_bad_cycles = 10;
constexpr std::size_t most_reports = 5;  // of one cycle
constexpr std::chrono::seconds log_interval{10};

constexpr std::ptrdiff_t events_before = 16;
constexpr std::ptrdiff_t events_after = 8;

double seconds(nanos duration) {
    return std::chrono::duration<double>{duration}.count();
}

bool concerns(event const& e, violation const& v) {
    return v.lock < 0 || e.lock < 0 || e.lock == v.lock;
}

void save(std::filesystem::path const& path, cycle const& c, cell::outcome const& result) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream out{path};
    out << fmt::format("# {}: cycle {}, fault {}, seed {}\n", c.server, c.number, c.fault, c.seed);
    for (auto const& v : result.found.violations) {
        out << fmt::format("# {} {}: {}\n", v.at, name_of(v.broken), v.text);
    }
    for (auto const& e : result.history) {
        out << to_line(e) << "\n";
    }
}

}  // namespace

std::string evidence(violation const& of, std::vector<event> const& history) {
    std::vector<event const*> about;
    for (auto const& e : history) {
        if (concerns(e, of)) {
            about.push_back(&e);
        }
    }
    auto const at = std::partition_point(about.begin(), about.end(), [&](event const* e) {
        return e->at < of.at;
    });
    auto const from = at - std::min(events_before, at - about.begin());
    auto const to = at + std::min(events_after, about.end() - at);
    std::string text;
    for (auto const* const e : std::vector<event const*>{from, to}) {
        auto const line = to_line(*e);
        text += fmt::format(
            "    {:+10.3f} ms {}\n",
            static_cast<double>(e->at - of.at) / 1e6,
            line.substr(line.find(' ') + 1)
        );
    }
    return text;
}

scoreboard::scoreboard(std::optional<std::int64_t> cycles, std::filesystem::path histories)
    : cycles_{cycles},
      histories_{std::move(histories)},
      terminal_{::isatty(STDERR_FILENO) == 1} {}

void scoreboard::add(cycle const& c, cell::outcome const& result) {
    std::lock_guard const hold{mutex_};
    for (auto* const r : {&rows_[{c.server, c.fault}], &all_}) {
        ++r->cycles;
        r->counts += result.found.counts;
    }
    growth_ = std::max(growth_, result.growth);
    if (!result.found.violations.empty()) {
        report(c, result);
    }
    show_progress();
}

void scoreboard::add_void(cycle const& c, std::string const& why) {
    std::lock_guard const hold{mutex_};
    ++void_;
    clear_line();
    fmt::print("void: {}, fault {}, cycle {}: {}\n", c.server, c.fault, c.number, why);
    std::fflush(stdout);
}

void scoreboard::add_failure(std::string const& text) {
    std::lock_guard const hold{mutex_};
    ++violations_;
    clear_line();
    fmt::print("failed: {}\n", text);
    std::fflush(stdout);
}

void scoreboard::report(cycle const& c, cell::outcome const& result) {
    auto const& all = result.found.violations;
    violations_ += std::ssize(all);
    ++bad_cycles_;
    auto const path = histories_ / fmt::format("{}-{}-{}-{}", c.server, c.fault, c.seed, c.number);
    save(path, c, result);
    clear_line();
    for (std::size_t i = 0; i < std::min(all.size(), most_reports); ++i) {
        fmt::print(
            "broken: {} ({}, fault {}, cycle {}, seed {}): {}\n{}",
            name_of(all[i].broken),
            c.server,
            c.fault,
            c.number,
            c.seed,
            all[i].text,
            evidence(all[i], result.history)
        );
    }
    if (all.size() > most_reports) {
        fmt::print("and {} more\n", all.size() - most_reports);
    }
    fmt::print("the history of that cycle: {}\n", path.string());
    std::fflush(stdout);
}

void scoreboard::clear_line() const {
    if (terminal_) {
        fmt::print(stderr, "\r\033[K");
        std::fflush(stderr);
    }
}

void scoreboard::show_progress() {
    auto const line = fmt::format(
        "{}{} cycles, {} grants, {} lost leases, {} violations",
        all_.cycles,
        cycles_ ? fmt::format(" of {}", *cycles_) : "",
        all_.counts.grants,
        all_.counts.told_lost,
        violations_
    );
    auto const now = std::chrono::steady_clock::now();
    if (terminal_) {
        fmt::print(stderr, "\r\033[K{}", line);
        std::fflush(stderr);
    } else if (now - shown_ >= log_interval || all_.cycles == cycles_) {
        shown_ = now;
        fmt::print(stderr, "{}\n", line);
    }
}

bool scoreboard::has_violations() const {
    std::lock_guard const hold{mutex_};
    return violations_ > 0;
}

bool scoreboard::has_enough() const {
    std::lock_guard const hold{mutex_};
    return bad_cycles_ >= enough_bad_cycles;
}

// Of servers that take over from one another.
void scoreboard::print_changes() const {
    auto const& c = all_.counts;
    if (c.failovers > 0) {
        fmt::print(
            "{} failovers, which {} waiters waited out: another server had the locks after {:.3f} "
            "s "
            "at the latest, and each worker was granted one {:.3f} s later at the latest\n",
            c.failovers,
            c.waiters_at_failovers,
            seconds(c.slowest_failover),
            seconds(c.slowest_service)
        );
    }
    if (c.migrations > 0) {
        fmt::print(
            "{} migrations, which {} waiters waited out: each worker was granted the lock after "
            "{:.3f} s at the latest\n",
            c.migrations,
            c.waiters_at_migrations,
            seconds(c.slowest_move)
        );
    }
    if (auto const changes = c.failovers + c.migrations; c.redirections + c.late_redirections > 0) {
        fmt::print(
            "{} requests went to a wrong node, {:.1f} at each change, and {} when that was known\n",
            c.redirections,
            static_cast<double>(c.redirections) /
                static_cast<double>(std::max<std::int64_t>(changes, 1)),
            c.late_redirections
        );
    }
}

void scoreboard::print_table() const {
    std::lock_guard const hold{mutex_};
    clear_line();
    constexpr auto format =
        "{:<10} {:<13} {:>6} {:>8} {:>9} {:>9} {:>11} {:>13} {:>15} {:>5} {:>9}\n";
    fmt::print(
        format,
        "server",
        "fault",
        "cycles",
        "grants",
        "handovers",
        "told lost",
        "overlaps",
        "stale tokens",
        "lost updates",
        "left",
        "slowest"
    );
    fmt::print(
        format,
        "",
        "",
        "",
        "",
        "",
        "",
        "(explained)",
        "offered/taken",
        "(without token)",
        "over",
        "recovery"
    );
    auto const print = [&](std::string_view server, std::string_view fault, row const& r) {
        auto const& c = r.counts;
        fmt::print(
            format,
            server,
            fault,
            r.cycles,
            c.grants,
            c.hand_overs,
            c.told_lost,
            fmt::format("{} ({})", c.overlaps, c.explained_overlaps),
            fmt::format("{}/{}", c.stale_offered, c.stale_accepted),
            fmt::format("{} ({})", c.lost_updates, c.lost_without_token),
            c.left_behind,
            fmt::format("{:.3f} s", seconds(c.slowest_recovery))
        );
    };
    for (auto const& [key, r] : rows_) {
        print(key.first, key.second, r);
    }
    print("all", "", all_);
    fmt::print(
        "{} violations; {} cycles could not be carried out and were repeated\n{} losses were told "
        "after the deadline, by processes that could not run\n"
        "a worker's memory grew by {:.1f} MiB after its first cycle, at most\n",
        violations_,
        void_,
        all_.counts.excused,
        static_cast<double>(growth_) / (1024 * 1024)
    );
    if (auto const most = all_.counts.most_permits; most > 0) {
        fmt::print("at most {} permits were taken at a time\n", most);
    }
    if (auto const seen = all_.counts.leaders_seen; seen > 0) {
        fmt::print("observers saw leaders {} times\n", seen);
    }
    print_changes();
    std::fflush(stdout);
}

}  // namespace holdfast::soak
