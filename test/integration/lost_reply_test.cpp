// A request or its answer is lost, and the server may have done it or not: what becomes of it when
// the caller gives up. (Each message that may be lost: chaos/wire.)

#include "support/one_server.hpp"
#include "support/tcp_proxy.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <functional>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

// What only that script's command has in it, for the lock "a".
constexpr auto acquire_of_a = "redisson_lock_token:{a}";
constexpr auto release_of_a = "redisson_lock__channel:{a}";

// Replies are counted: the health check must not send any, and nothing is renewed.
holdfast::config quiet(std::string const& url) {
    auto settings = short_leases(url, 3s);
    settings.health_check_interval = 60s;
    settings.reconnect_max = 200ms;
    return settings;
}

// One holder, who has acquired once, an expiry, and one release that frees the lock.
task check_granted_once(holdfast::lease& held, redis_probe& probe, std::string const& name) {
    BOOST_TEST(held.valid());
    auto const fields = probe.hgetall(name);
    BOOST_TEST(fields.size() == 1U);
    BOOST_TEST((fields.empty() || fields.begin()->second == "1"));
    BOOST_TEST(probe.pttl(name) > 0);
    BOOST_TEST(probe.pttl(name) <= 3000);
    BOOST_TEST(
        std::to_string(held.token().value) ==
        probe.get("redisson_lock_token:{" + name + "}").value_or("")
    );
    BOOST_TEST(!co_await release(held));
    BOOST_TEST(!probe.exists(name));
}

// The first command with this text in it, as it left the client; no word of it has a space.
std::vector<std::string> words_sent(tcp_proxy const& proxy, std::string const& text) {
    for (auto const& command : proxy.commands()) {
        if (command.find(text) != std::string::npos) {
            std::istringstream words{command};
            return {std::istream_iterator<std::string>{words}, {}};
        }
    }
    return {};
}

// A cancelled attempt that the server carried out must be gone long before its lease has ended.
task check_gone(redis_probe& probe) {
    BOOST_TEST(co_await co_eventually(1500ms, [&] { return !probe.exists("a"); }));
    co_await sleep_for(200ms);
    BOOST_TEST(!probe.exists("a"));
}

// The attempt that meets the fault is repeated.
task check_repeated(
    holdfast::client& client,
    tcp_proxy& proxy,
    redis_probe& probe,
    command_fault fault
) {
    proxy.when_client_sends(acquire_of_a, fault);
    auto held = co_await client.lock("a").acquire();
    BOOST_TEST(proxy.pending_faults() == 0U);
    BOOST_TEST(client.stats().attempts >= 3U);
    co_await check_granted_once(held, probe, "a");
}

// Runs `body` with a client that knows the scripts, once for each fault.
using faulty_body = std::function<task(holdfast::client&, tcp_proxy&, redis_probe&, command_fault)>;
void for_each_fault(std::vector<command_fault> const& faults, faulty_body const& body) {
    with_proxy([&](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        auto probe = server.probe();
        for (auto const fault : faults) {
            holdfast::client client{executor, quiet(proxy.url())};
            co_await warm_up(client);
            co_await body(client, proxy, probe, fault);
        }
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_reply_is_lost_and_the_caller_gives_up) {
    for_each_fault(
        {command_fault::lose_reply, command_fault::drop_replies},
        [](holdfast::client& client, tcp_proxy& proxy, redis_probe& probe, command_fault fault
        ) -> task {
            // In order: withdrawn on the same connection, and on the next one.
            proxy.when_client_sends(acquire_of_a, fault);
            auto const start = lease_clock::now();
            auto [ec, held] =
                co_await client.lock("a").acquire(asio::cancel_after(100ms, as_result));
            BOOST_TEST(((lease_clock::now() - start) < 450ms));  // before the request's time-out
            BOOST_TEST((ec == asio::error::operation_aborted));
            BOOST_TEST(!held);
            BOOST_TEST(client.stats().withdrawals == 1U);
            co_await check_gone(probe);
            BOOST_TEST(client.stats().waiters_now == 0U);
            BOOST_TEST(client.stats().leases_now == 0U);
        }
    );
}

BOOST_AUTO_TEST_CASE(the_reply_is_lost_the_connection_closed_and_the_caller_gives_up) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        auto probe = server.probe();
        holdfast::client client{executor, quiet(proxy.url())};
        co_await warm_up(client);
        proxy.when_client_sends(acquire_of_a, command_fault::lose_reply_and_cut);
        proxy.refuse_new(true);
        asio::cancellation_signal enough;
        std::optional<error_code> told;
        client.lock("a").acquire(asio::bind_cancellation_slot(
            enough.slot(),
            [&](error_code ec, holdfast::lease held) {
                told = ec;
                BOOST_TEST(!held);
            }
        ));
        BOOST_REQUIRE(co_await co_eventually(2s, [&] { return probe.exists("a"); }));
        enough.emit(asio::cancellation_type::terminal);
        BOOST_REQUIRE(co_await co_eventually(1s, [&] { return told.has_value(); }));
        BOOST_TEST((told == asio::error::operation_aborted));
        proxy.refuse_new(false);
        co_await check_gone(probe);
    });
}

