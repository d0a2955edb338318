// A server that cannot serve locks: a node of a cluster is `unsupported_server`; a replica, one
// that loads its data and one that turns clients away are `server_refused`, which may pass.

#include "support/one_server.hpp"
#include "support/tcp_proxy.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::test;

namespace {

holdfast::config logging(std::string const& url, log_lines const& log) {
    auto settings = holdfast::parse_url(url);
    settings.log = log.sink();
    settings.reconnect_max = 300ms;
    settings.request_timeout = 500ms;
    settings.shutdown_timeout = 300ms;
    return settings;
}

// Whenever it is asked: before the first connection, between two, and at once.
task check_always(holdfast::client& client, errc expected, int times) {
    for (int i = 0; i < times; ++i) {
        auto [tried, none] = co_await client.lock("a").try_acquire(as_result);
        BOOST_TEST((tried == expected), i << ": " << tried.message());
        BOOST_TEST(!none);
        auto [limited, nothing] = co_await client.lock("a").try_acquire_for(500ms, as_result);
        BOOST_TEST((limited == expected), i << ": " << limited.message());
        co_await sleep_for(37ms);
    }
}

}  // namespace

BOOST_DATA_TEST_CASE(
    one_node_of_a_cluster_is_an_unsupported_server,
    boost::unit_test::data::make({false, true}),
    has_slots
) {
    log_lines log;
    with_server(
        {.cluster = true},
        [&](redis_server& server, asio::any_io_executor executor) -> task {
            if (has_slots) {
                server.probe().add_slots(0, 16'383);
            }
            holdfast::client client{executor, logging(server.url(), log)};
            auto [ready] = co_await client.ready(as_result);
            BOOST_TEST((ready == errc::unsupported_server), ready.message());
            auto [ec, none] = co_await client.lock("a").acquire(as_result);
            BOOST_TEST((ec == errc::unsupported_server), ec.message());
            co_await check_always(client, errc::unsupported_server, 2);
        }
    );
    BOOST_TEST(log.count(log_level::error, "Cluster") >= 1U, log.all());
}

// With and without the permissions to ask what the server is.
BOOST_AUTO_TEST_CASE(a_replica_refuses_whenever_it_is_asked) {
    using namespace asio::experimental::awaitable_operators;
    log_lines log;
    log_lines other_log;
    server_options const options{
        .users = {"app on >secret ~* &* +@all", "less on >secret ~* &* +@all -role -info"},
        .extra = {"replicaof 127.0.0.1 1"}
    };
    with_server(options, [&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = logging(server.url(), log);
        settings.username = "app";
        settings.password = "secret";
        holdfast::client client{executor, settings};
        settings.username = "less";
        settings.log = other_log.sink();
        holdfast::client other{executor, settings};
        auto const check_both = [&]() -> task {
            auto one = check_always(client, errc::server_refused, 3);
            auto two = check_always(other, errc::server_refused, 3);
            auto both = std::move(one) && std::move(two);
            co_await std::move(both);
        };
        co_await check_both();

        server.probe().cmd("REPLICAOF", "NO", "ONE");
        for (auto* const each : {&client, &other}) {
            auto lease = co_await each->lock("a").acquire();
            co_await lease.release();
        }
        server.probe().cmd("REPLICAOF", "127.0.0.1", "1");
        co_await check_both();
    });
    BOOST_TEST(log.count("replica") >= 1U, log.all());
    BOOST_TEST(other_log.count("replica") >= 1U, other_log.all());
}

BOOST_AUTO_TEST_CASE(
    a_server_that_loads_its_data_refuses_whenever_it_is_asked,
    *needs_version_7()
) {
    log_lines log;
    // It takes six seconds, and answers between the keys.
    server_options const options{
        .extra =
            {"rdbcompression no",
             "key-load-delay 40000",
             "loading-process-events-interval-bytes 1024"}
    };
    with_server(
        options,
        [&](redis_server& server, asio::any_io_executor executor) -> task {
            auto probe = server.probe();
            for (int i = 0; i < 150; ++i) {
                probe.set("key:" + std::to_string(i), std::string(2'000, 'x'));
            }
            probe.cmd("SAVE");
            auto again = std::async(std::launch::async, [&] { server.restart(true); });
            auto const loading = [&] {
                try {
                    return redis_probe{server.unix_socket()}.cmd("PING").text.starts_with("LOADING"
                    );
                } catch (std::exception const&) {
                    return false;
                }
            };
            BOOST_REQUIRE(co_await co_eventually(10s, loading));
            holdfast::client client{executor, logging(server.url(), log)};
            co_await check_always(client, errc::server_refused, 2);
            BOOST_TEST((again.wait_for(0s) == std::future_status::timeout));

            auto const lease = co_await client.lock("a").acquire();
            BOOST_TEST(lease.valid());
            again.get();
        },
        60s
    );
    BOOST_TEST(log.count("load") >= 1U, log.all());
}

BOOST_AUTO_TEST_CASE(a_server_in_protected_mode_refuses_and_the_log_says_why) {
    log_lines log;
    tcp_proxy const server{last_words{
        "-DENIED Redis is running in protected mode because protected mode is enabled.\r\n"
    }};
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, logging(server.url(), log)};
        co_await check_always(client, errc::server_refused, 3);
    });
    BOOST_TEST(server.refused() >= 2U);
    BOOST_TEST(log.count("protected mode") >= 1U, log.all());
}

