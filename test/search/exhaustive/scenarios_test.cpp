// A few operations of one or two clients, and every order of what happens: the library as it is, in
// the simulator's world, whose decisions are enumerated up to a bound instead of drawn. The bound
// is on what deviates from the default order (delays) and on what goes wrong (faults).
//
// The bounds are small enough for every run of the tests. With HOLDFAST_EXHAUSTIVE=full in the
// environment they are larger, and take hours.

#include "exhaustive/scenario.hpp"

#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace holdfast::exhaustive;
using namespace std::chrono_literals;
using holdfast::acquire_options;
using holdfast::sim::request;
using holdfast::sim::sometimes;
using kind = fault::kind;

namespace {

// So long that only a notification can wake a waiter.
constexpr std::chrono::milliseconds for_ever{3'600'000};

bool in_full() {
    auto const* const how = std::getenv("HOLDFAST_EXHAUSTIVE");
    return how && std::string_view{how} == "full";
}

bound limit_of(scenario const& of) {
    return in_full() ? of.limit_in_full : of.limit;
}

findings run(scenario const& of) {
    auto const limit = limit_of(of);
    auto const started = std::chrono::steady_clock::now();
    auto all = explore(of, limit);
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - started;
    fmt::print(
        "{}: {} delays, {} faults, {}: {} schedules, {} choice points, {} in one, {} steps, {:.1f} "
        "s\n",
        of.name,
        limit.delays,
        limit.faults,
        all.violation.empty() ? "exhausted" : "VIOLATION",
        all.schedules,
        all.points,
        all.deepest,
        all.steps,
        took.count()
    );
    std::fflush(stdout);
    return all;
}

// No schedule breaks a promise, and what the scenario is for has happened.
void expect_sound(scenario const& of) {
    auto const all = run(of);
    BOOST_TEST_REQUIRE(all.violation == "");
    for (auto const what : of.must_reach) {
        auto const at = static_cast<std::size_t>(what);
        BOOST_TEST(all.reached[at] > 0U, "never reached: " << holdfast::sim::sometimes_texts[at]);
    }
}

// One client holds the lock, two users of another wait for it.
std::vector<std::vector<std::vector<use>>> holder_and_two_waiters() {
    return {{{{.holds = 20ms}}}, {{{.begins = 5ms}}, {{.begins = 6ms}}}};
}

std::vector<std::vector<std::vector<use>>> holder_and_waiter() {
    return {{{{.holds = 20ms}}}, {{{.begins = 5ms}}}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exhaustive)

BOOST_AUTO_TEST_CASE(only_notifications_wake_waiters) {
    scenario of{.name = "woken by notifications alone", .clients = holder_and_two_waiters()};
    of.lease = of.fallback_poll_interval = for_ever;
    of.limit = {3, 0};
    of.limit_in_full = {5, 0};
    of.must_reach = {sometimes::granted, sometimes::handed_over};
    expect_sound(of);
}

BOOST_AUTO_TEST_CASE(a_waiter_that_leaves_leaves_its_wake_up_to_the_next) {
    scenario of{.name = "waiters that leave", .clients = holder_and_two_waiters()};
    of.lease = of.fallback_poll_interval = for_ever;
    of.faults = {{kind::cancelled_at_once, 1}, {kind::cancelled_in_total, 1}};
    of.limit = {2, 1};
    of.limit_in_full = {3, 1};
    of.must_reach = {sometimes::cancelled_waiting, sometimes::forwarded, sometimes::withdrawn};
    expect_sound(of);
}

BOOST_AUTO_TEST_CASE(a_connection_that_breaks_costs_no_wake_up) {
    scenario of{.name = "broken connections", .clients = holder_and_waiter()};
    of.lease = of.fallback_poll_interval = for_ever;
    of.faults = {
        {kind::commands_break, 0},
        {kind::commands_break, 1},
        {kind::notifications_break, 1},
        {kind::commands_fail, 1}
    };
    of.limit = {1, 1};
    of.limit_in_full = {2, 1};
    of.must_reach = {sometimes::resubscribed, sometimes::granted_after_unknown};
    expect_sound(of);
}

// The queue of a lock that nobody waits for keeps its subscription for half a second.
BOOST_AUTO_TEST_CASE(a_client_waits_again_as_its_subscription_ends) {
    scenario of{.name = "subscribed again while unsubscribing"};
    of.clients = {
        {{{.holds = 20ms}, {.begins = 400ms, .holds = 200ms}}},
        {{{.begins = 5ms}, {.begins = 520ms, .later = 9}}}
    };
    of.lease = of.fallback_poll_interval = for_ever;
    of.limit = {2, 0};
    of.limit_in_full = {3, 0};
    of.must_reach = {sometimes::handed_over, sometimes::resubscribed};
    expect_sound(of);
}

BOOST_AUTO_TEST_CASE(a_holder_renews_through_every_fault) {
    scenario of{.name = "renewals and losses", .clients = {{{{.holds = 3'500ms}}}}};
    of.lease = 2s;
    of.slow = 700;
    of.faults = {
        {kind::commands_break},
        {kind::commands_fail},
        {kind::request_lost},
        {kind::answer_lost},
        {kind::cut_off},
        {kind::server_restarts},
        {kind::script_refused},
        {kind::key_removed}
    };
    of.limit = {1, 1};
    of.limit_in_full = {2, 1};
    of.must_reach = {
        sometimes::in_doubt,
        sometimes::recovered,
        sometimes::renewed_elsewhere,
        sometimes::lost_deleted,
        sometimes::refused
    };
    expect_sound(of);
}

BOOST_AUTO_TEST_CASE(a_lease_that_cannot_be_renewed_ends_and_another_gets_it) {
    acquire_options fixed;
    fixed.renew = false;
    acquire_options short_hold;
    short_hold.max_hold = 1'500ms;
    scenario of{.name = "leases that end"};
    of.clients = {
        {{{.holds = 1'500ms, .options = fixed}}},
        {{{.begins = 5ms, .holds = 2s, .options = short_hold}}}
    };
    of.lease = 1s;
    of.slow = 250;
    of.faults = {{kind::thread_blocked, 0}, {kind::cut_off, 1}, {kind::killed, 0}};
    of.limit = {1, 1};
    of.limit_in_full = {2, 1};
    of.must_reach = {
        sometimes::lost_expired,
        sometimes::lost_max_hold,
        sometimes::handed_over,
        sometimes::release_lost,
        sometimes::killed_holding
    };
    expect_sound(of);
}

BOOST_AUTO_TEST_CASE(a_release_is_repeated_until_it_is_answered) {
    scenario of{.name = "releases repeated", .clients = holder_and_waiter()};
    of.clients[0][0][0].drops = true;
    of.lease = 30s;
    of.fallback_poll_interval = for_ever;
    of.slow = 600;
    of.faults = {
        {kind::request_lost},
        {kind::answer_lost},
        {kind::commands_break},
        {kind::script_refused},
        {kind::server_restarts}
    };
    of.limit = {1, 1};
    of.limit_in_full = {2, 1};
    of.must_reach = {sometimes::handed_over, sometimes::not_known, sometimes::refused};
    expect_sound(of);
}

BOOST_AUTO_TEST_CASE(a_cancelled_attempt_is_withdrawn) {
    scenario of{.name = "cancelled attempts"};
    of.clients = {{{{}}}, {{{.begins = 1ms, .holds = 10ms}}}};
    of.lease = 1s;
    of.slow = 200;
    of.faults = {
        {kind::cancelled_at_once, 0},
        {kind::cancelled_in_total, 0},
        {kind::cancelled_at_once, 1},
        {kind::cancelled_in_total, 1},
        {kind::commands_fail, 0}
    };
    of.limit = {1, 1};
    of.limit_in_full = {2, 1};
    of.must_reach = {
        sometimes::cancelled_waiting,
        sometimes::cancelled_late,
        sometimes::withdrawn,
        sometimes::executed_late
    };
    expect_sound(of);
}

BOOST_AUTO_TEST_CASE(a_release_that_is_executed_late_frees_nobody_elses_lock) {
    scenario of{.name = "releases executed late"};
    of.clients = {{{{}, {.begins = 20ms}}}, {{{.begins = 5ms, .holds = 10ms}}}};
    of.lease = 1s;
    of.slow = 300;
    of.faults = {{kind::commands_fail, 0}, {kind::commands_fail, 1}, {kind::cut_off, 0}};
    of.limit = {1, 1};
    of.limit_in_full = {2, 1};
    of.must_reach = {sometimes::executed_late, sometimes::handed_over};
    expect_sound(of);
}

BOOST_AUTO_TEST_CASE(a_server_that_restarts_is_sent_the_scripts_again) {
    scenario of{.name = "restarts and unknown scripts", .clients = holder_and_waiter()};
    of.scripts_known = false;
    of.faults = {{kind::server_restarts}, {kind::scripts_forgotten}};
    of.limit = {1, 1};
    of.limit_in_full = {1, 2};
    of.must_reach = {sometimes::not_known, sometimes::resubscribed, sometimes::handed_over};
    expect_sound(of);
}

BOOST_AUTO_TEST_CASE(tries_end_in_time_and_say_why) {
    scenario of{.name = "tries"};
    of.clients = {
        {{{.holds = 20ms}}},
        {{{.begins = 5ms, .how = request::kind::one_try},
          {.begins = 7ms, .how = request::kind::limited, .limit = 10ms}}}
    };
    of.lease = 1s;
    of.slow = 250;
    of.faults = {
        {kind::commands_break, 1},
        {kind::request_lost, 1},
        {kind::cut_off, 1},
        {kind::cancelled_in_total, 1},
        {kind::key_removed, 0}
    };
    of.limit = {1, 1};
    of.limit_in_full = {2, 1};
    of.must_reach = {sometimes::busy_try, sometimes::time_up};
    expect_sound(of);
}

// The search is able to fail.
BOOST_AUTO_TEST_CASE(a_notification_that_never_comes_is_found) {
    scenario of{.name = "a notification that never comes", .clients = holder_and_waiter()};
    of.lease = of.fallback_poll_interval = for_ever;
    of.faults = {{kind::notifications_swallowed, 1}};
    of.limit = of.limit_in_full = {0, 1};
    of.traced = false;
    BOOST_TEST(run(of).violation.find("p2 waits for it") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
