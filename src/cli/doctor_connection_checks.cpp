#include "cli/doctor_checks.hpp"
#include "core/lease_terms.hpp"
#include "redis/handshake.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace

finding check_connection(error_code cause, std::string_view why) {
    auto const said = [&](std::string_view what) { return fmt::format("{}: {}", what, why); };
    if (why.starts_with("DENIED")) {
        return fault(
            "connection",
            "the server is in protected mode and accepts connections of its own machine only",
            "set a password for its users, or bind it to a private address; then set "
            "protected-mode no"
        );
    }
    if (has(why, "max number of clients")) {
        return fault(
            "connection",
            "the server has as many clients as it allows",
            "raise maxclients, or find out with CLIENT LIST who has so many connections"
        );
    }
    if (why.starts_with("LOADING")) {
        return fault(
            "connection",
            "the server is still loading its data",
            "wait until it has; INFO persistence tells how long that takes"
        );
    }
    if (cause == errc::auth_failed) {
        return fault(
            "login",
            said("the server refuses the login"),
            "check the user name and the password of the URL; ACL LIST on the server tells which "
            "users there are"
        );
    }
    if (cause == errc::no_permission) {
        return fault(
            "login",
            said("the user may not log in as holdfast does"),
            "allow it the commands of the page \"The Redis user\""
        );
    }
    if (cause == errc::tls_failed) {
        return fault(
            "TLS",
            said("no secure connection can be made"),
            "check that the server's port speaks TLS, that its certificate is of an authority in "
            "ca_file, and that it is for the host of the URL"
        );
    }
    if (cause == errc::unsupported_server && has(why, "nknown command")) {
        return fault(
            "version",
            "the server knows no HELLO: it is older than Redis 6, or no Redis",
            "use Redis 6.0 or newer, or Valkey"
        );
    }
    if (cause == errc::unsupported_server) {
        return fault(
            "connection",
            said("the server cannot be used"),
            "check the address and the database of the URL"
        );
    }
    if (cause == errc::unknown_primary) {
        return fault(
            "connection",
            said("the Sentinels know no such primary"),
            "check the name at the end of the URL: it is the one of `sentinel monitor`"
        );
    }
    if (has(why, detail::closed_upon_hello)) {
        return fault(
            "connection",
            fmt::format("{}: it may be a proxy that does not speak RESP3, such as twemproxy", why),
            "connect to the Redis servers themselves; if the peer is a load balancer, check that a "
            "server is behind it, and if it wants TLS, use rediss://"
        );
    }
    return fault(
        "connection",
        said("the server does not answer"),
        "check that it runs, that it is not stopped or busy, and that the address, the port and "
        "the firewall let this machine reach it"
    );
}

std::vector<finding> check_identity(server_facts const& of, config const& settings) {
    std::vector<finding> found;
    auto const name = text_in(of.info, "server_name", "redis");
    auto const valkey = text_in(of.info, "valkey_version");
    auto const shown = name == "valkey" && !valkey.empty()
                           ? fmt::format("Valkey {}", valkey)
                           : fmt::format("Redis {}", of.hello.version);
    constexpr int oldest = 6;
    if (of.hello.major < oldest) {
        found.push_back(fault(
            "version",
            fmt::format("{} is older than Redis 6 and does not speak RESP3", shown),
            "use Redis 6.0 or newer, or Valkey"
        ));
    } else {
        found.push_back(good("version", shown + ", RESP3"));
    }
    bool const wants_cluster = !settings.cluster_nodes.empty();
    bool const is_node = of.hello.mode == "cluster";
    if (of.hello.mode == "sentinel") {
        found.push_back(fault(
            "kind",
            "this is a Sentinel, which keeps no locks",
            "use redis-sentinel://HOST:PORT/NAME"
        ));
    } else if (is_node && !wants_cluster) {
        found.push_back(
            fault("kind", "this is a node of a Redis Cluster", "use redis-cluster://HOST:PORT")
        );
    } else if (!is_node && wants_cluster) {
        found.push_back(
            fault("kind", "this is not a node of a Redis Cluster", "use redis://HOST:PORT")
        );
    }
    if (of.hello.is_replica()) {
        auto const host = text_in(of.info, "master_host");
        auto const where = host.empty()
                               ? std::string{}
                               : fmt::format(" of {}:{}", host, text_in(of.info, "master_port"));
        found.push_back(fault(
            "role",
            fmt::format("this is a replica{} and takes no writes", where),
            "name the primary in the URL, or use redis-sentinel:// so that it is found"
        ));
    } else {
        found.push_back(good("role", "it is a primary"));
    }
    return found;
}

std::vector<finding> check_connections(server_facts const& of, config const& settings) {
    std::vector<finding> found;
    auto const idle = std::chrono::seconds{count_of(of.settings, "timeout")};
    auto const checked = detail::health_check_interval_of(settings);
    if (idle > 0s && idle <= 2 * checked) {
        found.push_back(warning(
            "timeout",
            fmt::format(
                "the server closes connections that are idle for {} s; holdfast says something "
                "every {:.1f} s",
                idle.count(),
                std::chrono::duration<double>{checked}.count()
            ),
            "set timeout 0, or at least a minute"
        ));
    }
    // class, hard limit, soft limit, seconds; for each class.
    auto const limits = text_in(of.settings, "client-output-buffer-limit");
    constexpr std::uint64_t small = 1U << 20U;
    if (auto const at = limits.find("pubsub "); at != std::string_view::npos) {
        auto rest = limits.substr(at + 7);
        auto const hard = whole_number<std::uint64_t>(rest.substr(0, rest.find(' ')));
        if (hard && *hard > 0 && *hard < small) {
            found.push_back(warning(
                "buffers",
                fmt::format(
                    "client-output-buffer-limit closes a subscriber's connection at {} bytes: "
                    "notifications are lost then, and waiters are late",
                    *hard
                ),
                "CONFIG SET client-output-buffer-limit \"pubsub 33554432 8388608 60\""
            ));
        }
    }
    auto const most = whole_number<std::uint64_t>(
        text_in(of.settings, "maxclients", text_in(of.info, "maxclients"))
    );
    auto const clients = count_of(of.info, "connected_clients");
    if (most && *most > 0 && clients * 10 >= *most * 9) {
        found.push_back(warning(
            "clients",
            fmt::format("{} of at most {} clients are connected", clients, *most),
            "raise maxclients: each holdfast client has two connections"
        ));
    }
    if (found.empty() && most) {
        found.push_back(good(
            "connections",
            of.settings.empty()
                ? fmt::format("{} of at most {}", clients, *most)
                : fmt::format("{} of at most {}; none is closed early", clients, *most)
        ));
    }
    return found;
}

std::vector<finding> check_access(server_facts const& of, config const& settings) {
    if (!settings.password.empty() || text_in(of.settings, "protected-mode") != "no") {
        return {};
    }
    auto const bound = text_in(of.settings, "bind");
    bool const local_only = bound == "127.0.0.1" || bound == "127.0.0.1 -::1" ||
                            bound == "127.0.0.1 ::1" || text_in(of.settings, "port") == "0";
    if (local_only) {
        return {};
    }
    return {warning(
        "access",
        "no password is needed and protected-mode is off: whoever reaches the port can take and "
        "free locks",
        "make a user as on the page \"The Redis user\", and set protected-mode yes"
    )};
}

}  // namespace holdfast::cli