// What a server says before it closes the connection is not always read.
BOOST_AUTO_TEST_CASE(a_server_that_turned_a_client_away_and_then_hangs_up_still_refuses) {
    log_lines log;
    tcp_proxy server{last_words{"-ERR max number of clients reached\r\n"}};
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, logging(server.url(), log)};
        co_await check_always(client, errc::server_refused, 1);
        server.turn_away({});
        auto const before = server.refused();
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return server.refused() >= before + 2; }));
        co_await check_always(client, errc::server_refused, 2);
    });
}

// As twemproxy does, which knows no HELLO.
BOOST_AUTO_TEST_CASE(a_peer_that_closes_the_connection_upon_hello_is_named_in_the_log) {
    log_lines log;
    tcp_proxy const server{last_words{}};
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, logging(server.url(), log)};
        // A load balancer without a server behind it does the same: it may pass.
        co_await check_always(client, errc::unreachable, 2);
    });
    BOOST_TEST(
        log.count(log_level::error, "closed the connection upon HELLO: it is a proxy") >= 1U,
        log.all()
    );
}

namespace {

// The answer to a script: its nonce and more.
bool is_of_a_script(std::string const& reply) {
    return reply.starts_with('$') && reply.find(' ') != std::string::npos;
}

// Such a server answers everything but the scripts.
class refused_client {
public:
    refused_client(redis_server& server, asio::any_io_executor executor, std::string const& text)
        : proxy_{server.unix_socket()} {
        proxy_.edit_replies([text](std::string reply) {
            return is_of_a_script(reply) ? "-" + text + "\r\n" : reply;
        });
        auto settings = logging(proxy_.url(), log);
        settings.reconnect_max = 2s;
        made_.emplace(std::move(executor), settings);
    }

    holdfast::client& operator*() { return *made_; }

    log_lines log;

private:
    tcp_proxy proxy_;
    std::optional<holdfast::client> made_;
};

}  // namespace

