#include "cli/doctor.hpp"

#include "cli/doctor_checks.hpp"
#include "cli/doctor_probes.hpp"
#include "cli/doctor_report.hpp"
#include "cli/hand_over_trial.hpp"
#include "cli/primaries.hpp"
#include "protocol/lock.hpp"
#include "redis/endpoint.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::cli {

namespace asio = boost::asio;

namespace {

using times = std::optional<std::chrono::nanoseconds>;

void add(std::vector<finding>& to, std::vector<finding> more) {
    std::move(more.begin(), more.end(), std::back_inserter(to));
}

// Why the server refuses writes was said already.
bool explains_refusals(std::vector<finding> const& all) {
    constexpr std::array causes{"memory", "replicas", "role", "persistence", "scripts", "cluster"};
    return std::any_of(all.begin(), all.end(), [&](finding const& one) {
        return one.what == severity::fault &&
               std::find(causes.begin(), causes.end(), one.check) != causes.end();
    });
}

// A client would wait for what may pass, and this program does not.
bool prevents_a_lock(std::vector<finding> const& all) {
    return std::any_of(all.begin(), all.end(), [](finding const& one) {
        return one.what == severity::fault && one.check != "eviction";
    });
}

std::string deployment_of(config const& settings) {
    if (settings.cluster_nodes.empty()) {
        return detail::describe_endpoint(settings);
    }
    return "the cluster";
}

asio::awaitable<examination> examine_server(
    primaries const& all,
    primary const& one,
    config const& settings,
    times& round_trip
) {
    examination made{one.address};
    if (!one.session) {
        made.findings.push_back(check_connection(one.cause, one.why));
        co_return made;
    }
    error_code ended;
    try {
        auto gathering = gather_facts(*one.session);
        auto const facts = co_await std::move(gathering);
        round_trip = std::max(round_trip, facts.round_trip);
        add(made.findings, check_server(facts, settings));
        if (facts.hello.mode != "sentinel") {
            auto trying = try_rights(*one.session, settings.key_prefix + name_for_tries(all, one));
            auto found = co_await std::move(trying);
            if (explains_refusals(made.findings)) {
                std::erase_if(found, [](finding const& tried) { return tried.check == "writes"; });
            }
            add(made.findings, std::move(found));
        }
    } catch (boost::system::system_error const& e) {
        ended = e.code();
    }
    if (ended) {
        made.findings.push_back(check_connection(errc::unreachable, ended.message()));
    }
    co_return made;
}

// A client leaves its token counter behind for the next one.
asio::awaitable<void> clean_up(primaries const& all, config const& settings, std::string name) {
    auto const target = detail::make_lock_target(settings.key_prefix, name);
    auto const* const at = all.of_name(target.lock);
    if (at == nullptr) {
        co_return;
    }
    boost::redis::request remove;
    remove.push("DEL", target.counter());
    remove.push("DEL", target.queue());
    try {
        auto removing = at->session->ask(remove);
        co_await std::move(removing);
    } catch (boost::system::system_error const&) {
        // They expire.
    }
}

}  // namespace

asio::awaitable<std::vector<examination>> examine(config const& settings) {
    std::vector<examination> made;
    auto opening = open_primaries(settings);
    auto const all = co_await std::move(opening);
    if (all.all.empty()) {
        made.push_back({deployment_of(settings), {check_connection(all.cause, all.why)}});
        co_return made;
    }
    times round_trip;
    bool usable = true;
    for (auto const& one : all.all) {
        auto examining = examine_server(all, one, settings, round_trip);
        made.push_back(co_await std::move(examining));
        usable = usable && !prevents_a_lock(made.back().findings);
    }
    if (usable) {
        auto const name = name_for_tries(all, all.all.front());
        auto trying = try_hand_over(settings, name);
        auto const tried = co_await std::move(trying);
        auto cleaning = clean_up(all, settings, name);
        co_await std::move(cleaning);
        auto found = check_hand_over(tried, round_trip);
        if (made.size() == 1) {
            made.front().findings.push_back(std::move(found));
        } else {
            made.push_back({deployment_of(settings), {std::move(found)}});
        }
    }
    co_return made;
}

asio::awaitable<int> doctor(context const& with, doctor_options options) {
    auto examining = examine(with.config);
    auto const found = co_await std::move(examining);
    if (with.json) {
        with.out << json_of(found) << '\n';
    } else {
        with.out << report_of(found, with.colours, options.quiet);
    }
    co_return to_int(exit_code_of(found));
}

}  // namespace holdfast::cli
