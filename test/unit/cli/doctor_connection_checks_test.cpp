#include "cli/doctor_checks.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace holdfast::cli;
using holdfast::config;
using holdfast::errc;
using holdfast::error_code;

namespace {

struct case_of_refusal {
    error_code cause;
    std::string why;
    std::string check;
    std::string part;
};

bool has(finding const& found, std::string const& part) {
    return found.text.find(part) != std::string::npos;
}

server_facts primary_of(std::string const& version = "7.0.15") {
    return {
        .hello =
            {.version = version, .major = version[0] - '0', .mode = "standalone", .role = "master"}
    };
}

finding const* find(std::vector<finding> const& all, std::string const& check) {
    for (auto const& one : all) {
        if (one.check == check) {
            return &one;
        }
    }
    return nullptr;
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_refusal_has_a_check_and_a_hint) {
    std::vector<case_of_refusal> const all{
        {errc::auth_failed, "WRONGPASS invalid username-password pair", "login", "WRONGPASS"},
        {errc::no_permission, "NOPERM no permissions to run 'hello'", "login", "NOPERM"},
        {errc::tls_failed, "certificate verify failed", "TLS", "certificate"},
        {errc::unsupported_server, "ERR unknown command `HELLO`", "version", "older than Redis 6"},
        {errc::unsupported_server, "ERR DB index is out of range", "connection", "DB index"},
        {errc::unknown_primary, "no Sentinel names it", "connection", "Sentinels"},
        {errc::server_refused,
         "DENIED Redis is running in protected mode",
         "connection",
         "protected mode"},
        {errc::server_refused, "ERR max number of clients reached", "connection", "clients"},
        {errc::server_refused, "LOADING Redis is loading", "connection", "loading"},
        {errc::unreachable, "Connection refused", "connection", "does not answer"},
        {errc::unreachable,
         "the peer closed the connection upon HELLO",
         "connection",
         "such as twemproxy"},
        {errc::unreachable, "no answer in time", "connection", "no answer in time"},
    };
    for (auto const& one : all) {
        auto const found = check_connection(one.cause, one.why);
        BOOST_TEST((found.what == severity::fault), one.why);
        BOOST_TEST(found.check == one.check, one.why);
        BOOST_TEST(has(found, one.part), found.text);
        BOOST_TEST(!found.hint.empty(), one.why);
    }
}

BOOST_AUTO_TEST_CASE(an_old_version_is_a_fault) {
    auto const old = check_identity(primary_of("5.0.14"), {});
    BOOST_TEST((find(old, "version")->what == severity::fault));
    auto const newer = check_identity(primary_of(), {});
    BOOST_TEST((find(newer, "version")->what == severity::ok));
    BOOST_TEST(has(*find(newer, "version"), "Redis 7.0.15"));
    BOOST_TEST((find(newer, "role")->what == severity::ok));
    BOOST_TEST((find(newer, "kind") == nullptr));
}

BOOST_AUTO_TEST_CASE(valkey_is_called_by_its_name) {
    auto facts = primary_of("7.2.4");
    facts.info = {{"server_name", "valkey"}, {"valkey_version", "8.1.0"}};
    BOOST_TEST(has(*find(check_identity(facts, {}), "version"), "Valkey 8.1.0"));
}

BOOST_AUTO_TEST_CASE(another_kind_of_server_than_the_url_says_is_a_fault) {
    config cluster;
    cluster.cluster_nodes = {{"10.0.0.1", 7000}};
    auto facts = primary_of();
    BOOST_TEST((find(check_identity(facts, cluster), "kind")->what == severity::fault));
    facts.hello.mode = "cluster";
    BOOST_TEST((find(check_identity(facts, cluster), "kind") == nullptr));
    BOOST_TEST((find(check_identity(facts, {}), "kind")->what == severity::fault));
    facts.hello.mode = "sentinel";
    BOOST_TEST((find(check_identity(facts, {}), "kind")->what == severity::fault));
}

BOOST_AUTO_TEST_CASE(what_closes_connections_is_a_warning) {
    auto facts = primary_of();
    facts.info = {{"connected_clients", "3"}};
    facts.settings = {
        {"timeout", "0"},
        {"maxclients", "10000"},
        {"client-output-buffer-limit",
         "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60"},
    };
    auto found = check_connections(facts, {});
    BOOST_REQUIRE(found.size() == 1U);
    BOOST_TEST((found[0].what == severity::ok));

    facts.settings["timeout"] = "3";
    found = check_connections(facts, {});
    BOOST_REQUIRE(found.size() == 1U);
    BOOST_TEST((found[0].what == severity::warning));
    BOOST_TEST(found[0].check == "timeout");
    facts.settings["timeout"] = "300";

    facts.settings["client-output-buffer-limit"] = "normal 0 0 0 slave 0 0 0 pubsub 1024 0 0";
    found = check_connections(facts, {});
    BOOST_REQUIRE(found.size() == 1U);
    BOOST_TEST(found[0].check == "buffers");
    BOOST_TEST(has(found[0], "1024"));
    facts.settings["client-output-buffer-limit"] = "pubsub 0 0 0";

    facts.info["connected_clients"] = "9000";
    found = check_connections(facts, {});
    BOOST_REQUIRE(found.size() == 1U);
    BOOST_TEST(found[0].check == "clients");
    facts.info["connected_clients"] = "8999";
    BOOST_TEST((check_connections(facts, {})[0].what == severity::ok));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_open_to_all_is_a_warning) {
    auto facts = primary_of();
    facts.settings = {{"protected-mode", "no"}, {"bind", "* -::*"}, {"port", "6379"}};
    BOOST_REQUIRE(check_access(facts, {}).size() == 1U);
    BOOST_TEST((check_access(facts, {})[0].what == severity::warning));
    config with_password;
    with_password.password = "secret";
    BOOST_TEST(check_access(facts, with_password).empty());
    facts.settings["bind"] = "127.0.0.1 -::1";
    BOOST_TEST(check_access(facts, {}).empty());
    facts.settings["bind"] = "10.0.0.1";
    facts.settings["protected-mode"] = "yes";
    BOOST_TEST(check_access(facts, {}).empty());
}
