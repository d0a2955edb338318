// Two clients, one lock, a lease of a few ticks, and whatever may go wrong, in every order: the
// machines of `src/core` themselves, driven as `src/ops` drives them, against the rules of the
// specification.
//
// Every order means: messages take no time or up to a time-out, connections and server and callers
// act in any order, posted turns and timers run in any order within the tick in which they are due.
// How much may go wrong in one run is bounded, see `scope`, and so is time; after the faults comes
// a quiet phase at whose end nobody may wait and nothing may be left.
//
// Not in here: what the machines do not see, such as tokens, bytes and clocks that differ; the end
// of a client, re-entry by an owner, and errors that do not pass.
//
// The scopes are small enough for every run of the tests. With HOLDFAST_EXHAUSTIVE=full in the
// environment they are larger: then this takes an hour and gigabytes.

#include "exhaustive/explorer.hpp"
#include "exhaustive/scope.hpp"

#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

using namespace holdfast::exhaustive;

namespace {

bool full() {
    auto const* const how = std::getenv("HOLDFAST_EXHAUSTIVE");
    return how && std::string_view{how} == "full";
}

#ifdef HOLDFAST_TEST_SANITIZER
constexpr bool slow_build = true;
#else
constexpr bool slow_build = false;
#endif

// Nothing may be broken, and what the scope is for has to happen in it.
void expect_sound(scope const& of, std::initializer_list<landmark> must_be_reached) {
    auto const result = explore(of);
    fmt::print("{}\n", to_text(of, result));
    std::fflush(stdout);
    BOOST_TEST_REQUIRE(!result.found, (result.found ? to_text(*result.found) : ""));
    for (auto const what : must_be_reached) {
        auto const bit = static_cast<unsigned>(what);
        BOOST_TEST((result.reached >> bit & 1U) == 1U, "not reached: " << landmark_names.at(bit));
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(small_scope_test)

BOOST_AUTO_TEST_CASE(everything_goes_wrong_in_one_run) {
    scope of{.name = "everything at once"};
    of.crashes = of.late = of.duplicates = of.losses = 1;
    of.cancellations = full();
    of.quiet_from = full() ? 4 : 2;
    of.end = of.quiet_from + 8;
    expect_sound(
        of,
        {landmark::granted_at_once,
         landmark::granted_after_refusal,
         landmark::granted_after_unknown_attempt,
         landmark::woken_by_notice,
         landmark::woken_by_timer,
         landmark::woken_by_renewed_subscription,
         landmark::woken_without_subscription,
         landmark::renewed,
         landmark::doubted,
         landmark::recovered,
         landmark::lost_unreachable,
         landmark::told_of_loss,
         landmark::released_after_loss,
         landmark::renewal_answered_after_release,
         landmark::attempt_timed_out,
         landmark::release_timed_out,
         landmark::release_repeated,
         landmark::stray_acquired,
         landmark::stray_waited_out,
         landmark::crashed_holder_succeeded,
         landmark::attempt_not_sent}
    );
}

BOOST_AUTO_TEST_CASE(requests_are_late_or_executed_twice_and_a_client_crashes) {
    scope of{.name = "late, twice, a crash"};
    of.crashes = of.late = of.duplicates = 1;
    of.last_start = 3;
    of.quiet_from = full() ? 6 : slow_build ? 3 : 4;
    of.end = of.quiet_from + 8;
    expect_sound(
        of,
        {landmark::granted_after_unknown_attempt,
         landmark::stray_acquired,
         landmark::stray_waited_out,
         landmark::crashed_holder_succeeded}
    );
}

BOOST_AUTO_TEST_CASE(callers_cancel_while_a_connection_breaks) {
    scope of{.name = "cancellation and a broken connection"};
    of.losses = 1;
    of.cancellations = true;
    of.quiet_from = full() ? 6 : slow_build ? 2 : 3;
    of.end = of.quiet_from + 8;
    expect_sound(
        of,
        {landmark::cancelled_while_waiting,
         landmark::cancelled_in_flight,
         landmark::cancelled_in_total_refused,
         landmark::cancelled_in_total_granted,
         landmark::woken_by_renewed_subscription,
         landmark::recovered}
    );
}

BOOST_AUTO_TEST_CASE(callers_cancel_while_requests_are_late) {
    scope of{.name = "cancellation and late requests"};
    of.late = full() ? 2 : 1;
    of.cancellations = true;
    of.quiet_from = full() ? 5 : slow_build ? 2 : 4;
    of.end = of.quiet_from + 8;
    expect_sound(
        of,
        {landmark::cancelled_in_flight,
         landmark::granted_after_unknown_attempt,
         landmark::attempt_timed_out}
    );
}

// Without lease ends and fall-backs, nothing but a notice can wake a waiter: none may be missed.
BOOST_AUTO_TEST_CASE(only_notices_wake_the_waiters_of_one_client_and_those_who_wake_may_leave) {
    scope of{.name = "two waiters and a holder, woken by notices alone"};
    of.acquisitions = {2, 1};
    of.lease = of.fallback = never;
    of.cancellations = true;
    of.losses = full() ? 1 : 0;
    of.last_start = 0;
    of.quiet_from = 1;
    of.end = 8;
    expect_sound(
        of,
        {landmark::woken_by_notice,
         landmark::wake_up_passed_on,
         landmark::cancelled_while_waiting,
         landmark::cancelled_in_flight}
    );
}

BOOST_AUTO_TEST_CASE(only_notices_wake_waiters_whose_connections_break) {
    scope of{.name = "waiters woken by notices alone, and a broken connection"};
    of.acquisitions = {full() ? 2 : 1, 1};
    of.lease = of.fallback = never;
    of.losses = 2;
    of.last_start = 1;
    of.quiet_from = 2;
    of.end = 10;
    expect_sound(of, {landmark::woken_by_notice, landmark::woken_by_renewed_subscription});
}

BOOST_AUTO_TEST_CASE(two_waiters_of_one_client_and_its_room) {
    scope of{.name = "two acquisitions of one client, alone"};
    of.acquisitions = {2, 0};
    of.cancellations = true;
    of.losses = of.late = 1;
    of.quiet_from = full() ? 4 : 2;
    of.end = of.quiet_from + 8;
    expect_sound(of, {landmark::wake_up_passed_on, landmark::granted_after_unknown_attempt});
}

BOOST_AUTO_TEST_CASE(one_client_asks_again_as_its_room_closes) {
    scope of{.name = "two acquisitions of one client, and one of another"};
    of.acquisitions = {2, 1};
    of.cancellations = full();
    of.linger = 0;
    of.last_start = full() ? 2 : 1;
    of.quiet_from = full() ? 2 : 1;
    of.end = 9;
    expect_sound(of, {landmark::subscribed_again_before_unsubscribed, landmark::woken_by_notice});
}

BOOST_AUTO_TEST_CASE(one_holder_renews_through_all_faults) {
    scope of{.name = "renewal, a holder alone"};
    of.acquisitions = {1, 0};
    of.lease = 6;
    of.renew_after = 2;
    of.losses = 2;
    of.late = full() ? 2 : 1;
    of.duplicates = full() ? 1 : 0;
    of.refusals = 1;
    of.flushes = full() ? 1 : 0;
    of.quiet_from = full() ? 9 : slow_build ? 6 : 7;
    of.end = of.quiet_from + 11;
    expect_sound(
        of,
        {landmark::renewed,
         landmark::doubted,
         landmark::recovered,
         landmark::lost_unreachable,
         landmark::told_of_loss,
         landmark::renewal_answered_after_release,
         landmark::late_renewal_answered_after_loss}
    );
}

BOOST_AUTO_TEST_CASE(a_holder_renews_while_another_waits) {
    scope of{.name = "renewal, a holder and a waiter"};
    of.lease = 6;
    of.renew_after = 2;
    of.losses = 1;
    of.late = full() ? 1 : 0;
    of.last_start = 1;
    of.quiet_from = full() ? 8 : slow_build ? 4 : 6;
    of.end = of.quiet_from + 11;
    expect_sound(of, {landmark::renewed, landmark::recovered, landmark::woken_by_notice});
}

BOOST_AUTO_TEST_CASE(answers_take_most_of_a_lease) {
    scope of{.name = "answers that take long"};
    of.request_timeout = 2;
    of.late = 1;
    of.cancellations = true;
    of.quiet_from = full() ? 6 : slow_build ? 3 : 4;
    of.end = of.quiet_from + 10;
    expect_sound(of, {landmark::late_grant_refused, landmark::lost_unreachable});
}

BOOST_AUTO_TEST_CASE(holders_strands_are_blocked_and_leases_are_not_renewed) {
    scope of{.name = "leases that are not renewed, holders' strands that are blocked"};
    of.renew = false;
    of.slack = 1;
    of.losses = 1;
    of.late = full() ? 1 : 0;
    of.quiet_from = full() ? 6 : 4;
    of.end = of.quiet_from + 8;
    expect_sound(of, {landmark::lost_expired, landmark::told_of_loss, landmark::recovered});
}

BOOST_AUTO_TEST_CASE(somebody_removes_the_key_by_hand) {
    scope of{.name = "a key removed by hand"};
    of.removals = 1;
    of.losses = full() ? 1 : 0;
    of.late = full() ? 1 : 0;
    of.quiet_from = full() ? 5 : slow_build ? 3 : 4;
    of.end = of.quiet_from + 8;
    expect_sound(of, {landmark::lost_not_ours, landmark::told_of_loss, landmark::woken_by_notice});
}

BOOST_AUTO_TEST_CASE(leases_are_renewed_up_to_a_limit) {
    scope of{.name = "max_hold"};
    of.max_hold = 3;
    of.losses = full() ? 1 : 0;
    of.late = 1;
    of.quiet_from = full() ? 5 : 4;
    of.end = of.quiet_from + 8;
    expect_sound(of, {landmark::lost_max_hold, landmark::told_of_loss});
}

BOOST_AUTO_TEST_CASE(try_acquire_makes_one_attempt) {
    scope of{.name = "one attempt"};
    of.one_attempt = true;
    of.crashes = full() ? 1 : 0;
    of.duplicates = full() ? 1 : 0;
    of.late = of.losses = 1;
    of.cancellations = true;
    of.quiet_from = full() ? 5 : slow_build ? 2 : 3;
    of.end = of.quiet_from + 8;
    expect_sound(
        of,
        {landmark::gave_up,
         landmark::cancelled_in_total_granted,
         landmark::cancelled_in_total_refused}
    );
}

BOOST_AUTO_TEST_CASE(try_acquire_for_gives_up_when_its_time_is_up) {
    scope of{.name = "limited time"};
    of.limit = 2;
    of.losses = full() ? 1 : 0;
    of.late = 1;
    of.quiet_from = full() ? 5 : 4;
    of.end = of.quiet_from + 8;
    expect_sound(of, {landmark::gave_up, landmark::attempt_timed_out});
}

BOOST_AUTO_TEST_CASE(the_server_refuses_and_forgets_scripts) {
    scope of{.name = "refusals and forgotten scripts"};
    of.refusals = of.flushes = 1;
    of.cancellations = true;
    of.quiet_from = full() ? 5 : slow_build ? 2 : 3;
    of.end = of.quiet_from + 8;
    expect_sound(of, {landmark::withdrawn_twice, landmark::release_repeated});
}

// The checks are able to fail: each defect of the model's server or drivers is found, and by the
// rule that it breaks.
BOOST_AUTO_TEST_CASE(every_defect_of_server_and_drivers_is_found) {
    scope base;
    base.last_start = 1;
    base.quiet_from = 4;

    auto one = base;
    one.acquisitions = {1, 0};
    auto two_waiters = base;
    two_waiters.acquisitions = {2, 0};
    two_waiters.cancellations = true;
    auto cancelled = base;
    cancelled.cancellations = true;
    auto breaks = one;
    breaks.losses = 1;
    auto breaks_and_cancelled = breaks;
    breaks_and_cancelled.cancellations = true;
    auto strays = breaks;
    strays.late = 1;
    auto slow = one;
    slow.request_timeout = 2;

    struct {
        sabotage defect;
        scope where;
        std::string_view rule;
    } const all[] = {
        {sabotage::renewal_creates, strays, "S9"},
        {sabotage::release_frees_any, cancelled, "S7"},
        {sabotage::acquire_counts, breaks_and_cancelled, "S10"},
        {sabotage::no_publish, base, "L2"},
        {sabotage::subscription_assumed, base, "L2"},
        {sabotage::departure_untold, two_waiters, "L2"},
        {sabotage::no_withdrawal, cancelled, "L6"},
        {sabotage::release_not_repeated, breaks, "L6"},
        {sabotage::keep_alive_not_woken, breaks, "L5"},
        {sabotage::renewal_unchecked, one, "S8"},
        {sabotage::no_sweep, base, "L6"},
        {sabotage::late_grant_believed, slow, "S2"},
    };
    for (auto const& each : all) {
        auto of = each.where;
        of.defect = each.defect;
        auto const result = explore(of);
        BOOST_TEST_CONTEXT("defect " << static_cast<int>(each.defect)) {
            BOOST_TEST_REQUIRE(result.found.has_value());
            BOOST_TEST(result.found->broken.rule == each.rule, to_text(*result.found));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
