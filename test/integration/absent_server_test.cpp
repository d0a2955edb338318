// A server that is away costs its clients no work that grows, and nothing piles up without a bound.

#include "support/free_port.hpp"
#include "support/one_server.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <ctime>
#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

constexpr std::size_t bound = 1'000;

std::string nobody() {
    return "redis://127.0.0.1:" + std::to_string(free_tcp_port());
}

// Nothing ends by itself for a minute: what ends earlier was refused.
holdfast::config patient(std::string const& url) {
    auto settings = holdfast::parse_url(url);
    settings.lease = 1h;
    settings.request_timeout = 60s;
    settings.health_check_interval = 60s;
    settings.shutdown_timeout = 300ms;
    settings.max_waiters = bound;
    return settings;
}

struct ended {
    std::size_t refused = 0;
    std::size_t other = 0;
};

// Starts more operations than may be under way. Those above the bound are refused at once.
template <class Start>
task check_bounded(Start start) {
    auto const all = std::make_shared<ended>();
    auto const count = [all](error_code ec, auto&&...) {
        ++(ec == errc::too_many_waiters ? all->refused : all->other);
    };
    for (std::size_t i = 0; i < 2 * bound; ++i) {
        start(i, count);
    }
    BOOST_TEST(co_await co_eventually(10s, [&] { return all->refused >= bound; }));
    BOOST_TEST(all->refused == bound);
    BOOST_TEST(all->other == 0U);
}

// What waits for an answer or a connection, each on a lock of its own or all on one.
enum class operation { try_acquire, try_acquire_one_lock, inspect };

std::ostream& operator<<(std::ostream& out, operation op) {
    char const* const names[]{"try_acquire", "try_acquire of one lock", "inspect"};
    return out << names[static_cast<int>(op)];
}

auto const operations = boost::unit_test::data::make(
    {operation::try_acquire, operation::try_acquire_one_lock, operation::inspect}
);

task check_bounded(holdfast::client& client, operation op) {
    return check_bounded([&client, op](std::size_t i, auto handler) {
        switch (op) {
            case operation::try_acquire: client.lock("n:{}", i).try_acquire(handler); break;
            case operation::try_acquire_one_lock: client.lock("n").try_acquire(handler); break;
            case operation::inspect: client.lock("n:{}", i).inspect(handler); break;
        }
    });
}

}  // namespace

BOOST_DATA_TEST_CASE(operations_on_a_stopped_server_do_not_pile_up, operations, op) {
    with_server([=](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, patient(server.url())};
        co_await client.ready();
        server.pause();
        co_await check_bounded(client, op);
        server.resume();
    });
}

BOOST_DATA_TEST_CASE(operations_without_a_server_do_not_pile_up, operations, op) {
    run_with_deadline([=](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, patient(nobody())};
        co_await check_bounded(client, op);
    });
}

// Nothing can be renewed, and the new connection wakes every lease anyway.
BOOST_AUTO_TEST_CASE(leases_do_not_try_to_renew_while_there_is_no_connection) {
    constexpr std::size_t leases = 200;
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.lease = 12s;
        settings.request_timeout = 1s;
        settings.shutdown_timeout = 300ms;
        holdfast::client client{executor, settings};
        std::vector<std::shared_ptr<acquisition>> held;
        for (std::size_t i = 0; i < leases; ++i) {
            held.push_back(start_acquire(client.lock("n:{}", i)));
        }
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return client.stats().grants == leases; }));
        server.kill();
        // The first renewal is due after 4 s, the last attempt makes sense after about 10 s.
        co_await sleep_for(9s);
        BOOST_TEST(held.front()->held.valid());
        BOOST_TEST(client.stats().failed_renewals <= 2 * leases);
    });
}
