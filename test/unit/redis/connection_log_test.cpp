// What the connections of a deployment write to the log, and how much in a minute.

#include "redis/connection_log.hpp"

#include "runtime/virtual_time.hpp"
#include "support/log_lines.hpp"

#include <holdfast/lease_clock.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>

using namespace std::chrono_literals;
using holdfast::lease_clock;
using holdfast::log_level;
using holdfast::detail::connection_log;
using holdfast::detail::virtual_time;
using holdfast::test::log_lines;

namespace {

struct world {
    // Each of the addresses has two connections, as a node of a cluster has.
    void fail(int addresses) {
        for (int i = 0; i < 2 * addresses; ++i) {
            auto const place = "h" + std::to_string(i / 2) + ":6379";
            auto const name = i % 2 == 0 ? "command" : "subscription";
            log.write(log_level::warning, "refused", place, name + (" to " + place));
        }
    }
    static void pass(lease_clock::duration time) {
        virtual_time::move_to(lease_clock::now() + time);
    }

    virtual_time::watch stopped{true};
    log_lines lines;
    connection_log log{lines.sink()};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(connection_log_test)

BOOST_FIXTURE_TEST_CASE(a_minute_without_six_addresses_is_five_lines_that_name_addresses, world) {
    for (int i = 0; i < 60; ++i) {
        fail(6);
        pass(1s);
    }
    BOOST_TEST(lines.count(log_level::warning) == 5U, lines.all());
    for (auto const* const place : {"h0:6379", "h1:6379", "h2:6379"}) {
        BOOST_TEST(lines.count(place) >= 1U, lines.all());
    }
    BOOST_TEST(lines.count("more times in 10 s, for 6 addresses)") == 1U, lines.all());
}

BOOST_FIXTURE_TEST_CASE(after_a_connection_was_made_the_next_failure_is_written_at_once, world) {
    for (int i = 0; i < 600; ++i) {
        fail(1);
        pass(1s);
    }
    auto const before = lines.count(log_level::warning);
    log.reset();
    fail(1);
    BOOST_TEST(lines.count(log_level::warning) == before + 1, lines.all());
}

BOOST_FIXTURE_TEST_CASE(what_is_no_warning_is_not_limited, world) {
    for (int i = 0; i < 3; ++i) {
        log.write(log_level::info, "up", "h0:6379", "is up");
    }
    BOOST_TEST(lines.count(log_level::info, "is up") == 3U);
    connection_log off{nullptr};
    off.write(log_level::error, "refused", {}, "nobody reads it");
}

BOOST_AUTO_TEST_SUITE_END()