BOOST_AUTO_TEST_CASE(the_request_is_lost_before_the_server) {
    for_each_fault(
        {command_fault::cut_before, command_fault::lose},
        [](holdfast::client& client, tcp_proxy& proxy, redis_probe& probe, command_fault fault
        ) -> task {
            co_await check_repeated(client, proxy, probe, fault);
            auto held = co_await client.lock("a").acquire();
            proxy.when_client_sends(release_of_a, fault);
            auto const ec = co_await release(held);
            BOOST_TEST((!ec || ec == errc::release_unknown));
            BOOST_TEST((!ec || fault == command_fault::lose));
            co_await check_gone(probe);
        }
    );
}

BOOST_AUTO_TEST_CASE(the_request_is_carried_out_after_the_client_gave_up) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto probe = server.probe();
        holdfast::client client{executor, quiet(server.url())};
        holdfast::client other{executor, quiet(server.url())};
        co_await warm_up(client);
        co_await warm_up(other);
        // In order: withdrawn on the connection that carried the attempt, and after that connection
        // was given up.
        for (auto const pause : {300ms, 2500ms}) {
            server.pause();
            auto [ec, held] =
                co_await client.lock("a").acquire(asio::cancel_after(100ms, as_result));
            BOOST_TEST((ec == asio::error::operation_aborted));
            BOOST_TEST(!held);
            co_await sleep_for(pause);
            auto const waiting = start_acquire(other.lock("a"));
            server.resume();
            BOOST_REQUIRE(co_await co_eventually(3s + 1s, [&] { return waiting->done; }));
            BOOST_TEST(waiting->held.valid());
            co_await check_granted_once(waiting->held, probe, "a");
            co_await check_gone(probe);
        }
    });
}

BOOST_AUTO_TEST_CASE(the_request_is_carried_out_after_its_withdrawal) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        auto probe = server.probe();
        holdfast::client client{executor, quiet(proxy.url())};
        co_await warm_up(client);
        proxy.when_client_sends(acquire_of_a, command_fault::lose);
        auto [ec, held] = co_await client.lock("a").acquire(asio::cancel_after(100ms, as_result));
        BOOST_TEST((ec == asio::error::operation_aborted));
        co_await client.shutdown();
        BOOST_TEST(proxy.commands_with(release_of_a) >= 1U);
        BOOST_TEST(!probe.exists("a"));

        // The network delivers it now.
        BOOST_TEST(
            probe.command(words_sent(proxy, acquire_of_a)).as_string().find(" 1 ") !=
            std::string::npos
        );
        auto const late = lease_clock::now();
        BOOST_TEST(probe.pttl("a") > 0);
        BOOST_TEST(probe.pttl("a") <= 3000);
        // Nobody renews it: the lock is free after one lease.
        holdfast::client other{executor, quiet(server.url())};
        auto busy = co_await other.lock("a").try_acquire();
        BOOST_TEST(!busy);
        auto next = co_await other.lock("a").acquire();
        BOOST_TEST(((lease_clock::now() - late) < 3s + 1s));
        co_await check_granted_once(next, probe, "a");
    });
}
