// The server forgets the scripts that it was given.

#include "protocol/scripts.hpp"
#include "support/one_server.hpp"
#include "support/tcp_proxy.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>

using namespace holdfast::test;

BOOST_AUTO_TEST_CASE(script_flush_costs_one_more_round_trip) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await warm_up(client);
        auto const commands = [&] { return client.stats().commands; };

        auto before = commands();
        probe.script_flush();
        auto held = co_await client.lock("a").acquire();
        BOOST_TEST(commands() == before + 2);

        // Asked for by hand, so that nothing else is sent.
        before = commands();
        probe.script_flush();
        error_code ec;
        co_await held.renew(asio::redirect_error(asio::use_awaitable, ec));
        BOOST_TEST(!ec);
        BOOST_TEST(commands() == before + 2);

        before = commands();
        probe.script_flush();
        auto const info = co_await client.lock("a").inspect();
        BOOST_TEST(info.held);
        BOOST_TEST(commands() == before + 2);

        before = commands();
        probe.script_flush();
        BOOST_TEST(!co_await release(held));
        BOOST_TEST(commands() == before + 2);
        BOOST_TEST(!probe.exists("a"));

        before = commands();
        probe.script_flush();
        BOOST_TEST(!co_await client.lock("a").force_release());
        BOOST_TEST(commands() == before + 2);
        BOOST_TEST(client.stats().reconnects == 0U);
    });
}

// Each of many requests is told that the script is unknown. Only one of them takes the text there.
BOOST_AUTO_TEST_CASE(many_requests_at_once_send_a_script_once) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        constexpr std::size_t many = 1'000;
        co_await warm_up(client);
        std::vector<holdfast::lease> held;
        for (std::size_t i = 0; i < many; ++i) {
            held.push_back(co_await client.lock("order:{}", i).acquire());
        }
        probe.script_flush();
        probe.cmd("CONFIG", "RESETSTAT");
        std::size_t freed = 0;
        for (auto& one : held) {
            one.release([&](error_code ec) { freed += !ec; });
        }
        BOOST_TEST(co_await co_eventually(30s, [&] { return freed == many; }));
        auto const texts = probe.info("commandstats")["cmdstat_eval"];
        BOOST_TEST(texts.starts_with("calls=1,"), texts);
    });
}

// Such as a proxy that sends each request to another server.
BOOST_AUTO_TEST_CASE(a_request_ends_also_if_its_script_is_never_known) {
    with_proxy([](redis_server&, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(proxy.url());
        settings.request_timeout = 500ms;
        holdfast::client client{executor, settings};
        co_await client.ready();
        co_await warm_up(client);
        proxy.edit_replies([](std::string reply) {
            return reply.starts_with('$') ? "-NOSCRIPT No matching script.\r\n" : reply;
        });
        bool ended = false;
        client.lock("a").try_acquire([&](error_code ec, holdfast::lease held) {
            BOOST_TEST(ec.failed());
            BOOST_TEST(!held);
            ended = true;
        });
        BOOST_TEST(co_await co_eventually(20s, [&] { return ended; }));
        proxy.edit_replies({});
        auto held = co_await client.lock("b").acquire();
        BOOST_TEST(!co_await release(held));
    });
}

// The server knows the script of the release and not the other: the withdrawal is executed, and the
// attempt would be sent again behind it.
BOOST_AUTO_TEST_CASE(an_attempt_is_not_sent_again_behind_its_withdrawal) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        co_await client.ready();
        co_await warm_up(client);
        for (int i = 0; i < 20; ++i) {
            probe.script_flush();
            probe.command(
                {"SCRIPT", "LOAD", std::string{holdfast::detail::scripts::lock_release.text}}
            );
            asio::cancellation_signal signal;
            error_code ec;
            bool done = false;
            auto const attempts = client.stats().attempts;
            client.lock("a").acquire(asio::bind_cancellation_slot(
                signal.slot(),
                [&](error_code result, holdfast::lease) {
                    ec = result;
                    done = true;
                }
            ));
            while (client.stats().attempts == attempts) {
                co_await asio::post(executor, asio::use_awaitable);
            }
            signal.emit(asio::cancellation_type::terminal);
            BOOST_TEST(co_await co_eventually(5s, [&] { return done; }));
            BOOST_TEST(ec == asio::error::operation_aborted);
            BOOST_TEST(co_await co_eventually(5s, [&] { return client.stats().withdrawals > 0; }));
            co_await sleep_for(20ms);
            BOOST_TEST(co_await co_eventually(5s, [&] { return !probe.exists("a"); }));
        }
    });
}

BOOST_AUTO_TEST_CASE(script_flush_comes_at_any_moment) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(server.url(), 1500ms)};
        holdfast::client other{executor, short_leases(server.url(), 1500ms)};
        auto probe = server.probe();
        auto held = co_await client.lock("held").acquire();
        auto const lost = watch(held);
        bool flushing = true;
        auto const flush = [&]() -> task {
            while (flushing) {
                probe.script_flush();
                co_await sleep_for(1ms);
            }
        };
        bool flushed = false;
        asio::co_spawn(executor, flush(), [&flushed](std::exception_ptr) { flushed = true; });

        std::uint64_t newest = 0;
        for (int pair = 0; pair < 300; ++pair) {
            auto mine = co_await client.lock("a").acquire();
            auto const next = start_acquire(other.lock("a"), {}, &mine);
            BOOST_TEST(mine.token().value > newest);
            co_await sleep_for(2ms);
            BOOST_TEST(!co_await release(mine));
            BOOST_REQUIRE(co_await co_eventually(5s, [&] { return next->done; }));
            BOOST_TEST(!next->error);
            BOOST_TEST(!next->rival_was_valid);
            newest = next->held.token().value;
            BOOST_TEST(!co_await release(next->held));
        }
        co_await sleep_for(1500ms);
        flushing = false;
        BOOST_TEST(co_await co_eventually(5s, [&] { return flushed; }));
        BOOST_TEST((held.state() == lease_state::held));
        BOOST_TEST(!lost->told);
        BOOST_TEST(client.stats().renewals >= 2U);
        BOOST_TEST(client.stats().failed_renewals == 0U);
        BOOST_TEST(client.stats().reconnects == 0U);
        BOOST_TEST(!probe.exists("a"));
    });
}
