// Options: what is out of range is refused before anything is sent.

#include "support/one_server.hpp"

#include <boost/asio/io_context.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

using namespace holdfast::test;

namespace {

// No client can be made of these settings; the message names the member.
template <class Executor>
void check_refused(Executor& executor, holdfast::config const& settings, std::string_view member) {
    BOOST_CHECK_EXCEPTION(
        (holdfast::client{executor, settings}),
        std::invalid_argument,
        [&](auto const& e) { return std::string_view{e.what()}.find(member) != std::string::npos; }
    );
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_longest_lease_works_and_a_fraction_of_a_millisecond_is_dropped) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        acquire_options const day{.lease = 24h};
        auto lease = co_await client.lock("a").acquire(day);
        BOOST_TEST(probe.pttl("a") > 86'390'000);
        BOOST_TEST(probe.pttl("a") <= 86'400'000);
        co_await lease.release();
        acquire_options const odd{.lease = 20s + 999'999ns};
        auto second = co_await client.lock("a").acquire(odd);
        BOOST_TEST(probe.pttl("a") <= 20'000);
        co_await second.release();
    });
}

BOOST_AUTO_TEST_CASE(a_lease_out_of_range_in_the_configuration_is_refused) {
    asio::io_context context;
    for (std::chrono::milliseconds const lease :
         {0ms,
          -1ms,
          999ms,
          std::chrono::milliseconds{24h} + 1ms,
          std::chrono::milliseconds::max(),
          std::chrono::milliseconds::min()}) {
        holdfast::config settings;
        settings.lease = lease;
        check_refused(context, settings, "lease");
    }
    // Nothing was started.
    BOOST_TEST(context.run() == 0U);
}

BOOST_AUTO_TEST_CASE(
    a_time_to_wait_of_zero_is_one_try_a_negative_one_is_refused_and_the_longest_is_no_overflow
) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto lock = client.lock("a");
        auto const before = probe.lock_commands();
        for (std::chrono::nanoseconds const limit :
             {std::chrono::nanoseconds{-1}, std::chrono::nanoseconds::min()}) {
            auto [ec, none] = co_await lock.try_acquire_for(limit, as_result);
            BOOST_TEST((ec == errc::invalid_options), ec.message());
        }
        BOOST_TEST(probe.lock_commands() == before);
        BOOST_TEST(probe.keys().empty());

        auto free = co_await lock.try_acquire_for(0s);
        BOOST_TEST(free.valid());
        auto [ec, busy] = co_await lock.try_acquire_for(0s, as_result);
        BOOST_TEST(!ec);
        BOOST_TEST(!busy);
        BOOST_TEST(client.stats().refusals == 1U);
        BOOST_TEST(client.stats().waits == 0U);
        co_await free.release();
        auto longest = co_await lock.try_acquire_for(std::chrono::nanoseconds::max());
        BOOST_TEST(longest.valid());
        co_await longest.release();
        acquire_options const for_ever{.max_hold = std::chrono::nanoseconds::max()};
        auto bounded = co_await lock.acquire(for_ever);
        BOOST_TEST(bounded.valid());
        co_await bounded.release();
    });
}

BOOST_AUTO_TEST_CASE(no_waiter_above_the_limit_and_no_limit_of_zero) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.max_waiters = 0;
        check_refused(executor, settings, "max_waiters");
        settings.max_waiters = 1;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        auto lease = co_await client.lock("a").acquire();
        error_code first_error;
        client.lock("a").acquire([&](error_code ec, holdfast::lease) { first_error = ec; });
        co_await co_eventually(5s, [&] { return client.stats().waiters_now == 1; });
        auto [ec, none] = co_await client.lock("a").acquire(as_result);
        BOOST_TEST((ec == errc::too_many_waiters), ec.message());
        BOOST_TEST(holdfast::is_retryable(ec));
        // Another lock has a limit of its own.
        auto other = co_await client.lock("b").acquire();
        BOOST_TEST(other.valid());
        co_await other.release();
        co_await client.shutdown();
        co_await co_eventually(5s, [&] { return first_error.failed(); });
        BOOST_TEST((first_error == errc::client_stopped), first_error.message());
    });
}
