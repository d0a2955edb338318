// Many that want several locks at once: nobody waits for ever, whatever the others take and in
// whatever order.

#include "integration/multi_lock_fixture.hpp"
#include "support/history/turns.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <random>
#include <string>
#include <vector>

using namespace holdfast::test;
using holdfast::multi_lock;

namespace {

struct crossing {
    std::vector<holdfast::history::turn> had;
    int rounds = 0;
    int workers = 0;
};

// Two to five of them, named in any order.
task cross(holdfast::client& client, int seed, crossing& all) {
    std::minstd_rand random{static_cast<unsigned>(seed)};
    std::vector<std::size_t> order{0, 1, 2, 3, 4};
    for (int round = 0; round < 12; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        auto const count = 2 + random() % 4;
        std::vector<multi_lock::member> members;
        for (std::size_t i = 0; i < count; ++i) {
            auto const name = std::to_string(order[i]);
            if (order[i] == 4) {
                members.emplace_back(client.fair_lock(name));
            } else {
                members.emplace_back(client.lock(name));
            }
        }
        multi_lock const some{members};
        auto lease = co_await some.acquire();
        {
            std::deque<holdfast::history::noted_turn> held;
            for (std::size_t i = 0; i < count; ++i) {
                auto const token = static_cast<std::int64_t>(lease.token(i).value);
                held.emplace_back(all.had, static_cast<std::int64_t>(order[i]), token);
            }
            co_await sleep_for(std::chrono::microseconds{random() % 500});
        }
        co_await lease.release();
        ++all.rounds;
    }
    --all.workers;
}

}  // namespace

BOOST_AUTO_TEST_CASE(many_that_want_the_same_locks_in_any_order_never_wait_for_each_other) {
    with_server(
        [](redis_server& server, asio::any_io_executor executor) -> task {
            std::deque<holdfast::client> clients;
            for (int i = 0; i < 4; ++i) {
                clients.emplace_back(executor, server.url());
            }
            crossing all;
            all.workers = 24;
            for (int i = 0; i < 24; ++i) {
                auto& client = clients[static_cast<std::size_t>(i) % clients.size()];
                asio::co_spawn(executor, cross(client, i + 1, all), asio::detached);
            }
            BOOST_TEST(co_await co_eventually(50s, [&] { return all.workers == 0; }));
            BOOST_TEST(all.rounds == 24 * 12);
            for (auto const& broken : holdfast::history::broken_by(all.had, {.lease = 30s})) {
                BOOST_ERROR(broken);
            }
            auto probe = server.probe();
            for (int i = 0; i < 5; ++i) {
                auto const free = [&] { return !probe.exists(std::to_string(i)); };
                BOOST_TEST(co_await co_eventually(5s, free));
            }
        },
        60s
    );
}
