// How Boost.Redis is told to reach the server, and how the server is named in the log.

#include "redis/endpoint.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::config;
using holdfast::detail::describe_endpoint;
using holdfast::detail::make_endpoint;

BOOST_AUTO_TEST_SUITE(endpoint_test)

BOOST_AUTO_TEST_CASE(the_address_is_the_users) {
    config settings;
    settings.host = "db.example";
    settings.port = 6'380;
    settings.tls.enabled = true;
    auto const endpoint = make_endpoint(settings);
    BOOST_TEST(endpoint.addr.host == "db.example");
    BOOST_TEST(endpoint.addr.port == "6380");
    BOOST_TEST(endpoint.unix_socket.empty());
    BOOST_TEST(endpoint.use_ssl);
    settings.unix_socket = "/s";
    BOOST_TEST(make_endpoint(settings).unix_socket == "/s");
}

BOOST_AUTO_TEST_CASE(it_neither_logs_in_nor_reconnects_by_itself) {
    config settings;
    settings.username = "alice";
    settings.password = "s3cret";
    settings.database = 3;
    auto const endpoint = make_endpoint(settings);
    BOOST_TEST(endpoint.use_setup);
    BOOST_TEST(endpoint.setup.payload().empty());
    BOOST_TEST((endpoint.reconnect_wait_interval == 0s));
}

BOOST_AUTO_TEST_CASE(the_time_outs_are_the_users_or_follow_the_lease) {
    config settings;
    auto const automatic = make_endpoint(settings);
    BOOST_TEST((automatic.connect_timeout == 3s));
    BOOST_TEST((automatic.health_check_interval == 2s));
    settings.connect_timeout = 70ms;
    settings.health_check_interval = 90ms;
    auto const given = make_endpoint(settings);
    BOOST_TEST((given.connect_timeout == 70ms));
    BOOST_TEST((given.resolve_timeout == 70ms));
    BOOST_TEST((given.ssl_handshake_timeout == 70ms));
    BOOST_TEST((given.health_check_interval == 90ms));
}

BOOST_AUTO_TEST_CASE(a_broken_server_cannot_fill_the_memory) {
    BOOST_TEST(make_endpoint({}).max_read_size <= 16U << 20U);
}

BOOST_AUTO_TEST_CASE(the_log_names_the_server_and_no_password) {
    config settings;
    settings.password = "s3cret";
    BOOST_TEST(describe_endpoint(settings) == "127.0.0.1:6379");
    settings.tls.enabled = true;
    BOOST_TEST(describe_endpoint(settings) == "127.0.0.1:6379 (TLS)");
    settings.unix_socket = "/run/redis.sock";
    BOOST_TEST(describe_endpoint(settings) == "/run/redis.sock");
    settings.sentinels = {{"h", 1}};
    settings.primary_name = "mymaster";
    settings.sentinel_password = "s3cret";
    BOOST_TEST(describe_endpoint(settings) == "the primary \"mymaster\"");
}

BOOST_AUTO_TEST_SUITE_END()
