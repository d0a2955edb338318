// When a grant ends that came without a request: never later than on the server.

#include "core/server_clock.hpp"

#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::detail::server_clock;
using holdfast::detail::time_point;

namespace {

constexpr time_point t0{1'000s};
constexpr std::uint64_t s0 = 1'700'000'000'000'000;  // µs
constexpr double drift = 0.01;

}  // namespace

BOOST_AUTO_TEST_SUITE(server_clock_test)

BOOST_AUTO_TEST_CASE(without_a_reply_nothing_is_known) {
    server_clock clock;
    BOOST_TEST(!clock.end_of(s0, 3s, drift, t0).has_value());
    clock.on_reply(t0, s0);
    BOOST_TEST(clock.end_of(s0 + 1'000, 3s, drift, t0 + 1ms).has_value());
    clock.reset();
    BOOST_TEST(!clock.end_of(s0 + 1'000, 3s, drift, t0 + 1ms).has_value());
}

// The request was sent at t0, so the server's time was read later than that.
BOOST_AUTO_TEST_CASE(the_end_is_counted_from_the_sending_less_drift_and_tolerance) {
    server_clock clock;
    clock.on_reply(t0, s0);
    auto const end = clock.end_of(s0 + 1'000'000, 3s, drift, t0 + 1s);
    BOOST_TEST((end == t0 + 1s + 3s - 40ms - 50ms));
}

BOOST_AUTO_TEST_CASE(a_message_that_was_on_its_way_for_long_does_not_make_it_later) {
    server_clock clock;
    clock.on_reply(t0, s0);
    auto const prompt = clock.end_of(s0 + 1'000'000, 3s, drift, t0 + 1s);
    auto const late = clock.end_of(s0 + 1'000'000, 3s, drift, t0 + 1049ms);
    BOOST_REQUIRE(late.has_value());
    BOOST_TEST((*late <= *prompt));
}

BOOST_AUTO_TEST_CASE(clocks_that_disagree_are_not_believed) {
    server_clock clock;
    clock.on_reply(t0, s0);
    // The server's clock was stepped forward, or back; or the message is late.
    BOOST_TEST(!clock.end_of(s0 + 1'051'000, 3s, drift, t0 + 1s).has_value());
    BOOST_TEST(!clock.end_of(s0 + 949'000, 3s, drift, t0 + 1s).has_value());
    BOOST_TEST(!clock.end_of(s0 + 1'000'000, 3s, drift, t0 + 1051ms).has_value());
    BOOST_TEST(!clock.end_of(0, 3s, drift, t0 + 1s).has_value());
    BOOST_TEST(!clock.end_of(~std::uint64_t{0}, 3s, drift, t0 + 1s).has_value());
    BOOST_TEST(clock.end_of(s0 + 1'049'000, 3s, drift, t0 + 1s).has_value());
}

BOOST_AUTO_TEST_CASE(knowledge_gets_old) {
    server_clock clock;
    clock.on_reply(t0, s0);
    BOOST_TEST(clock.end_of(s0 + 5'000'000, 3s, drift, t0 + 5s).has_value());
    BOOST_TEST(!clock.end_of(s0 + 5'001'000, 3s, drift, t0 + 5001ms).has_value());
    clock.on_reply(t0 + 4s, s0 + 4'000'000);
    BOOST_TEST(clock.end_of(s0 + 5'001'000, 3s, drift, t0 + 5001ms).has_value());
    clock.on_reply(t0, s0);  // an older one comes late
    BOOST_TEST(clock.end_of(s0 + 5'001'000, 3s, drift, t0 + 5001ms).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
