// What a client's constructor refuses: a wrong configuration, by the name of the member.

#include "core/check_config.hpp"

#include "core/lease_terms.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
using holdfast::config;
using holdfast::detail::check_config;
using holdfast::detail::millis;

namespace {

bool names(std::invalid_argument const& error, std::string_view part) {
    return std::string_view{error.what()}.find(part) != std::string_view::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(check_config_test)

BOOST_AUTO_TEST_CASE(every_lease_from_one_second_to_a_day_works_with_the_defaults) {
    config settings;
    for (millis const lease : {millis{1s}, millis{2s}, millis{1h}, millis{24h}}) {
        settings.lease = lease;
        BOOST_CHECK_NO_THROW(check_config(settings));
    }
}

BOOST_AUTO_TEST_CASE(with_sentinels_host_and_port_are_not_looked_at) {
    config settings;
    settings.host.clear();
    settings.port = 0;
    settings.sentinels = {{"h", 26'379}, {"h", 26'380}};
    settings.primary_name = "mymaster";
    BOOST_CHECK_NO_THROW(check_config(settings));
}

BOOST_AUTO_TEST_CASE(a_wrong_configuration_is_refused_by_the_name_of_the_member) {
    constexpr auto too_long = millis::max();
    struct {
        std::string member;
        std::function<void(config&)> spoil;
    } const table[] = {
        {"host", [](config& c) { c.host.clear(); }},
        {"port", [](config& c) { c.port = 0; }},
        {"tls",
         [](config& c) {
             c.unix_socket = "/s";
             c.tls.enabled = true;
         }},
        {"tls.private_key_file", [](config& c) { c.tls.certificate_file = "me.pem"; }},
        {"replicas.timeout", [](config& c) { c.replicas.timeout = -1ms; }},
        {"lease", [](config& c) { c.replicas = {.count = 1, .timeout = 25s}; }},
        {"tls.certificate_file", [](config& c) { c.tls.private_key_file = "me.key"; }},
        {"sentinels", [](config& c) { c.primary_name = "n"; }},
        {"primary_name", [](config& c) { c.sentinels = {{"h", 1}}; }},
        {"sentinels",
         [](config& c) {
             c.sentinels = {{"h", 1}, {"", 1}};
             c.primary_name = "n";
         }},
        {"sentinels",
         [](config& c) {
             c.sentinels = {{"h", 1}, {"i", 0}};
             c.primary_name = "n";
         }},
        {"sentinels",
         [](config& c) {
             c.sentinels = {{"h", 1}, {"h", 2}, {"h", 1}};
             c.primary_name = "n";
         }},
        {"unix_socket",
         [](config& c) {
             c.sentinels = {{"h", 1}};
             c.primary_name = "n";
             c.unix_socket = "/s";
         }},
        {"sentinel_password",
         [](config& c) {
             c.sentinels = {{"h", 1}};
             c.primary_name = "n";
             c.sentinel_username = "bob";
         }},
        {"sentinel_tls.private_key_file",
         [](config& c) {
             c.sentinels = {{"h", 1}};
             c.primary_name = "n";
             c.sentinel_tls.certificate_file = "me.pem";
         }},
        {"lock_delay", [](config& c) { c.lock_delay = -1ms; }},
        {"lock_delay", [](config& c) { c.lock_delay = 24h + 1ms; }},
        {"database", [](config& c) { c.database = -1; }},
        {"password", [](config& c) { c.username = "alice"; }},
        {"client_name", [](config& c) { c.client_name = "two words"; }},
        {"client_name", [](config& c) { c.client_name = "line\nbreak"; }},
        {"client_name", [](config& c) { c.client_name = "caf\xc3\xa9"; }},
        {"key_prefix", [](config& c) { c.key_prefix.assign(512, 'p'); }},
        {"drift", [](config& c) { c.drift = -0.01; }},
        {"drift", [](config& c) { c.drift = 0.11; }},
        {"drift", [](config& c) { c.drift = std::numeric_limits<double>::quiet_NaN(); }},
        {"loss_margin", [](config& c) { c.loss_margin = 0.0; }},
        {"loss_margin", [](config& c) { c.loss_margin = 0.51; }},
        {"loss_margin", [](config& c) { c.loss_margin = std::numeric_limits<double>::quiet_NaN(); }
        },
        {"lease", [](config& c) { c.lease = 0ms; }},
        {"lease", [](config& c) { c.lease = -1ms; }},
        {"lease", [](config& c) { c.lease = 999ms; }},
        {"lease", [](config& c) { c.lease = 24h + 1ms; }},
        {"lease", [=](config& c) { c.lease = too_long; }},
        {"learned_lease_min", [](config& c) { c.learned_lease_min = -1ms; }},
        {"learned_lease_min", [](config& c) { c.learned_lease_min = 999ms; }},
        {"learned_lease_min", [](config& c) { c.learned_lease_min = 30s + 1ms; }},
        {"learned_lease_min",
         [](config& c) {
             c.learned_lease_min = 6s;
             c.request_timeout = 5s;
         }},
        {"request_timeout", [](config& c) { c.request_timeout = -1ms; }},
        {"request_timeout", [=](config& c) { c.request_timeout = too_long; }},
        {"connect_timeout", [](config& c) { c.connect_timeout = -1ms; }},
        {"connect_timeout", [=](config& c) { c.connect_timeout = too_long; }},
        {"health_check_interval", [](config& c) { c.health_check_interval = -1ms; }},
        {"health_check_interval", [=](config& c) { c.health_check_interval = too_long; }},
        {"shutdown_timeout", [](config& c) { c.shutdown_timeout = -1ms; }},
        {"shutdown_timeout", [=](config& c) { c.shutdown_timeout = too_long; }},
        {"restart_delay", [](config& c) { c.restart_delay = -1ms; }},
        {"restart_delay", [=](config& c) { c.restart_delay = too_long; }},
        {"fence_ttl", [](config& c) { c.fence_ttl = -1ms; }},
        {"fence_ttl", [](config& c) { c.fence_ttl = 24h - 1ms; }},
        {"fence_ttl", [=](config& c) { c.fence_ttl = too_long; }},
        {"reconnect_min", [](config& c) { c.reconnect_min = 0ms; }},
        {"reconnect_min", [](config& c) { c.reconnect_min = 3s; }},
        {"reconnect_max", [=](config& c) { c.reconnect_max = too_long; }},
        {"fallback_poll_interval", [](config& c) { c.fallback_poll_interval = 9ms; }},
        {"fallback_poll_interval", [=](config& c) { c.fallback_poll_interval = too_long; }},
        {"max_waiters", [](config& c) { c.max_waiters = 0; }},
    };
    BOOST_CHECK_NO_THROW(check_config({}));
    for (auto const& row : table) {
        BOOST_TEST_CONTEXT(row.member) {
            config settings;
            row.spoil(settings);
            BOOST_CHECK_EXCEPTION(
                check_config(settings),
                std::invalid_argument,
                [&](auto const& e) { return names(e, "::" + row.member + ":"); }
            );
        }
    }
}

BOOST_AUTO_TEST_CASE(counters_that_stay_for_ever_are_allowed) {
    config settings;
    for (millis const ttl : {config::never, millis{24h}, millis{24h * 365 * 10}}) {
        settings.fence_ttl = ttl;
        BOOST_CHECK_NO_THROW(check_config(settings));
    }
}

BOOST_AUTO_TEST_CASE(the_password_is_never_in_a_message) {
    config settings;
    settings.password = "s3cret";
    settings.host.clear();
    BOOST_CHECK_EXCEPTION(check_config(settings), std::invalid_argument, [](auto const& e) {
        return !names(e, "s3cret");
    });
}

BOOST_AUTO_TEST_CASE(the_shortest_learned_lease_may_be_any_that_a_lease_may_be) {
    config settings;
    for (millis const shortest : {millis{0}, millis{1s}, millis{30s}}) {
        settings.learned_lease_min = shortest;
        BOOST_CHECK_NO_THROW(check_config(settings));
    }
}

BOOST_AUTO_TEST_CASE(a_cluster_has_nodes_and_one_database) {
    config settings;
    settings.cluster_nodes = {{"h1", 7000}, {"::1", 7001}};
    BOOST_CHECK_NO_THROW(check_config(settings));
    auto const refused = [](config const& wrong, std::string_view member) {
        BOOST_CHECK_EXCEPTION(check_config(wrong), std::invalid_argument, [&](auto const& e) {
            return names(e, member);
        });
    };
    auto other = settings;
    other.database = 1;
    refused(other, "database");
    other = settings;
    other.unix_socket = "/run/redis.sock";
    refused(other, "unix_socket");
    other = settings;
    other.cluster_nodes.push_back({"h2", 0});
    refused(other, "cluster_nodes");
    other = settings;
    other.cluster_nodes.push_back({"h1", 7000});
    refused(other, "cluster_nodes");
    other = settings;
    other.sentinels = {{"h1", 26379}};
    refused(other, "sentinels");
    other = settings;
    other.lock_delay = std::chrono::seconds{1};
    other.replicas.count = 1;
    BOOST_CHECK_NO_THROW(check_config(other));
}

BOOST_AUTO_TEST_SUITE_END()
