// Options: what is out of range is refused before anything is sent.

#include "support/one_server.hpp"

#include <boost/asio/io_context.hpp>

#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace holdfast::test;

namespace {

// An acquisition with these options ends with `expected`, and the server is never asked.
task options_refused_unsent(
    holdfast::lock lock,
    acquire_options options,
    errc expected,
    redis_probe& probe
) {
    auto const before = probe.lock_commands();
    auto [acquired, lease] = co_await lock.acquire(options, as_result);
    BOOST_TEST((acquired == expected), acquired.message());
    BOOST_TEST(!lease);
    auto [tried, lease_2] = co_await lock.try_acquire(options, as_result);
    BOOST_TEST((tried == expected), tried.message());
    auto [tried_for, lease_3] = co_await lock.try_acquire_for(1h, options, as_result);
    BOOST_TEST((tried_for == expected), tried_for.message());
    BOOST_TEST(probe.lock_commands() == before);
    BOOST_TEST(probe.keys().empty());
}

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

BOOST_AUTO_TEST_CASE(a_lease_out_of_range_is_refused) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        for (std::chrono::nanoseconds const lease :
             {std::chrono::nanoseconds{-1},
              std::chrono::nanoseconds{-30s},
              std::chrono::nanoseconds{1},
              std::chrono::nanoseconds{999'999},
              std::chrono::nanoseconds{999ms},
              std::chrono::nanoseconds{24h + 1ms},
              std::chrono::nanoseconds::max(),
              std::chrono::nanoseconds::min()}) {
            co_await options_refused_unsent(
                client.lock("a"),
                {.lease = lease},
                errc::invalid_lease,
                probe
            );
        }
    });
}

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

BOOST_AUTO_TEST_CASE(other_options_out_of_range_are_refused) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        for (double const part : {0.0, -1.0, 0.51, std::numeric_limits<double>::quiet_NaN()}) {
            co_await options_refused_unsent(
                client.lock("a"),
                {.renew_at = part},
                errc::invalid_options,
                probe
            );
        }
        for (std::chrono::nanoseconds const hold :
             {std::chrono::nanoseconds{-1}, std::chrono::nanoseconds{29s}}) {
            co_await options_refused_unsent(
                client.lock("a"),
                {.max_hold = hold},
                errc::invalid_options,
                probe
            );
        }
    });
}

BOOST_AUTO_TEST_CASE(a_lease_too_short_for_the_time_outs_is_refused) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.connect_timeout = 2s;
        settings.request_timeout = 2s;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        co_await client.ready();
        co_await options_refused_unsent(
            client.lock("a"),
            {.lease = 4s},
            errc::invalid_lease,
            probe
        );
        acquire_options const enough{.lease = 6s};
        auto lease = co_await client.lock("a").acquire(enough);
        BOOST_TEST(lease.valid());
        co_await lease.release();
        settings.lease = 4s;
        check_refused(executor, settings, "lease");
    });
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
