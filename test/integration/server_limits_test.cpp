// A server that is out of memory, or that throws keys away.

#include "support/log_lines.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using boost::system::error_code;
using holdfast::errc;
using holdfast::test::co_eventually;
using holdfast::test::log_lines;
using holdfast::test::redis_server;
using holdfast::test::run_with_deadline;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

void fill_memory(redis_server const& server) {
    server.probe().cmd("CONFIG", "SET", "maxmemory", 1);
}

void free_memory(redis_server const& server) {
    server.probe().cmd("CONFIG", "SET", "maxmemory", 0);
}

// An acquisition that must wait while the memory is full, write nothing, and then be granted.
asio::awaitable<void> acquire_on_full_server(redis_server const& server, holdfast::client& client) {
    auto probe = server.probe();
    auto const before = probe.keys();
    auto const refused = client.stats().attempts;
    fill_memory(server);

    auto [ec, none] = co_await client.lock("a").try_acquire(as_result);
    BOOST_TEST((ec == errc::server_refused));
    BOOST_TEST(holdfast::is_retryable(ec));
    auto [timed_out, nothing] = co_await client.lock("a").try_acquire_for(200ms, as_result);
    BOOST_TEST((timed_out == errc::server_refused));

    holdfast::lease lease;
    client.lock("a").acquire([&](error_code result, holdfast::lease granted) {
        BOOST_TEST(!result, result.message());
        lease = std::move(granted);
    });
    co_await holdfast::test::sleep_for(600ms);
    BOOST_TEST(!lease);
    BOOST_TEST(probe.keys() == before);
    auto const attempts = client.stats().attempts - refused;
    BOOST_TEST(attempts >= 3U);
    BOOST_TEST(attempts < 60U);  // no spinning

    free_memory(server);
    BOOST_TEST(co_await co_eventually(5s, [&] { return bool(lease); }));
    BOOST_TEST(probe.pttl("a") > 0);
    co_await lease.release();
}

}  // namespace

BOOST_AUTO_TEST_CASE(fault_38_the_first_acquire_of_a_connection_waits_for_memory) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, server.url()};
        co_await client.ready();
        co_await acquire_on_full_server(server, client);
    });
}

BOOST_AUTO_TEST_CASE(fault_38_a_later_acquire_waits_for_memory) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, server.url()};
        auto lease = co_await client.lock("a").acquire();
        auto const token = lease.token();
        co_await lease.release();
        co_await acquire_on_full_server(server, client);
        // The refused attempts have not used up tokens.
        BOOST_TEST(
            server.probe().get("redisson_lock_token:{a}").value() == std::to_string(token.value + 1)
        );
    });
}

BOOST_AUTO_TEST_CASE(fault_38_a_client_that_starts_while_memory_is_full_is_granted_later) {
    redis_server server;
    fill_memory(server);
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, server.url()};
        co_await acquire_on_full_server(server, client);
    });
}

BOOST_AUTO_TEST_CASE(fault_39_renewal_and_release_need_no_memory) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, server.url()};
        auto lease = co_await client.lock("a").acquire({.lease = 1500ms});
        auto listener = server.probe();
        listener.subscribe("redisson_lock__channel:{a}");
        fill_memory(server);
        co_await lease.renew();
        co_await holdfast::test::sleep_for(2500ms);
        BOOST_TEST((lease.state() == holdfast::lease_state::held));
        BOOST_TEST(client.stats().renewals >= 3U);
        BOOST_TEST(client.stats().failed_renewals == 0U);

        auto [ec] = co_await lease.release(as_result);
        BOOST_TEST(!ec, ec.message());
        BOOST_TEST(!server.probe().exists("a"));
        BOOST_TEST(listener.next_message(1s).has_value());
    });
}

BOOST_AUTO_TEST_CASE(fault_40_a_server_that_evicts_keys_is_warned_of) {
    for (auto const* policy : {"allkeys-lru", "volatile-ttl", "volatile-lru", "noeviction"}) {
        redis_server server{
            {.extra = {"maxmemory 100mb", std::string{"maxmemory-policy "} + policy}}
        };
        log_lines log;
        run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
            auto settings = holdfast::parse_url(server.url());
            settings.log = log.sink();
            holdfast::client client{executor, settings};
            co_await client.ready();
        });
        bool const evicts = std::string_view{policy} != "noeviction";
        BOOST_TEST(
            log.count(holdfast::log_level::warning, "maxmemory-policy noeviction") ==
                (evicts ? 1U : 0U),
            policy
        );
    }
}

BOOST_AUTO_TEST_CASE(fault_40_an_unlimited_server_is_not_warned_of) {
    redis_server server{{.extra = {"maxmemory-policy allkeys-lru"}}};
    log_lines log;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto settings = holdfast::parse_url(server.url());
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        co_await client.ready();
    });
    BOOST_TEST(log.count("maxmemory-policy") == 0U);
}

BOOST_AUTO_TEST_CASE(fault_40_a_holder_whose_key_is_evicted_is_told_at_the_next_renewal) {
    redis_server server{{.extra = {"maxmemory-policy volatile-ttl"}}};
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, server.url()};
        auto lease = co_await client.lock("a").acquire({.lease = 3s});
        fill_memory(server);
        // Redis evicts when a command comes.
        auto probe = server.probe();
        BOOST_TEST(co_await co_eventually(1s, [&] { return !probe.exists("a"); }));
        auto const evicted = std::chrono::steady_clock::now();
        auto [ec, reason] = co_await lease.wait_lost(as_result);
        BOOST_TEST(!ec);
        BOOST_TEST((reason == holdfast::loss_reason::deleted));
        // Renewed after a third of the lease.
        BOOST_TEST((std::chrono::steady_clock::now() - evicted < 1500ms));
        BOOST_TEST(!lease.valid());
        BOOST_TEST(client.stats().losses.deleted == 1U);
        BOOST_TEST(!probe.exists("a"));
    });
}
