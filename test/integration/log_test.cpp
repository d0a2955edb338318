// What a client says in its log: enough to find out why nothing works, and not the same thing over
// and over.

#include "support/certificates.hpp"
#include "support/free_port.hpp"
#include "support/one_server.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

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

// What reaches standard error meanwhile.
class standard_error {
public:
    standard_error() : before_{std::clog.rdbuf(text_.rdbuf())} {}
    standard_error(standard_error const&) = delete;
    standard_error& operator=(standard_error const&) = delete;
    ~standard_error() { std::clog.rdbuf(before_); }

    std::string text() const { return text_.str(); }
    auto lines() const {
        auto const all = text();
        return std::count(all.begin(), all.end(), '\n');
    }

private:
    std::ostringstream text_;
    std::streambuf* before_;
};

using acquisitions = std::vector<std::shared_ptr<acquisition>>;

acquisitions wait_for_locks(holdfast::client& client, int number) {
    acquisitions all;
    for (int i = 0; i < number; ++i) {
        all.push_back(start_acquire(client.lock("order:{}", i)));
    }
    return all;
}

// A program that has set nothing, and acquires 20 locks. A line that repeats is written with
// growing pauses: 0 s, 10 s, 30 s and 70 s after the first one. So 5 s show a third of what a
// minute does.
task check_standard_error(
    holdfast::client& client,
    standard_error const& heard,
    std::string_view what
) {
    constexpr int most_lines_in_a_minute = 20;
    auto const waiting = wait_for_locks(client, 20);
    auto const told = [&] {
        auto const text = heard.text();
        return text.find(what) != std::string::npos && text.find("\"order:") != std::string::npos;
    };
    BOOST_TEST(co_await co_eventually(5s, told), heard.text());
    co_await sleep_for(5s);
    BOOST_TEST(heard.lines() <= most_lines_in_a_minute / 2, heard.text());
    BOOST_TEST(heard.text().find("script: ") == std::string::npos, heard.text());
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

BOOST_AUTO_TEST_CASE(a_full_server_is_reported_in_a_few_lines_that_name_locks) {
    log_lines log;
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, logging(holdfast::parse_url(server.url()), log)};
        co_await warm_up(client);
        server.probe().cmd("CONFIG", "SET", "maxmemory", "1");
        // Two kinds of locks: what is refused alternates.
        auto const waiting = wait_for_locks(client, 10);
        for (int i = 0; i < 10; ++i) {
            client.fair_lock("fair:{}", i).acquire([](error_code, holdfast::lease) {});
        }
        auto const told = [&] { return log.count("\"order:") >= 3U; };
        BOOST_TEST(co_await co_eventually(5s, told), log.all());
        co_await sleep_for(3s);
        BOOST_TEST(alarms(log) == 3U, log.all());
        BOOST_TEST(log.count("script: ") == 0U, log.all());
    });
}

BOOST_AUTO_TEST_CASE(without_settings_an_absent_server_is_on_standard_error_with_who_waits_for_it) {
    standard_error const heard;
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, "redis://127.0.0.1:" + std::to_string(free_tcp_port())};
        co_await check_standard_error(client, heard, "refused");
    });
}

// Each of them has two connections.
BOOST_AUTO_TEST_CASE(without_settings_six_absent_nodes_are_a_few_lines_on_standard_error) {
    standard_error const heard;
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        // These ports refuse at once.
        constexpr auto url =
            "redis-cluster://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3,127.0.0.1:4,"
            "127.0.0.1:5,127.0.0.1:6";
        holdfast::client client{executor, url};
        co_await check_standard_error(client, heard, "refused");
    });
}

BOOST_AUTO_TEST_CASE(without_settings_a_full_server_is_on_standard_error_with_the_locks) {
    standard_error const heard;
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        server.probe().cmd("CONFIG", "SET", "maxmemory", "1");
        holdfast::client client{executor, server.url()};
        co_await check_standard_error(client, heard, "OOM");
    });
}

BOOST_AUTO_TEST_CASE(without_settings_a_user_who_may_not_run_scripts_is_on_standard_error) {
    standard_error const heard;
    with_alice(
        "~* &* +@all -@scripting",
        [&](redis_server& server, asio::any_io_executor executor) -> task {
            holdfast::client client{executor, as_alice(server)};
            co_await check_standard_error(client, heard, "permissions");
        }
    );
}

BOOST_AUTO_TEST_CASE(without_settings_a_server_without_scripts_is_on_standard_error) {
    standard_error const heard;
    with_server(
        {.extra = {"rename-command EVAL \"\"", "rename-command EVALSHA \"\""}},
        [&](redis_server& server, asio::any_io_executor executor) -> task {
            holdfast::client client{executor, server.url()};
            co_await check_standard_error(client, heard, "nknown command");
        }
    );
}

BOOST_AUTO_TEST_CASE(without_a_log_nothing_is_on_standard_error) {
    standard_error const heard;
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url("redis://127.0.0.1:" + std::to_string(free_tcp_port()));
        settings.log = nullptr;
        holdfast::client client{executor, settings};
        auto const waiting = wait_for_locks(client, 20);
        auto const failed = [&] { return client.status().last_error != error_code{}; };
        BOOST_TEST(co_await co_eventually(5s, failed));
        co_await sleep_for(1s);
        BOOST_TEST(heard.text().empty(), heard.text());
    });
}

BOOST_AUTO_TEST_CASE(each_level_has_a_name) {
    BOOST_TEST(to_string(log_level::debug) == "debug");
    BOOST_TEST(to_string(log_level::info) == "info");
    BOOST_TEST(to_string(log_level::warning) == "warning");
    BOOST_TEST(to_string(log_level::error) == "error");
}
