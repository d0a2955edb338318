#include "core/check_config.hpp"

#include "core/lease_terms.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::detail {

namespace {

[[noreturn]] void refuse(char const* member, char const* why) {
    throw std::invalid_argument(std::string("holdfast::config::") + member + ": " + why);
}

// So that no sum of times overflows.
constexpr millis longest_time = max_lease;
constexpr millis longest_fence_ttl{std::chrono::hours{24 * 36'525}};

void check_time(millis value, char const* member) {
    if (value < millis{0} || value > longest_time) {
        refuse(member, "must be from 0 to 24 h");
    }
}

constexpr auto incomplete_pair = "is missing: a certificate is of use only with its key";

void check_one_server(config const& settings) {
    if (settings.unix_socket.empty() && settings.host.empty()) {
        refuse("host", "must not be empty");
    }
    if (settings.unix_socket.empty() && settings.port == 0) {
        refuse("port", "must not be 0");
    }
    if (!settings.unix_socket.empty() && settings.tls.enabled) {
        refuse("tls", "cannot be used with a UNIX socket");
    }
}

void check_addresses(std::vector<config::address> const& all, char const* member) {
    for (auto one = all.begin(); one != all.end(); ++one) {
        if (one->host.empty() || one->port == 0) {
            refuse(member, "each needs a host and a port");
        }
        if (std::find(all.begin(), one, *one) != one) {
            refuse(member, "no address may be named twice");
        }
    }
}

void check_cluster(config const& settings) {
    check_addresses(settings.cluster_nodes, "cluster_nodes");
    if (!settings.sentinels.empty()) {
        refuse("sentinels", "cannot be used with cluster_nodes");
    }
    if (!settings.unix_socket.empty()) {
        refuse("unix_socket", "cannot be used with cluster_nodes");
    }
    if (settings.database != 0) {
        refuse("database", "must be 0: a Redis Cluster has no other");
    }
}

void check_sentinels(config const& settings) {
    check_addresses(settings.sentinels, "sentinels");
    if (settings.primary_name.empty()) {
        refuse("primary_name", "is missing: the Sentinels may know several");
    }
    if (!settings.unix_socket.empty()) {
        refuse("unix_socket", "cannot be used with Sentinels");
    }
    if (settings.sentinel_password.empty() && !settings.sentinel_username.empty()) {
        refuse("sentinel_password", "is missing for the user name");
    }
    auto const& tls = settings.sentinel_tls;
    if (tls.certificate_file.empty() != tls.private_key_file.empty()) {
        refuse(
            tls.private_key_file.empty() ? "sentinel_tls.private_key_file"
                                         : "sentinel_tls.certificate_file",
            incomplete_pair
        );
    }
}

}  // namespace

void check_config(config const& settings) {
    if (!settings.cluster_nodes.empty()) {
        check_cluster(settings);
    } else if (!settings.sentinels.empty()) {
        check_sentinels(settings);
    } else if (!settings.primary_name.empty()) {
        refuse("sentinels", "are missing for primary_name");
    } else {
        check_one_server(settings);
    }
    if (settings.tls.certificate_file.empty() != settings.tls.private_key_file.empty()) {
        refuse(
            settings.tls.private_key_file.empty() ? "tls.private_key_file" : "tls.certificate_file",
            incomplete_pair
        );
    }
    if (settings.database < 0) {
        refuse("database", "must not be negative");
    }
    if (settings.password.empty() && !settings.username.empty()) {
        refuse("password", "is missing for the user name");
    }
    auto const unprintable = [](char c) { return c < '!' || c > '~'; };
    if (std::any_of(settings.client_name.begin(), settings.client_name.end(), unprintable)) {
        refuse("client_name", "must be printable ASCII without spaces");
    }
    if (settings.key_prefix.size() >= max_name_length) {
        refuse("key_prefix", "must be shorter than 512 bytes");
    }
    if (!(settings.drift >= 0.0 && settings.drift <= 0.1)) {
        refuse("drift", "must be from 0 to 0.1");
    }
    if (!(settings.loss_margin >= 0.01 && settings.loss_margin <= 0.5)) {
        refuse("loss_margin", "must be from 0.01 to 0.5");
    }
    check_time(settings.request_timeout, "request_timeout");
    check_time(settings.connect_timeout, "connect_timeout");
    check_time(settings.health_check_interval, "health_check_interval");
    check_time(settings.shutdown_timeout, "shutdown_timeout");
    check_time(settings.lock_delay, "lock_delay");
    check_time(settings.reconnect_max, "reconnect_max");
    check_time(settings.replicas.timeout, "replicas.timeout");
    check_time(settings.fallback_poll_interval, "fallback_poll_interval");
    check_time(settings.restart_delay.value_or(millis{0}), "restart_delay");
    bool const expires = settings.fence_ttl != config::never;
    if (expires && (settings.fence_ttl < max_lease || settings.fence_ttl > longest_fence_ttl)) {
        refuse("fence_ttl", "must be from 24 h to 100 years, or `never`");
    }
    if (settings.reconnect_min < millis{1} || settings.reconnect_max < settings.reconnect_min) {
        refuse("reconnect_min", "must be at least 1 ms and not above reconnect_max");
    }
    if (settings.fallback_poll_interval < millis{10}) {
        refuse("fallback_poll_interval", "must be at least 10 ms");
    }
    if (settings.waiter_patience < millis{200} ||
        settings.waiter_patience > std::chrono::minutes{1}) {
        refuse("waiter_patience", "must be from 200 ms to 60 s");
    }
    if (settings.max_waiters == 0) {
        refuse("max_waiters", "must be at least 1");
    }
    lease_terms unused;
    if (make_terms(settings, acquire_options{}, unused)) {
        refuse(
            "lease",
            "must be from 1 s to 24 h, and long enough for the time-outs: request_timeout + "
            "connect_timeout + "
            "reconnect_min, and replicas.timeout where it is used, must fit between a renewal and "
            "the "
            "loss margin"
        );
    }
    bool const has_min = settings.learned_lease_min != millis{0};
    bool const out_of_range =
        settings.learned_lease_min < min_lease || settings.learned_lease_min > settings.lease;
    if (has_min &&
        (out_of_range ||
         make_terms(settings, acquire_options{.lease = settings.learned_lease_min}, unused))) {
        refuse(
            "learned_lease_min",
            "must be from 1 s to `lease`, and long enough for the time-outs, as `lease` is"
        );
    }
}

}  // namespace holdfast::detail
