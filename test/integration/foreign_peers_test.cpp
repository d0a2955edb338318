// Clients of this library and others that share a lock: Redisson's, and those of version 0.1.

#include "support/foreign/client.hpp"
#include "support/foreign/contest.hpp"
#include "support/one_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <deque>
#include <map>
#include <string>
#include <vector>

using namespace holdfast::test;
namespace data = boost::unit_test::data;

namespace {

auto const dialects =
    data::make({dialect::redisson, dialect::redisson_fenced, dialect::first_version});

std::string const channel = "redisson_lock__channel:{L}";

foreign_options options_for(redis_server const& server, dialect speaks) {
    return {.server = {server.unix_socket()}, .speaks = speaks};
}

// It asks again only when it is told to.
holdfast::config patient(redis_server const& server) {
    auto settings = holdfast::parse_url(server.url());
    settings.fallback_poll_interval = 1h;
    settings.lease = 1h;
    return settings;
}

foreign_options patient(redis_server const& server, dialect speaks) {
    auto options = options_for(server, speaks);
    options.lease = 1h;
    return options;
}

task take_once(foreign_client& by, std::int64_t thread, int& served) {
    auto const grant = co_await by.acquire("L", thread);
    co_await by.release(grant);
    ++served;
}

task take_once(holdfast::client& by, int& served) {
    auto lease = co_await by.lock("L").acquire();
    co_await lease.release();
    ++served;
}

}  // namespace

BOOST_DATA_TEST_CASE(both_exclude_each_other_and_both_go_on, dialects, speaks) {
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        contest all;
        std::deque<holdfast::client> ours;
        std::deque<foreign_client> theirs;
        for (int i = 0; i < 4; ++i) {
            all.add(ours.emplace_back(executor, server.url()).lock("L"));
            all.add(theirs.emplace_back(executor, options_for(server, speaks)), "L");
        }
        co_await all.run(3s, 10);
        BOOST_TEST(all.overlaps() == 0);
        BOOST_TEST(all.tokens_that_did_not_grow() == 0);
        BOOST_TEST(all.losses() == 0);
        BOOST_TEST(all.fewest_grants() >= 10, all.describe());
        BOOST_TEST(!server.probe().exists("L"));
    });
}

BOOST_DATA_TEST_CASE(a_crowd_in_one_of_our_clients_leaves_turns_for_them, dialects, speaks) {
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        contest all;
        holdfast::client client{executor, server.url()};
        for (int i = 0; i < 20; ++i) {
            all.add(client.lock("L"), contest::manner::eager);
        }
        std::deque<foreign_client> theirs;
        for (int i = 0; i < 3; ++i) {
            all.add(theirs.emplace_back(executor, options_for(server, speaks)), "L");
        }
        co_await all.run(2s, 5);
        BOOST_TEST(all.overlaps() == 0);
        BOOST_TEST(all.tokens_that_did_not_grow() == 0);
        BOOST_TEST(all.fewest_grants() >= 5, all.describe());
    });
}

BOOST_DATA_TEST_CASE(their_release_wakes_our_waiter, dialects, speaks) {
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        foreign_client peer{executor, patient(server, speaks)};
        holdfast::client client{executor, patient(server)};
        auto probe = server.probe();
        auto const grant = co_await peer.acquire("L");
        int served = 0;
        asio::co_spawn(executor, take_once(client, served), asio::detached);
        BOOST_TEST(co_await co_eventually(5s, [&] { return probe.pubsub_numsub(channel) == 1; }));
        co_await sleep_for(100ms);  // for the attempt after the subscription
        BOOST_TEST(served == 0);
        BOOST_TEST((co_await peer.release(grant) == foreign_release::freed));
        BOOST_TEST(co_await co_eventually(5s, [&] { return served == 1; }));
    });
}

BOOST_DATA_TEST_CASE(our_release_wakes_their_waiter, dialects, speaks) {
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        foreign_client peer{executor, patient(server, speaks)};
        holdfast::client client{executor, patient(server)};
        auto probe = server.probe();
        auto lease = co_await client.lock("L").acquire();
        int served = 0;
        asio::co_spawn(executor, take_once(peer, 1, served), asio::detached);
        BOOST_TEST(co_await co_eventually(5s, [&] { return probe.pubsub_numsub(channel) >= 1; }));
        co_await sleep_for(100ms);
        BOOST_TEST(served == 0);
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return served == 1; }));
    });
}

