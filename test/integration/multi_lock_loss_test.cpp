// A member of a multi-lock is lost, while all are held or while others are waited for.

#include "integration/multi_lock_fixture.hpp"

#include <cstddef>

using namespace holdfast::test;
using holdfast::multi_lease;
using holdfast::multi_lock;

BOOST_AUTO_TEST_CASE(a_member_that_is_lost_is_told_and_the_release_gives_the_others_back) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        co_await get_to_know(client);
        auto lease = co_await lock_of(client, "a", "b", "c").acquire();
        loss_reason told = loss_reason::none;
        lease.wait_lost([&](error_code, loss_reason reason) { told = reason; });
        server.del("b");
        auto const [renewed] = co_await lease.renew(as_result);
        BOOST_TEST((renewed == errc::lease_lost));
        BOOST_TEST(co_await co_eventually(5s, [&] { return told == loss_reason::deleted; }));
        BOOST_TEST((lease.state() == lease_state::lost));
        BOOST_TEST((lease.loss() == loss_reason::deleted));
        BOOST_TEST(server.exists("a"));
        BOOST_TEST(server.exists("c"));
        auto const [ec] = co_await lease.release(as_result);
        BOOST_TEST((ec == errc::lease_lost));
        BOOST_TEST(server.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(a_member_that_is_lost_while_others_are_waited_for_is_taken_again) {
    with_gates(
        [](gated_server& server, holdfast::client& client) -> task {
            co_await get_to_know(client);
            server.lock_as_other("b", 1h);
            ended_multi waiting;
            lock_of(client, "a", "b").acquire(waiting.handler());
            auto const parked = [&] {
                return client.stats().waiters_now == 1 && server.exists("a");
            };
            BOOST_TEST(co_await co_eventually(5s, parked));
            server.del("a");
            // A renewal finds that it is gone.
            auto const taken_again = [&] { return client.stats().losses.deleted == 1 && parked(); };
            BOOST_TEST(co_await co_eventually(10s, taken_again));
            BOOST_TEST(!waiting.done());
            server.unlock_as_other("b");
            BOOST_TEST(co_await co_eventually(10s, [&] { return waiting.done(); }));
            BOOST_TEST(waiting.lease.valid());
            co_await waiting.lease.release();
            BOOST_TEST(server.lock_keys().empty());
        },
        short_config()
    );
}

BOOST_AUTO_TEST_CASE(with_lease_holds_them_and_cancels_the_body_when_one_is_lost) {
    with_gates(
        [](gated_server& server, holdfast::client& client) -> task {
            auto body = [&](multi_lease& held) -> asio::awaitable<std::size_t> {
                BOOST_TEST(server.lock_keys().size() == 2U);
                co_return held.size();
            };
            // A temporary, as users write it.
            auto const size =
                co_await holdfast::with_lease(multi_lock{client.lock("a"), client.lock("b")}, body);
            BOOST_TEST(size == 2U);
            BOOST_TEST(server.lock_keys().empty());

            bool cancelled = false;
            auto stuck = [&](multi_lease&) -> task {
                server.del("b");
                try {
                    co_await sleep_for(20s);
                } catch (boost::system::system_error const&) {
                    cancelled = true;
                    throw;
                }
            };
            multi_lock const both{client.lock("a"), client.lock("b")};
            error_code ec;
            try {
                co_await holdfast::with_lease(both, stuck);
            } catch (boost::system::system_error const& e) {
                ec = e.code();
            }
            BOOST_TEST(cancelled);
            BOOST_TEST((ec == errc::lease_lost));
            BOOST_TEST(server.lock_keys().empty());
        },
        short_config()
    );
}
