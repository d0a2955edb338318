// Sentinels that are down, silent, wrong or behind, want a password, or speak TLS.

#include "support/one_server.hpp"
#include "support/sentinel_group.hpp"

#include <boost/asio/io_context.hpp>

#include <fstream>
#include <optional>
#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

holdfast::config short_times(std::string const& url) {
    auto settings = short_leases(url, 3s);
    settings.reconnect_max = 100ms;
    return settings;
}

void check_that_it_works(holdfast::config const& settings, std::chrono::milliseconds limit = 5s) {
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings};
        auto const start = lease_clock::now();
        auto lease = co_await client.lock("a").acquire();
        BOOST_TEST(lease.valid());
        BOOST_TEST((lease_clock::now() - start < limit));
        BOOST_TEST(!co_await release(lease));
    });
}

// `cause` is told at once to those who wait, and to those who come.
void check_that_it_fails(holdfast::config settings, errc cause, std::string const& line) {
    log_lines log;
    settings.log = log.sink();
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings};
        auto const [ready] = co_await client.ready(as_result);
        BOOST_TEST((ready == cause), ready.message());
        auto const [acquired, lease] = co_await client.lock("a").acquire(as_result);
        BOOST_TEST((acquired == cause), acquired.message());
    });
    BOOST_TEST(log.count(log_level::error, line) >= 1U, log.all());
    BOOST_TEST(log.count("s3cret") == 0U, log.all());
}

std::string host_of(redis_server const& server) {
    return "127.0.0.1:" + std::to_string(server.tcp_port());
}

}  // namespace

BOOST_AUTO_TEST_CASE(those_that_are_down_or_silent_or_do_not_know_the_name_are_passed_over) {
    sentinel_group group{{.replicas = 0}};
    group.sentinel(0).kill();
    check_that_it_works(short_times(group.url()));
    // The majority is waited for, but not for ever.
    group.sentinel(1).pause();
    check_that_it_works(short_times(group.url()));
    group.sentinel(1).resume();
    // One that answers is enough.
    group.sentinel(1).kill();
    check_that_it_works(short_times(group.url()), 1s);
    // So is one that knows the name.
    sentinel_group other{{.replicas = 0, .sentinels = 1}};
    auto probe = other.sentinel(0).probe();
    BOOST_TEST(!probe.cmd("SENTINEL", "REMOVE", "mymaster").is_error());
    auto const hosts = host_of(other.sentinel(0)) + "," + host_of(group.sentinel(2));
    check_that_it_works(short_times("redis-sentinel://" + hosts + "/mymaster"), 1s);
}

BOOST_AUTO_TEST_CASE(without_any_sentinel_nobody_is_reached_until_one_comes_back) {
    sentinel_group group{{.replicas = 0, .sentinels = 1}};
    group.sentinel(0).kill();
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_times(group.url())};
        auto const [tried, none] = co_await client.lock("a").try_acquire(as_result);
        BOOST_TEST((tried == errc::unreachable), tried.message());
        auto const waiting = start_acquire(client.lock("a"));
        co_await run_aside([&] { group.sentinel(0).restart(true); });
        BOOST_TEST(co_await co_eventually(3s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
        // A lease does not need the Sentinels while the server is there.
        group.sentinel(0).kill();
        co_await sleep_for(4s);
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(!co_await release(waiting->held));
    });
}

BOOST_AUTO_TEST_CASE(a_name_that_no_sentinel_knows_is_a_cause_of_its_own) {
    sentinel_group group{{.replicas = 0}};
    auto settings = short_times(group.url());
    settings.primary_name = "another";
    check_that_it_fails(settings, errc::unknown_primary, "no Sentinel names the primary");
    // Also if the others are down.
    group.sentinel(0).kill();
    group.sentinel(1).kill();
    check_that_it_fails(settings, errc::unknown_primary, "knows no primary of that name");
}

BOOST_AUTO_TEST_CASE(a_server_is_no_sentinel) {
    redis_server server{{.tcp = true}};
    check_that_it_fails(
        short_times("redis-sentinel://" + host_of(server) + "/mymaster"),
        errc::unsupported_server,
        "is no Sentinel"
    );
}

// Some refuse the PING that other servers are asked with.
BOOST_AUTO_TEST_CASE(the_connections_to_sentinels_last_while_nothing_happens) {
    sentinel_group group{{.replicas = 0}};
    log_lines log;
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        auto settings = short_times(group.url());
        settings.health_check_interval = 600ms;
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        co_await client.ready();
        co_await sleep_for(2s);
    });
    BOOST_TEST(log.count("Sentinel connection to") == 3U, log.all());
    BOOST_TEST(log.count(log_level::info, "is up") == 5U, log.all());
}

