// A server that is out of memory, or that throws keys away.

#include "support/one_server.hpp"

using namespace holdfast::test;

namespace {

void fill_memory(redis_server const& server) {
    server.probe().cmd("CONFIG", "SET", "maxmemory", 1);
}

void free_memory(redis_server const& server) {
    server.probe().cmd("CONFIG", "SET", "maxmemory", 0);
}

// An acquisition that must wait while the memory is full, write nothing, and then be granted.
task acquire_on_full_server(redis_server const& server, holdfast::client& client) {
    auto probe = server.probe();
    auto const before = probe.keys();
    auto const refused = client.stats().attempts;
    fill_memory(server);

    auto [ec, none] = co_await client.lock("a").try_acquire(as_result);
    BOOST_TEST((ec == errc::server_refused));
    BOOST_TEST(holdfast::is_retryable(ec));
    auto [timed_out, nothing] = co_await client.lock("a").try_acquire_for(500ms, as_result);
    BOOST_TEST((timed_out == errc::server_refused));

    holdfast::lease lease;
    client.lock("a").acquire([&](error_code result, holdfast::lease granted) {
        BOOST_TEST(!result, result.message());
        lease = std::move(granted);
    });
    co_await sleep_for(600ms);
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

BOOST_AUTO_TEST_CASE(the_first_acquire_of_a_connection_waits_for_memory) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        co_await client.ready();
        co_await acquire_on_full_server(server, client);
    });
}

BOOST_AUTO_TEST_CASE(a_client_that_starts_while_memory_is_full_is_granted_later) {
    redis_server server;
    fill_memory(server);
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        co_await acquire_on_full_server(server, client);
    });
}

BOOST_AUTO_TEST_CASE(renewal_and_release_need_no_memory) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto lease = co_await client.lock("a").acquire({.lease = 1500ms});
        auto listener = server.probe();
        listener.subscribe("redisson_lock__channel:{a}");
        fill_memory(server);
        co_await lease.renew();
        co_await sleep_for(2500ms);
        BOOST_TEST((lease.state() == lease_state::held));
        BOOST_TEST(client.stats().renewals >= 3U);
        BOOST_TEST(client.stats().failed_renewals == 0U);

        auto [ec] = co_await lease.release(as_result);
        BOOST_TEST(!ec, ec.message());
        BOOST_TEST(!server.probe().exists("a"));
        BOOST_TEST(listener.next_message(1s).has_value());
    });
}

BOOST_AUTO_TEST_CASE(a_server_that_evicts_keys_is_warned_of) {
    for (auto const* policy : {"allkeys-lru", "volatile-ttl", "volatile-lru", "noeviction"}) {
        log_lines log;
        with_server(
            {.extra = {"maxmemory 100mb", std::string{"maxmemory-policy "} + policy}},
            [&](redis_server& server, asio::any_io_executor executor) -> task {
                auto settings = holdfast::parse_url(server.url());
                settings.log = log.sink();
                holdfast::client client{executor, settings};
                co_await client.ready();
            }
        );
        bool const evicts = std::string_view{policy} != "noeviction";
        BOOST_TEST(
            log.count(log_level::warning, "maxmemory-policy noeviction") == (evicts ? 1U : 0U),
            policy
        );
    }
}

BOOST_AUTO_TEST_CASE(an_unlimited_server_is_not_warned_of) {
    log_lines log;
    with_server(
        {.extra = {"maxmemory-policy allkeys-lru"}},
        [&](redis_server& server, asio::any_io_executor executor) -> task {
            auto settings = holdfast::parse_url(server.url());
            settings.log = log.sink();
            holdfast::client client{executor, settings};
            co_await client.ready();
        }
    );
    BOOST_TEST(log.count("maxmemory-policy") == 0U);
}

BOOST_AUTO_TEST_CASE(a_holder_whose_key_is_evicted_is_told_at_the_next_renewal) {
    with_server(
        {.extra = {"maxmemory-policy volatile-ttl"}},
        [](redis_server& server, asio::any_io_executor executor) -> task {
            holdfast::client client{executor, server.url()};
            auto lease = co_await client.lock("a").acquire({.lease = 3s});
            fill_memory(server);
            // Redis evicts when a command comes.
            auto probe = server.probe();
            BOOST_TEST(co_await co_eventually(1s, [&] { return !probe.exists("a"); }));
            auto const evicted = std::chrono::steady_clock::now();
            auto [ec, reason] = co_await lease.wait_lost(as_result);
            BOOST_TEST(!ec);
            BOOST_TEST((reason == loss_reason::deleted));
            // Renewed after a third of the lease.
            BOOST_TEST((std::chrono::steady_clock::now() - evicted < 1500ms));
            BOOST_TEST(!lease.valid());
            BOOST_TEST(client.stats().losses.deleted == 1U);
            BOOST_TEST(!probe.exists("a"));
        }
    );
}
