#include "cli/doctor_checks.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <vector>

using namespace holdfast::cli;
using namespace std::chrono_literals;

namespace {

finding const* find(std::vector<finding> const& all, std::string const& check) {
    for (auto const& one : all) {
        if (one.check == check) {
            return &one;
        }
    }
    return nullptr;
}

finding clock_that_is_ahead(std::chrono::microseconds by) {
    auto const found = check_speed({.clock_ahead = by}, {});
    BOOST_REQUIRE(find(found, "clock") != nullptr);
    return *find(found, "clock");
}

severity latency_of(std::chrono::nanoseconds round_trip) {
    auto const found = check_speed({.round_trip = round_trip}, {});
    BOOST_REQUIRE(find(found, "latency") != nullptr);
    return find(found, "latency")->what;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_clock_that_is_off_is_a_warning) {
    BOOST_TEST((clock_that_is_ahead(999ms).what == severity::ok));
    BOOST_TEST((clock_that_is_ahead(-999ms).what == severity::ok));
    auto const ahead = clock_that_is_ahead(90s);
    BOOST_TEST((ahead.what == severity::warning));
    BOOST_TEST(ahead.text == "the server's clock is 90.0 s ahead of this machine's");
    auto const behind = clock_that_is_ahead(-1500ms);
    BOOST_TEST((behind.what == severity::warning));
    BOOST_TEST(behind.text == "the server's clock is 1.5 s behind this machine's");
    BOOST_TEST(check_speed({}, {}).empty());
}

BOOST_AUTO_TEST_CASE(a_slow_server_is_a_warning_and_one_too_slow_for_requests_a_fault) {
    BOOST_TEST((latency_of(200us) == severity::ok));
    BOOST_TEST((latency_of(60ms) == severity::warning));
    BOOST_TEST((latency_of(800ms) == severity::fault));
}

BOOST_AUTO_TEST_CASE(a_script_that_does_not_end_is_a_fault) {
    auto const busy = check_speed({.script_refusal = "BUSY Redis is busy running a script"}, {});
    BOOST_REQUIRE(find(busy, "scripts") != nullptr);
    BOOST_TEST((find(busy, "scripts")->what == severity::fault));
    auto const none = check_speed({.script_refusal = "ERR EVAL is disabled"}, {});
    BOOST_REQUIRE(find(none, "scripts") != nullptr);
    BOOST_TEST((find(none, "scripts")->what == severity::fault));
    BOOST_TEST(find(none, "scripts")->text.find("EVAL is disabled") != std::string::npos);
    auto const never = check_speed({.settings = {{"lua-time-limit", "0"}}}, {});
    BOOST_REQUIRE(find(never, "scripts") != nullptr);
    BOOST_TEST((find(never, "scripts")->what == severity::warning));
    BOOST_TEST(check_speed({.settings = {{"busy-reply-threshold", "5000"}}}, {}).empty());
}

BOOST_AUTO_TEST_CASE(a_cluster_that_is_down_is_a_fault) {
    auto const check = [](fields said) { return check_cluster({.cluster = std::move(said)}); };
    BOOST_TEST(check({}).empty());
    auto const up = check(
        {{"cluster_state", "ok"},
         {"cluster_slots_assigned", "16384"},
         {"cluster_slots_ok", "16384"},
         {"cluster_size", "3"}}
    );
    BOOST_TEST((up[0].what == severity::ok));
    auto const down = check({{"cluster_state", "fail"}, {"cluster_slots_assigned", "16384"}});
    BOOST_TEST((down[0].what == severity::fault));
    auto const holes = check(
        {{"cluster_state", "ok"}, {"cluster_slots_assigned", "16384"}, {"cluster_slots_ok", "5000"}}
    );
    BOOST_TEST((holes[0].what == severity::warning));
}

BOOST_AUTO_TEST_CASE(what_may_not_be_asked_is_said) {
    server_facts const facts{
        .hello = {.version = "7.0.15", .major = 7, .mode = "standalone", .role = "master"},
        .info_refusal = "NOPERM",
        .settings_refusal = "NOPERM",
    };
    auto const found = check_server(facts, {});
    BOOST_REQUIRE(find(found, "INFO") != nullptr);
    BOOST_TEST((find(found, "INFO")->what == severity::ok));
    BOOST_REQUIRE(find(found, "CONFIG") != nullptr);
    for (auto const& one : found) {
        BOOST_TEST((one.what == severity::ok), one.text);
    }
}