BOOST_AUTO_TEST_CASE(passwords_of_servers_and_of_sentinels_are_apart) {
    sentinel_group group{{.replicas = 1, .password = "other-s3cret", .sentinel_password = "s3cret"}
    };
    auto settings = short_times(group.url());
    settings.password = "other-s3cret";
    settings.sentinel_password = "s3cret";
    check_that_it_works(settings);
    auto wrong = settings;
    wrong.sentinel_password = "s3cret2";
    check_that_it_fails(wrong, errc::auth_failed, "refused the question");
    wrong.sentinel_password.clear();
    check_that_it_fails(wrong, errc::auth_failed, "refused the question");
    wrong = settings;
    wrong.password = "s3cret";
    check_that_it_fails(wrong, errc::auth_failed, "the server refused the connection");
}

BOOST_AUTO_TEST_CASE(sentinels_may_speak_tls_where_the_servers_do_not, *needs_tls()) {
    sentinel_group group{{.replicas = 0, .sentinels = 2, .sentinel_tls = certificate_options{}}};
    // Each has an authority of its own.
    auto const both = group.sentinel(0).folder() / "both.crt";
    std::ofstream{both} << std::ifstream{group.sentinel(0).ca_file()}.rdbuf()
                        << std::ifstream{group.sentinel(1).ca_file()}.rdbuf();
    auto const trust = "?sentinel_tls=on&sentinel_ca_file=" + both.string();
    check_that_it_works(short_times(group.url(trust)));
    // One that is not trusted is as good as none.
    auto const one = "?sentinel_tls=on&ca_file=" + group.sentinel(1).ca_file();
    check_that_it_works(short_times(group.url(one)));
    check_that_it_fails(short_times(group.url_of({0}, one)), errc::tls_failed, "cannot be asked");
}

// It was cut off before the failover, and names the old primary for ever.
BOOST_AUTO_TEST_CASE(one_that_is_behind_does_not_lead_to_an_old_primary) {
    sentinel_group group;
    sentinel_group island{{.replicas = 0, .sentinels = 1}};
    auto const hosts = host_of(island.sentinel(0)) + "," + host_of(group.sentinel(0)) + "," +
                       host_of(group.sentinel(1));
    auto const before = group.primary();
    group.fail_over();
    auto const now = group.wait_for_switch(before);
    BOOST_REQUIRE(now.has_value());
    for (int i = 0; i < 5; ++i) {
        check_that_it_works(short_times("redis-sentinel://" + hosts + "/mymaster"));
    }
    BOOST_TEST(!island.server(0).probe().commandstats().contains("evalsha"));

    // What was known is not forgotten when it alone is left.
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_times("redis-sentinel://" + hosts + "/mymaster")};
        auto held = co_await client.lock("a").acquire();
        group.sentinel(0).kill();
        group.sentinel(1).kill();
        auto probe = group.server(*now).probe();
        probe.client_kill_type("normal");
        probe.client_kill_type("pubsub");
        auto const doubted = [&] { return held.state() == lease_state::in_doubt; };
        BOOST_TEST(co_await co_eventually(2s, doubted));
        BOOST_TEST(co_await co_eventually(3s, [&] { return held.state() == lease_state::held; }));
        BOOST_TEST(!co_await release(held));
    });
    BOOST_TEST(!island.server(0).probe().commandstats().contains("evalsha"));
}

// The announcement was missed: the connection to the Sentinels was down.
BOOST_AUTO_TEST_CASE(a_switch_that_nobody_heard_of_is_noticed_when_the_sentinels_are_back) {
    sentinel_group group;
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        auto settings = short_leases(group.url_of({0}), 5min);
        settings.reconnect_max = 100ms;
        settings.request_timeout = settings.health_check_interval = 5s;
        holdfast::client client{executor, settings};
        auto held = co_await client.lock("a").acquire();
        group.sentinel(0).kill();
        std::optional<std::size_t> now;
        co_await run_aside([&] {
            group.server(0).pause();
            now = group.wait_for_switch(0);
            group.sentinel(0).restart(true);
        });
        BOOST_REQUIRE(now.has_value());
        auto const back = lease_clock::now();
        auto lease = co_await client.lock("b").acquire();
        BOOST_TEST((lease_clock::now() - back < 5s));
        BOOST_TEST(lease.valid());
        BOOST_TEST(group.server(*now).probe().exists("b"));
        BOOST_TEST(!co_await release(lease));
        group.server(0).resume();
        BOOST_TEST(!co_await release(held));
    });
}

BOOST_AUTO_TEST_CASE(a_client_may_go_while_the_sentinels_are_asked) {
    sentinel_group group{{.replicas = 0, .sentinels = 2}};
    group.sentinel(0).pause();
    group.sentinel(1).pause();
    for (auto const wait : {0ms, 1ms, 20ms, 300ms}) {
        // With its context.
        asio::io_context context;
        auto client = std::make_unique<holdfast::client>(context, short_times(group.url()));
        auto const waiting = start_acquire(client->lock("a"));
        context.run_for(wait);
        BOOST_TEST(!waiting->done);
    }
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        // Before it.
        holdfast::client client{executor, short_times(group.url())};
        auto const waiting = start_acquire(client.lock("a"));
        co_await sleep_for(100ms);
        co_await client.shutdown();
        BOOST_TEST((waiting->error == errc::client_stopped));
    });
}
