// The server is stopped for longer than the leases that it has given, and goes on.

#include "support/one_server.hpp"

#include <boost/asio/redirect_error.hpp>

#include <string>

using namespace holdfast::test;

namespace {

constexpr auto lease = 2s;

}  // namespace

BOOST_AUTO_TEST_CASE(the_server_stops_for_two_leases_and_goes_on) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(server.url(), lease)};
        holdfast::client other{executor, short_leases(server.url(), lease)};
        auto held = co_await client.lock("a").acquire();
        auto const lost = watch(held);
        auto const waiting = start_acquire(other.lock("a"), {}, &held);
        co_await sleep_for(300ms);

        server.pause();
        auto const again = start_acquire(client.lock("a"), {}, &held);
        auto const unheard = start_acquire(client.lock("b"));
        co_await sleep_for(2 * lease);
        BOOST_TEST(lost->told);
        BOOST_TEST((lost->reason == loss_reason::unreachable));
        BOOST_TEST((lost->at < held.deadline()));
        BOOST_TEST(!held.valid());
        BOOST_TEST(!waiting->done);
        BOOST_TEST(!again->done);
        BOOST_TEST(!unheard->done);
        BOOST_TEST((co_await release(held) == errc::lease_lost));
        server.resume();

        // Both waiters get it, one after the other.
        auto const one = [&] { return waiting->done || again->done; };
        BOOST_REQUIRE(co_await co_eventually(lease + 1s, one));
        for (int look = 0; look < 100; ++look) {
            BOOST_REQUIRE(!(waiting->held.valid() && again->held.valid()));
            co_await sleep_for(5ms);
        }
        auto& first = waiting->done ? *waiting : *again;
        auto& second = waiting->done ? *again : *waiting;
        BOOST_TEST(first.held.valid());
        BOOST_TEST(!first.rival_was_valid);
        BOOST_TEST(!second.done);
        auto const token = first.held.token().value;
        BOOST_TEST(token > held.token().value);
        BOOST_TEST(!co_await release(first.held));
        BOOST_REQUIRE(co_await co_eventually(2s, [&] { return second.done; }));
        BOOST_TEST(second.held.valid());
        BOOST_TEST(second.held.token().value > token);
        BOOST_TEST(!co_await release(second.held));
        BOOST_REQUIRE(co_await co_eventually(2s, [&] { return unheard->done; }));
        BOOST_TEST(unheard->held.valid());
        BOOST_TEST(!co_await release(unheard->held));

        // What was sent before the stop has been carried out by now, or never will be.
        auto probe = server.probe();
        BOOST_TEST(co_await co_eventually(lease, [&] { return probe.lock_keys().empty(); }));
        co_await sleep_for(300ms);
        BOOST_TEST(probe.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(the_client_is_gone_when_the_server_goes_on) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        {
            auto settings = short_leases(server.url(), lease);
            settings.shutdown_timeout = 300ms;
            holdfast::client client{executor, settings};
            auto held = co_await client.lock("a").acquire();
            co_await warm_up(client);
            server.pause();
            auto const late = start_acquire(client.lock("b"));
            co_await sleep_for(100ms);
            error_code ec;
            co_await client.shutdown(asio::redirect_error(asio::use_awaitable, ec));
            BOOST_TEST((ec == errc::release_unknown));
            BOOST_TEST(late->done);
            BOOST_TEST((late->error == errc::client_stopped));
            BOOST_TEST(!held.valid());
            BOOST_TEST((held.loss() == loss_reason::client_stopped));
            co_await sleep_for(2 * lease);
        }
        server.resume();
        auto probe = server.probe();
        BOOST_TEST(co_await co_eventually(lease + 500ms, [&] { return probe.lock_keys().empty(); })
        );
        co_await sleep_for(300ms);
        BOOST_TEST(probe.lock_keys().empty());
    });
}
