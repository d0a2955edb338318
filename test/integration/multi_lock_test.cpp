// Several locks as one on a real server: all or none, whatever their kinds and clients.

#include "integration/multi_lock_fixture.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace holdfast::test;
using holdfast::multi_lock;

namespace {

std::string const counter = "redisson_lock_token:";

}  // namespace

BOOST_AUTO_TEST_CASE(all_are_held_each_with_a_token_of_its_own_and_all_are_given_back) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await get_to_know(client);
        multi_lock const both{client.lock("{}", "b"), client.lock("a")};
        auto const attempts = client.stats().attempts;
        auto lease = co_await both.acquire();
        BOOST_TEST(lease.valid());
        BOOST_TEST(lease.size() == 2U);
        BOOST_TEST(client.stats().attempts == attempts + 2);
        for (auto const* const name : {"a", "b"}) {
            BOOST_TEST(probe.exists(name));
            BOOST_TEST(probe.pttl(name) > 0);
            auto const alone = co_await client.lock(name).try_acquire();
            BOOST_TEST(!alone);
        }
        // In the order in which they were named.
        auto const token_of = [&](std::string const& name) {
            return std::stoull(*probe.get(counter + "{" + name + "}"));
        };
        BOOST_TEST(lease.token(0).value == token_of("b"));
        BOOST_TEST(lease.token(1).value == token_of("a"));
        auto const tokens = lease.tokens();
        co_await lease.renew();
        co_await lease.release();
        BOOST_TEST(!lease);
        BOOST_TEST(!probe.exists("a"));
        BOOST_TEST(!probe.exists("b"));

        auto again = co_await both.try_acquire();
        BOOST_TEST((again.token(0) > tokens[0]));
        BOOST_TEST((again.token(1) > tokens[1]));
        again = {};
        BOOST_TEST(co_await co_eventually(5s, [&] { return !probe.exists("a"); }));
        BOOST_TEST(co_await co_eventually(5s, [&] { return !probe.exists("b"); }));
    });
}

BOOST_AUTO_TEST_CASE(one_request_takes_up_to_sixty_four) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        co_await get_to_know(client);
        std::vector<std::string> names;
        for (int i = 0; i < 64; ++i) {
            names.push_back("name " + std::to_string(i));
        }
        auto const before = server.arrived("lock.acquire");
        auto lease = co_await lock_of_all(client, names).acquire();
        BOOST_TEST(lease.size() == 64U);
        BOOST_TEST(lease.valid());
        BOOST_TEST(server.arrived("lock.acquire") == before);
        BOOST_TEST(server.arrived("multi_lock.acquire") == 1U);
        BOOST_TEST(server.lock_keys().size() == 64U);
        co_await lease.release();
        BOOST_TEST(server.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(the_releases_of_all_members_reach_the_server_at_once) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await get_to_know(client);
        auto const all = lock_of(client, "a", "b", "c", "d", "e", "f", "g", "h");
        auto once = co_await all.acquire();
        co_await once.release();
        auto lease = co_await all.acquire();
        auto const reads = [&] {
            return std::stoull(probe.info("stats")["total_reads_processed"]);
        };
        auto const before = reads();
        co_await lease.release();
        // The first release, the others, and the question.
        BOOST_TEST(reads() - before <= 3U);
    });
}

BOOST_AUTO_TEST_CASE(wrong_members_are_reported_by_the_operation) {
    with_client([](holdfast::client& client, redis_probe&) -> task {
        auto const expect = [](multi_lock on, errc cause) -> task {
            auto const [ec, lease] = co_await on.acquire(as_result);
            BOOST_TEST((ec == cause));
            BOOST_TEST(!lease);
        };
        co_await expect(lock_of(client), errc::invalid_options);
        co_await expect(lock_of(client, "a"), errc::invalid_options);
        co_await expect(lock_of(client, "a", "b", "a"), errc::invalid_options);
        co_await expect(lock_of(client, "a", ""), errc::invalid_name);
        std::vector<std::string> many(65);
        std::generate(many.begin(), many.end(), [n = 0]() mutable { return std::to_string(n++); });
        co_await expect(lock_of_all(client, many), errc::invalid_options);
        // They would exclude each other.
        multi_lock const of_two_kinds{client.lock("a"), client.fair_lock("a")};
        co_await expect(of_two_kinds, errc::invalid_options);
        // The same server.
        auto other = holdfast::client{client.get_executor(), "redis://localhost:1"};
        auto same = holdfast::client{client.get_executor(), "redis://localhost:1"};
        multi_lock const twice{other.lock("a"), same.lock("a")};
        co_await expect(twice, errc::invalid_options);
        BOOST_TEST(client.stats().attempts == 0U);
    });
}

