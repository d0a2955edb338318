#include "cli/doctor_checks.hpp"

#include "core/lease_terms.hpp"
#include "redis/replies.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

double as_millis(std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::milli>{time}.count();
}

}  // namespace

std::vector<finding> check_speed(server_facts const& of, config const& settings) {
    std::vector<finding> found;
    if (of.script_refusal.starts_with("BUSY")) {
        found.push_back(fault(
            "scripts",
            "the server is busy with a script that does not end",
            "SCRIPT KILL, and find out whose script it is with CLIENT LIST"
        ));
    } else if (detail::classify(of.script_refusal).error == errc::unsupported_server) {
        found.push_back(fault(
            "scripts",
            fmt::format("the server, or a proxy before it, runs no scripts: {}", of.script_refusal),
            "use Redis 6.2 or newer, or Valkey, without a proxy"
        ));
    }
    auto const limit = text_in(of.settings, "busy-reply-threshold");
    auto const longest =
        whole_number<std::int64_t>(limit.empty() ? text_in(of.settings, "lua-time-limit") : limit);
    if (longest && *longest <= 0) {
        found.push_back(warning(
            "scripts",
            "no script is too long for this server: one that does not end blocks it silently",
            "set busy-reply-threshold (lua-time-limit before Redis 7) to 5000"
        ));
    }
    if (of.clock_ahead) {
        constexpr auto most = 1s;
        auto const ahead = std::chrono::duration<double>{*of.clock_ahead}.count();
        auto const off = *of.clock_ahead < 0us ? -*of.clock_ahead : *of.clock_ahead;
        if (off > most) {
            found.push_back(warning(
                "clock",
                fmt::format(
                    "the server's clock is {:.1f} s {} this machine's",
                    ahead < 0 ? -ahead : ahead,
                    ahead < 0 ? "behind" : "ahead of"
                ),
                "let both machines set their clocks by NTP: after a failover to a server whose "
                "clock is behind, tokens may not grow, and Java's waiters judge by their own clock"
            ));
        } else {
            found.push_back(good("clock", fmt::format("{:+.3f} s from this machine's", ahead)));
        }
    }
    if (of.round_trip) {
        auto const text = fmt::format("{:.2f} ms for a round trip", as_millis(*of.round_trip));
        auto const timeout = detail::request_timeout_for(settings, settings.lease);
        constexpr auto slow = 50ms;
        if (*of.round_trip > timeout / 4) {
            found.push_back(fault(
                "latency",
                fmt::format("{}; a request has {:.0f} ms", text, as_millis(timeout)),
                "bring the program nearer to the server, or raise config::lease and "
                "config::request_timeout"
            ));
        } else if (*of.round_trip > slow) {
            found.push_back(warning(
                "latency",
                text,
                "look for slow commands with SLOWLOG GET and LATENCY DOCTOR, and at the network"
            ));
        } else {
            found.push_back(good("latency", text));
        }
    }
    return found;
}

std::vector<finding> check_cluster(server_facts const& of) {
    if (of.cluster.empty()) {
        return {};
    }
    auto const slots = text_in(of.cluster, "cluster_slots_assigned");
    if (text_in(of.cluster, "cluster_state") != "ok") {
        return {fault(
            "cluster",
            fmt::format(
                "the cluster is down: {} of 16384 slots are assigned, and {} are served",
                slots,
                text_in(of.cluster, "cluster_slots_ok")
            ),
            "look at CLUSTER NODES, and run redis-cli --cluster check"
        )};
    }
    if (slots != "16384" || text_in(of.cluster, "cluster_slots_ok") != "16384") {
        return {warning(
            "cluster",
            fmt::format(
                "{} of 16384 slots are served: locks in the others cannot be had",
                text_in(of.cluster, "cluster_slots_ok")
            ),
            "run redis-cli --cluster check"
        )};
    }
    return {good(
        "cluster",
        fmt::format("all slots are served, by {} nodes", text_in(of.cluster, "cluster_size"))
    )};
}

std::vector<finding> check_server(server_facts const& of, config const& settings) {
    std::vector<finding> found;
    auto const add = [&found](std::vector<finding> more) {
        std::move(more.begin(), more.end(), std::back_inserter(found));
    };
    add(check_identity(of, settings));
    add(check_cluster(of));
    add(check_memory(of));
    add(check_persistence(of));
    add(check_replicas(of, settings));
    add(check_connections(of, settings));
    add(check_access(of, settings));
    add(check_speed(of, settings));
    if (!of.info_refusal.empty()) {
        found.push_back(good(
            "INFO",
            "the user may not use it: memory, persistence and replicas are not checked"
        ));
    }
    if (!of.settings_refusal.empty()) {
        found.push_back(good(
            "CONFIG",
            "the user may not use it: time-outs, buffers and snapshots are not checked"
        ));
    }
    return found;
}

}  // namespace holdfast::cli
