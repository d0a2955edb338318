// The result of a shutdown is what it promises: success means that nothing of ours is left on the
// server.

#include "support/one_server.hpp"
#include "support/tcp_proxy.hpp"

#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

// More leases than anybody would bound a list of releases to.
#ifdef HOLDFAST_TEST_SANITIZER
constexpr std::size_t many = 11'000;
#else
constexpr std::size_t many = 101'000;
#endif

// From now on alice may not take a key away.
void forbid_deletion(redis_server const& server) {
    server.probe().cmd("ACL", "SETUSER", "alice", "-hdel", "-del");
}

// Nothing is renewed and nothing takes too long.
holdfast::config patient(std::string const& url) {
    auto settings = holdfast::parse_url(url);
    settings.lease = 1h;
    settings.request_timeout = 60s;
    settings.shutdown_timeout = 60s;
    return settings;
}

task acquire_many(holdfast::client& client, std::vector<holdfast::lease>& held) {
    held.reserve(many);
    for (std::size_t i = 0; i < many; ++i) {
        client.lock("order:{}", i).acquire([&](error_code, holdfast::lease granted) {
            held.push_back(std::move(granted));
        });
        if (i % 1'000 == 0) {
            co_await co_eventually(60s, [&] { return held.size() + 1'000 > i; });
        }
    }
    BOOST_REQUIRE(co_await co_eventually(60s, [&] { return held.size() == many; }));
}

bool only_counters(redis_server const& server) {
    return server.probe().cmd("DBSIZE").as_integer() == many;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_shutdown_that_may_not_delete_does_not_report_success) {
    with_alice("~* &* +@all", [](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, as_alice(server)};
        auto const held = co_await client.lock("a").acquire();
        forbid_deletion(server);
        auto [ec] = co_await client.shutdown(as_result);
        BOOST_TEST(server.probe().exists("a"));
        BOOST_TEST((ec == errc::release_unknown || ec == errc::no_permission), ec.message());
        // Nor do those who ask later hear anything else.
        auto [again] = co_await client.shutdown(as_result);
        BOOST_TEST((again == ec), again.message());
    });
}

// Once for a release that its caller waited for and that failed, once for one that was dropped.
BOOST_AUTO_TEST_CASE(a_shutdown_counts_the_releases_that_failed_before_it) {
    for (bool const awaited : {true, false}) {
        with_alice(
            "~* &* +@all",
            [=](redis_server& server, asio::any_io_executor executor) -> task {
                holdfast::client client{executor, as_alice(server)};
                auto held = co_await client.lock("a").acquire();
                forbid_deletion(server);
                if (awaited) {
                    BOOST_TEST((co_await release(held) == errc::no_permission));
                }
                held = {};
                co_await sleep_for(200ms);
                auto [ec] = co_await client.shutdown(as_result);
                BOOST_TEST(server.probe().exists("a"));
                BOOST_TEST(ec.failed());
            }
        );
    }
}

BOOST_AUTO_TEST_CASE(more_than_100000_leases_are_released_at_once_and_each_is_answered) {
    with_server(
        [](redis_server& server, asio::any_io_executor executor) -> task {
            holdfast::client client{executor, patient(server.url())};
            std::vector<holdfast::lease> held;
            co_await acquire_many(client, held);
            std::size_t freed = 0;
            std::size_t other = 0;
            for (auto& one : held) {
                one.release([&](error_code ec) { ++(ec ? other : freed); });
            }
            BOOST_TEST(co_await co_eventually(90s, [&] { return freed + other == many; }));
            BOOST_TEST(freed == many);
            auto [ec] = co_await client.shutdown(as_result);
            BOOST_TEST(!ec, ec.message());
            BOOST_TEST(only_counters(server));
        },
        110s
    );
}

// What a list of releases does not keep while the server is away is not forgotten by the result.
BOOST_AUTO_TEST_CASE(a_shutdown_after_many_releases_without_a_server_says_what_is_left) {
    with_server(
        [](redis_server& server, asio::any_io_executor executor) -> task {
            tcp_proxy proxy{server.unix_socket()};
            holdfast::client client{executor, patient(proxy.url())};
            std::vector<holdfast::lease> held;
            co_await acquire_many(client, held);
            proxy.refuse_new(true);
            proxy.cut();
            auto const noticed = [&] { return held.back().state() == lease_state::in_doubt; };
            BOOST_REQUIRE(co_await co_eventually(5s, noticed));
            held.clear();
            co_await sleep_for(500ms);
            proxy.refuse_new(false);
            auto [ec] = co_await client.shutdown(as_result);
            BOOST_TEST(!ec == only_counters(server), ec.message());
        },
        110s
    );
}
