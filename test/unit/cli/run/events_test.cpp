// What happens to a command, one thing after the other.

#include "cli/run/events.hpp"

#include "support/run.hpp"

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <variant>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using namespace holdfast::cli;
using holdfast::lease_clock;
using holdfast::test::run_with_deadline;

BOOST_AUTO_TEST_SUITE(cli_run_events_test)

BOOST_AUTO_TEST_CASE(events_come_in_their_order) {
    run_with_deadline([](asio::any_io_executor executor) -> asio::awaitable<void> {
        run_events events{executor};
        events.put(got_signal{7});
        events.put(answered{});
        auto const first = co_await events.next();
        auto const second = co_await events.next();
        BOOST_TEST(std::get<got_signal>(first).number == 7);
        BOOST_TEST(std::holds_alternative<answered>(second));
        asio::post(executor, [&] { events.put(lease_lost{}); });
        auto const third = co_await events.next();
        BOOST_TEST(std::holds_alternative<lease_lost>(third));
    });
}

BOOST_AUTO_TEST_CASE(the_earliest_look_counts) {
    run_with_deadline([](asio::any_io_executor executor) -> asio::awaitable<void> {
        run_events events{executor};
        auto const begin = lease_clock::now();
        events.look_at(begin + 1h);
        events.look_at(begin + 10ms);
        events.look_at(begin + 2h);
        auto const look = co_await events.next();
        BOOST_TEST(std::holds_alternative<look_due>(look));
        BOOST_TEST((lease_clock::now() >= begin + 10ms));
        // A new one can be asked for then.
        events.look_at(lease_clock::now() + 1ms);
        auto const again = co_await events.next();
        BOOST_TEST(std::holds_alternative<look_due>(again));
    });
}

BOOST_AUTO_TEST_SUITE_END()