// Nobody asks by himself: a wake-up that is lost, or kept from the others, would end the chain.
BOOST_DATA_TEST_CASE(all_who_wait_are_served_one_after_the_other, dialects, speaks) {
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        constexpr int waiters = 5;
        foreign_client peer{executor, patient(server, speaks)};
        foreign_client other_peer{executor, patient(server, speaks)};
        holdfast::client client{executor, patient(server)};
        holdfast::client other_client{executor, patient(server)};
        auto lease = co_await client.lock("L").acquire();
        int served = 0;
        for (int i = 0; i < waiters; ++i) {
            for (auto* one : {&peer, &other_peer}) {
                asio::co_spawn(executor, take_once(*one, i, served), asio::detached);
            }
            for (auto* one : {&client, &other_client}) {
                asio::co_spawn(executor, take_once(*one, served), asio::detached);
            }
        }
        co_await sleep_for(300ms);
        BOOST_TEST(served == 0);
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(10s, [&] { return served == 4 * waiters; }));
        BOOST_TEST(!server.probe().exists("L"));
    });
}

BOOST_DATA_TEST_CASE(a_lock_that_they_renew_stays_theirs, dialects, speaks) {
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        auto options = options_for(server, speaks);
        options.lease = 1s;
        options.renews = true;
        foreign_client peer{executor, options};
        holdfast::client client{executor, server.url()};
        auto const grant = co_await peer.acquire("L");
        auto none = co_await client.lock("L").try_acquire_for(2500ms);
        BOOST_TEST(!none);
        BOOST_TEST((co_await peer.release(grant) == foreign_release::freed));
        // The place of the one that gave up may still be on its way out of the queue.
        auto lease = co_await client.lock("L").try_acquire_for(1s);
        BOOST_TEST(bool(lease));
        co_await lease.release();
    });
}

// What is recorded of Redisson itself, so that the peer is worth being compared with.
BOOST_AUTO_TEST_CASE(a_redisson_peer_leaves_what_redisson_leaves) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        foreign_client peer{executor, options_for(server, dialect::redisson)};
        auto probe = server.probe();
        auto listener = server.probe();
        listener.subscribe(channel);
        auto const first = co_await peer.acquire("L", -5);
        auto const again = co_await peer.acquire("L", -5);
        BOOST_TEST(first.holder == again.holder);
        BOOST_TEST(first.holder.size() == 39U);
        BOOST_TEST(first.holder.ends_with(":-5"));
        BOOST_TEST((probe.hgetall("L") == std::map<std::string, std::string>{{first.holder, "2"}}));
        BOOST_TEST(probe.pttl("L") <= 30'000);
        BOOST_TEST(probe.pttl("L") > 25'000);

        auto stranger = first;
        stranger.holder = "71b96ce8-2746-4c7e-9a51-0f6de2f5a111:1";
        BOOST_TEST((co_await peer.release(stranger) == foreign_release::not_held));
        BOOST_TEST((co_await peer.release(first) == foreign_release::still_held));
        BOOST_TEST(!listener.next_message(50ms));
        BOOST_TEST((co_await peer.release(first) == foreign_release::freed));
        auto const message = listener.next_message(1s);
        BOOST_REQUIRE(message);
        BOOST_TEST(message->payload == "0");
        // The latch of the release, too.
        BOOST_TEST(co_await co_eventually(1s, [&] { return probe.keys().empty(); }));
    });
}

BOOST_AUTO_TEST_CASE(the_threads_of_a_redisson_peer_share_a_subscription) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        constexpr int threads = 10;
        foreign_client peer{executor, patient(server, dialect::redisson)};
        auto probe = server.probe();
        foreign_client holder{executor, options_for(server, dialect::redisson)};
        auto const held = co_await holder.acquire("L");
        int served = 0;
        for (int i = 0; i < threads; ++i) {
            asio::co_spawn(executor, take_once(peer, i, served), asio::detached);
        }
        co_await sleep_for(200ms);
        BOOST_TEST(probe.pubsub_numsub(channel) == 1);
        co_await holder.release(held);
        BOOST_TEST(co_await co_eventually(10s, [&] { return served == threads; }));
        BOOST_TEST(co_await co_eventually(1s, [&] { return probe.pubsub_numsub(channel) == 0; }));
    });
}
