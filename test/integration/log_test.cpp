// What a client says in its log: enough to find out why nothing works, and not the same thing over
// and over.

#include "support/certificates.hpp"
#include "support/free_port.hpp"
#include "support/one_server.hpp"

#include <string>

using namespace holdfast::test;

namespace {

std::size_t alarms(log_lines const& log, std::string_view text = {}) {
    return log.count(log_level::warning, text) + log.count(log_level::error, text);
}

// The first failure is told at once, later ones with growing pauses.
task check_told_with_growing_pauses(log_lines const& log, std::string_view text) {
    BOOST_TEST(co_await co_eventually(2s, [&] { return alarms(log, text) >= 1; }));
    co_await sleep_for(5s);
    BOOST_TEST(alarms(log) <= 4U, log.all());
}

holdfast::config logging(holdfast::config settings, log_lines const& log) {
    settings.log = log.sink();
    settings.reconnect_max = 200ms;
    settings.shutdown_timeout = 300ms;
    return settings;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_is_a_warning_at_once_and_then_less_and_less) {
    log_lines log;
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        auto const url = "redis://127.0.0.1:" + std::to_string(free_tcp_port());
        holdfast::client client{executor, logging(holdfast::parse_url(url), log)};
        auto const waiting = start_acquire(client.lock("a"));
        co_await check_told_with_growing_pauses(log, "refused");
        BOOST_TEST(!waiting->done);
    });
}

BOOST_AUTO_TEST_CASE(
    a_certificate_that_is_refused_is_a_warning_at_once_and_then_less_and_less,
    *needs_tls()
) {
    log_lines log;
    with_server(
        {.tls = certificate_options{}},
        [&](redis_server& server, asio::any_io_executor executor) -> task {
            // The system's authorities do not know it.
            holdfast::client client{executor, logging(holdfast::parse_url(server.tls_url()), log)};
            co_await check_told_with_growing_pauses(log, "certificate");
        }
    );
}

BOOST_AUTO_TEST_CASE(a_replica_is_told_of_once_and_then_less_and_less) {
    log_lines log;
    with_server(
        {.extra = {"replicaof 127.0.0.1 1"}},
        [&](redis_server& server, asio::any_io_executor executor) -> task {
            holdfast::client client{executor, logging(holdfast::parse_url(server.url()), log)};
            auto const waiting = start_acquire(client.lock("a"));
            co_await check_told_with_growing_pauses(log, "replica");
            BOOST_TEST(!waiting->done);
        }
    );
}

// After a success the next failure is reported at once again.
BOOST_AUTO_TEST_CASE(each_outage_is_told_of) {
    log_lines log;
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, logging(holdfast::parse_url(server.url()), log)};
        for (std::size_t outage = 1; outage <= 3; ++outage) {
            co_await client.ready();
            auto const before = alarms(log);
            server.kill();
            BOOST_TEST(co_await co_eventually(2s, [&] { return alarms(log) > before; }));
            auto const reconnects = client.stats().reconnects;
            co_await run_aside([&] { server.restart(false); });
            auto const again = [&] { return client.stats().reconnects >= reconnects + 2; };
            BOOST_REQUIRE(co_await co_eventually(5s, again));
        }
    });
}

// A lock that is waited for by who has it: a second acquire in one coroutine, or two coroutines
// that take two locks in opposite orders.
BOOST_AUTO_TEST_CASE(a_long_wait_for_a_lock_that_this_client_holds_is_a_warning) {
    log_lines log;
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = logging(holdfast::parse_url(server.url()), log);
        settings.lease = 1s;
        holdfast::client client{executor, settings};
        auto const held = co_await client.lock("bitten-tail").acquire();
        auto const waiting = start_acquire(client.lock("bitten-tail"));
        auto const told = [&] { return log.count(log_level::warning, "bitten-tail") >= 1; };
        BOOST_TEST(co_await co_eventually(10s, told));
        co_await sleep_for(3s);
        BOOST_TEST(log.count(log_level::warning, "bitten-tail") <= 3U, log.all());
        BOOST_TEST(!waiting->done);
    });
}

BOOST_AUTO_TEST_CASE(a_short_wait_or_one_for_somebody_elses_lock_is_no_warning) {
    log_lines log;
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = logging(holdfast::parse_url(server.url()), log);
        settings.lease = 6s;
        holdfast::client client{executor, settings};
        holdfast::client other{executor, server.url()};
        auto theirs = co_await other.lock("theirs").acquire();
        auto const waiting = start_acquire(client.lock("theirs"));
        for (int i = 0; i < 60; ++i) {
            auto held = co_await client.lock("ours").acquire();
            auto const next = start_acquire(client.lock("ours"));
            co_await sleep_for(50ms);
            BOOST_TEST(!co_await release(held));
            BOOST_TEST(co_await co_eventually(2s, [&] { return next->done; }));
            BOOST_TEST(!co_await release(next->held));
        }
        BOOST_TEST(!co_await release(theirs));
        BOOST_TEST(alarms(log) == 0U, log.all());
    });
}
