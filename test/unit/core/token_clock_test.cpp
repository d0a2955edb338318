// What the tokens of a connection tell about the server's clock.

#include "core/token_clock.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>

using namespace std::chrono_literals;
using holdfast::detail::time_point;
using holdfast::detail::token_clock;

namespace {

constexpr std::uint64_t greatest = 9'007'199'254'740'991;
constexpr std::uint64_t server_time = 1'790'000'000'000'000;
constexpr time_point start{1h};

}  // namespace

BOOST_AUTO_TEST_SUITE(token_clock_test)

BOOST_AUTO_TEST_CASE(no_counter_is_trusted_before_the_first_grant_of_a_connection) {
    token_clock clock;
    BOOST_TEST(!clock.has_granted());
    BOOST_TEST(clock.floor(start).value == greatest);
    clock.on_granted({server_time}, start, start);
    BOOST_TEST(clock.has_granted());
    BOOST_TEST(clock.floor(start).value < greatest);
    clock.reset();
    BOOST_TEST(!clock.has_granted());
    BOOST_TEST(clock.floor(start).value == greatest);
}

// A client that is handed each lock by another is not granted any by the server.
BOOST_AUTO_TEST_CASE(tokens_that_are_taken_for_a_lock_tell_of_the_clock_too) {
    token_clock clock;
    clock.on_taken({server_time}, start, start);
    BOOST_TEST(!clock.has_granted());
    BOOST_TEST(clock.floor(start + 1s).value == server_time + 900'000);
    clock.reset();
    BOOST_TEST(clock.floor(start).value == greatest);
}

BOOST_AUTO_TEST_CASE(the_floor_is_a_moment_behind_the_servers_time) {
    token_clock clock;
    clock.on_granted({server_time}, start, start);
    BOOST_TEST(clock.floor(start + 1s).value == server_time + 900'000);
}

BOOST_AUTO_TEST_CASE(a_server_that_was_not_heard_of_for_a_second_is_not_trusted) {
    token_clock clock;
    clock.on_granted({server_time}, start, start);
    BOOST_TEST(clock.floor(start + 1001ms).value == greatest);
    // One that is behind shows that it is there, too.
    clock.on_granted({1}, start + 900ms, start + 900ms);
    BOOST_TEST(clock.floor(start + 1900ms).value == server_time + 1'800'000);
    BOOST_TEST(clock.floor(start + 1901ms).value == greatest);
}

// An older counter may be that of another server.
BOOST_AUTO_TEST_CASE(the_floor_is_never_below_the_first_token_of_the_connection) {
    token_clock clock;
    clock.on_granted({server_time}, start, start);
    BOOST_TEST(clock.floor(start).value == server_time);
    BOOST_TEST(clock.floor(start - 1s).value == server_time);
    BOOST_TEST(clock.floor(start + 99ms).value == server_time);
    BOOST_TEST(clock.floor(start + 101ms).value == server_time + 1'000);
}

BOOST_AUTO_TEST_CASE(a_token_that_is_behind_changes_nothing) {
    token_clock clock;
    clock.on_granted({server_time}, start, start);
    clock.on_granted({server_time + 1}, start + 1s, start + 1s);
    clock.on_granted({1}, start + 1s, start + 1s);
    BOOST_TEST(clock.floor(start + 1s).value == server_time + 900'000);
}

// The reply to the first grant took long, or the server's clock was put forward.
BOOST_AUTO_TEST_CASE(a_token_that_is_ahead_raises_the_floor) {
    token_clock clock;
    clock.on_granted({server_time}, start, start);
    clock.on_granted({server_time + 1'500'000}, start + 1s, start + 1s);
    BOOST_TEST(clock.floor(start + 1s).value == server_time + 1'400'000);
    BOOST_TEST(clock.floor(start + 2s).value == server_time + 2'400'000);
}

// They may have been written elsewhere a moment ago, and lack the last tokens.
BOOST_AUTO_TEST_CASE(counters_of_keys_that_were_added_are_not_trusted) {
    token_clock clock;
    clock.on_granted({server_time}, start, start);
    clock.on_keys_added(start + 1ms);
    BOOST_TEST(clock.floor(start + 1ms).value == greatest);
    BOOST_TEST(clock.has_granted());
    // This one may be one more than a counter of this server's own, of a moment ago.
    clock.on_taken({server_time + 500}, start + 1ms, start + 2ms);
    BOOST_TEST(clock.floor(start + 2ms).value == greatest);
    clock.on_taken({server_time + 3'000}, start + 2ms, start + 3ms);
    BOOST_TEST(clock.floor(start + 3ms).value == server_time + 3'000);
}

BOOST_AUTO_TEST_CASE(small_and_great_tokens_make_no_harm) {
    token_clock small;
    small.on_granted({1}, start, start);
    BOOST_TEST(small.floor(start).value == 1U);
    BOOST_TEST(small.floor(start + 100ms).value == 1U);
    BOOST_TEST(small.floor(start + 200ms).value == 100'001U);
    token_clock great;
    great.on_granted({greatest}, start, start);
    BOOST_TEST(great.floor(start).value == greatest);
    BOOST_TEST(great.floor(start + 1h).value == greatest);
}

BOOST_AUTO_TEST_SUITE_END()