BOOST_AUTO_TEST_CASE(who_waits_keeps_those_before_and_is_told_when_the_last_is_free) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await get_to_know(client);
        auto held = co_await client.lock("b").acquire();
        ended_multi waiting;
        auto const attempts = client.stats().attempts;
        lock_of(client, "c", "b", "a").acquire(waiting.handler());
        BOOST_TEST(co_await co_eventually(5s, [&] { return client.stats().waiters_now == 1; }));
        BOOST_TEST(probe.exists("a"));
        BOOST_TEST(!probe.exists("c"));
        co_await sleep_for(300ms);
        // It does not poll: it asks for the three together, then for "a" and "b", and looks at "b"
        // once more when it knows that it will be told.
        BOOST_TEST(client.stats().attempts <= attempts + 6);
        co_await held.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return waiting.done(); }));
        BOOST_TEST(waiting.lease.valid());
        co_await waiting.lease.release();
        BOOST_TEST(!probe.exists("a"));
        BOOST_TEST(!probe.exists("b"));
        BOOST_TEST(!probe.exists("c"));
    });
}

BOOST_AUTO_TEST_CASE(members_may_be_of_several_kinds_and_clients) {
    with_server([](redis_server& one, asio::any_io_executor executor) -> task {
        redis_server second;
        holdfast::client here{executor, one.url()};
        holdfast::client there{executor, second.url()};
        co_await get_to_know(here);
        multi_lock const all{here.lock("a"), there.lock("a"), here.fair_lock("f")};
        auto lease = co_await all.acquire({.lease = 10s});
        auto here_probe = one.probe();
        auto there_probe = second.probe();
        BOOST_TEST(lease.valid());
        BOOST_TEST(lease.size() == 3U);
        BOOST_TEST((lease.remaining() < 10s));
        BOOST_TEST(here_probe.exists("a"));
        BOOST_TEST(here_probe.exists("f"));
        BOOST_TEST(there_probe.exists("a"));
        auto none = co_await all.try_acquire();
        BOOST_TEST(!none);
        co_await lease.release();
        BOOST_TEST(!here_probe.exists("a"));
        BOOST_TEST(!here_probe.exists("f"));
        BOOST_TEST(!there_probe.exists("a"));

        // One of the clients stops while another's lock is waited for.
        auto busy = co_await there.lock("a").acquire();
        ended_multi waiting;
        all.acquire(waiting.handler());
        BOOST_TEST(co_await co_eventually(5s, [&] { return there.stats().waiters_now == 1; }));
        co_await there.shutdown();
        BOOST_TEST(co_await co_eventually(5s, [&] { return waiting.done(); }));
        BOOST_TEST((waiting.ec == errc::client_stopped));
        BOOST_TEST(co_await co_eventually(5s, [&] { return !here_probe.exists("a"); }));
        BOOST_TEST(!here_probe.exists("f"));
    });
}

BOOST_AUTO_TEST_CASE(an_owner_enters_again_and_joins_what_it_holds) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await get_to_know(client);
        auto const me = holdfast::owner::make();
        acquire_options const mine{.owner = me};
        auto alone = co_await client.lock("b").acquire(mine);
        multi_lock const both{client.lock("a"), client.lock("b")};
        auto first = co_await both.acquire(mine);
        auto second = co_await both.try_acquire(mine);
        BOOST_TEST((first.token(1) == alone.token()));
        BOOST_TEST((first.tokens() == second.tokens()));
        auto const none = co_await both.try_acquire({.owner = holdfast::owner::make()});
        BOOST_TEST(!none);
        co_await first.release();
        BOOST_TEST(second.valid());
        co_await second.release();
        BOOST_TEST(!probe.exists("a"));
        BOOST_TEST(probe.exists("b"));
        BOOST_TEST(alone.valid());
        co_await alone.release();
        BOOST_TEST(!probe.exists("b"));
    });
}

BOOST_AUTO_TEST_CASE(a_key_of_another_kind_is_told_and_nothing_is_taken) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await get_to_know(client);
        probe.set("b", "text");
        auto const [ec, none] = co_await lock_of(client, "a", "b").acquire(as_result);
        BOOST_TEST((ec == errc::corrupt_state));
        probe.del("b");
        probe.cmd("HSET", "b", "not a holder", "1");
        auto const [again, nothing] = co_await lock_of(client, "a", "b").try_acquire(as_result);
        BOOST_TEST((again == errc::corrupt_state));
        probe.del("b");
        probe.set(counter + "{b}", "text");
        auto const [counted, still] = co_await lock_of(client, "a", "b").try_acquire(as_result);
        BOOST_TEST((counted == errc::corrupt_state));
        BOOST_TEST(!probe.exists("a"));
        BOOST_TEST(!probe.exists("b"));
    });
}

BOOST_AUTO_TEST_CASE(a_queue_in_which_nobody_is_left_keeps_nobody_out) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await get_to_know(client);
        // Somebody waits for a free lock, and is not there any more.
        std::string const entry = "71b96ce8-2746-4c7e-9a51-0f6de2f5a111:1 3000";
        probe.cmd("ZADD", "holdfast_queue:{b}", 1, entry);
        auto const both = lock_of(client, "a", "b");
        auto tried = co_await both.try_acquire();
        BOOST_TEST(tried.valid());
        co_await tried.release();
        probe.cmd("ZADD", "holdfast_queue:{b}", 1, entry);
        auto lease = co_await both.acquire();
        BOOST_TEST(lease.valid());
        co_await lease.release();
    });
}