BOOST_DATA_TEST_CASE(
    a_server_that_can_never_run_the_scripts_is_unsupported_for_every_kind,
    boost::unit_test::data::make(
        {"ERR script tried accessing undeclared key, script: "
         "7f923f79fe76194c868d7e1d0820de36700eb649",
         "ERR This Redis command is not allowed from script script: 7f92, on @user_script:1.",
         "ERR unknown command 'evalsha', with args beginning with: ",
         "ERR EVAL is disabled",
         "ERR bad lua script for redis cluster, all the keys that the script uses should be passed "
         "using the KEYS array"}
    ),
    text
) {
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        refused_client refused{server, executor, text};
        auto& client = *refused;
        co_await client.ready();
        auto const expect = [](error_code ec) {
            BOOST_TEST((ec == errc::unsupported_server), ec.message());
            BOOST_TEST(!holdfast::is_retryable(ec));
        };
        auto [lock, lock_lease] = co_await client.lock("a").acquire(as_result);
        expect(lock);
        auto [fair, fair_lease] = co_await client.fair_lock("b").acquire(as_result);
        expect(fair);
        auto const both = client.read_write_lock("c");
        auto [read, read_lease] = co_await both.read().acquire(as_result);
        expect(read);
        auto [write, write_lease] = co_await both.write().acquire(as_result);
        expect(write);
        auto const pool = client.semaphore("d");
        auto [set, set_now] = co_await pool.try_set_permits(1, as_result);
        expect(set);
        auto [permit, permit_lease] = co_await pool.acquire(as_result);
        expect(permit);
        holdfast::multi_lock const pair{client.lock("e"), client.lock("f")};
        auto [multi, multi_lease] = co_await pair.acquire(as_result);
        expect(multi);
        auto [campaign, leading] = co_await client.election("g").campaign("me", as_result);
        expect(campaign);
        auto [counted] = co_await client.latch("h").count_down(as_result);
        expect(counted);
        auto [info, what] = co_await client.lock("a").inspect(as_result);
        expect(info);
        auto const begins = std::string{text}.substr(0, 20);
        BOOST_TEST(refused.log.count(log_level::error, begins) >= 1U, refused.log.all());
    });
}

// The pauses are drawn evenly from 0 to 2 s. So a client makes 6 attempts in 6 s on average, 3 at
// least, and now and then twice as many: three clients made more than 34 in 3 of 10,000,000
// simulated runs. If the pauses did not grow, a client would make 60.
BOOST_AUTO_TEST_CASE(a_refusal_that_repeats_is_met_with_about_one_attempt_a_second) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        std::deque<refused_client> all;
        auto const ended = std::make_shared<int>(0);
        for (auto const* const text :
             {"ERR upstream failure",
              "BUSY Redis is busy running a script.",
              "FANCYNEW of a later server"}) {
            auto& client = *all.emplace_back(server, executor, text);
            co_await client.ready();
            client.lock(text).acquire([ended](error_code, holdfast::lease) { ++*ended; });
        }
        auto const attempts = [&] {
            std::vector<std::uint64_t> made;
            for (auto& each : all) {
                made.push_back((*each).stats().attempts);
            }
            return made;
        };
        co_await sleep_for(3s);
        auto const before = attempts();
        co_await sleep_for(6s);
        auto const after = attempts();
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            total += after[i] - before[i];
            BOOST_TEST(after[i] - before[i] >= 2U);
            BOOST_TEST(all[i].log.count("the server refused") <= 8U, all[i].log.all());
        }
        BOOST_TEST(total <= 34U);
        BOOST_TEST(total >= 8U);
        BOOST_TEST(*ended == 0);
    });
}

BOOST_AUTO_TEST_CASE(a_server_with_too_many_clients_refuses_and_the_log_says_why) {
    log_lines log;
    with_server(
        {.extra = {"maxclients 4"}},
        [&](redis_server& server, asio::any_io_executor executor) -> task {
            std::vector<redis_probe> crowd;
            for (int i = 0; i < 4; ++i) {
                crowd.push_back(server.probe());
                crowd.back().cmd("PING");
            }
            holdfast::client client{executor, logging(server.url(), log)};
            co_await check_always(client, errc::server_refused, 3);

            crowd.clear();
            auto const lease = co_await client.lock("a").acquire();
            BOOST_TEST(lease.valid());
        }
    );
    BOOST_TEST(log.count("max number of clients") >= 1U, log.all());
}
