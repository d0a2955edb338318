// Acquisitions of one owner that wait, or are under way, at the same time: all of them join the
// first grant.

#include "support/gated_server.hpp"

#include <boost/asio/cancel_after.hpp>
#include <boost/asio/deferred.hpp>

#include <optional>
#include <utility>

using namespace holdfast::test;
using holdfast::lease;
using holdfast::owner;

namespace {

/// Starts an acquisition and keeps what comes of it.
struct started {
    std::optional<error_code> ec;
    lease granted;

    template <class Operation>
    explicit started(Operation operation) {
        std::move(operation)([this](error_code result, lease given) {
            ec = result;
            granted = std::move(given);
        });
    }
    started(started const&) = delete;
    started& operator=(started const&) = delete;
};

}  // namespace

BOOST_AUTO_TEST_CASE(acquisitions_of_one_owner_that_wait_are_granted_together) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        auto const lock = client.lock("a");
        auto const me = owner::make();
        server.lock_as_other("a", 1h);
        started first{lock.acquire({.owner = me}, asio::deferred)};
        started stranger{lock.acquire(asio::deferred)};
        started second{lock.acquire({.owner = me}, asio::deferred)};
        started third{lock.try_acquire_for(1min, {.owner = me}, asio::deferred)};
        BOOST_TEST(co_await co_eventually(5s, [&] { return client.stats().waiters_now == 4; }));
        server.unlock_as_other("a");
        BOOST_TEST(co_await co_eventually(5s, [&] { return first.ec && second.ec && third.ec; }));
        BOOST_TEST((first.granted.token() == second.granted.token()));
        BOOST_TEST((first.granted.token() == third.granted.token()));
        BOOST_TEST(third.granted.valid());
        BOOST_TEST(!stranger.ec.has_value());
        BOOST_TEST(client.stats().waiters_now == 1U);

        // The last release wakes the one who waits behind them.
        first.granted = {};
        third.granted = {};
        co_await sleep_for(20ms);
        BOOST_TEST(!stranger.ec.has_value());
        co_await second.granted.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return stranger.ec.has_value(); }));
        BOOST_TEST(stranger.granted.valid());
    });
}

// Two attempts of one owner are under way: the second would be told "busy" because of the first.
BOOST_AUTO_TEST_CASE(an_attempt_under_way_joins_and_leaves_nothing_behind) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        co_await client.ready();
        auto const lock = client.lock("a");
        auto const me = owner::make();
        server.hold_requests(true);
        started first{lock.acquire({.owner = me}, asio::deferred)};
        started second{lock.try_acquire({.owner = me}, asio::deferred)};
        started third{lock.try_acquire({.owner = me}, asio::deferred)};
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.arrived("lock.acquire") == 3U; })
        );
        server.hold_requests(false);
        BOOST_TEST(co_await co_eventually(5s, [&] { return first.ec && second.ec && third.ec; }));
        for (auto const* one : {&first, &second, &third}) {
            BOOST_TEST(!*one->ec);
            BOOST_TEST(one->granted.valid());
            BOOST_TEST((one->granted.token() == first.granted.token()));
        }
        // Their own attempts were withdrawn, each by its own holder id: the grant stands.
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.arrived("lock.release") == 2U; })
        );
        BOOST_TEST(server.exists("a"));
        co_await first.granted.release();
        co_await second.granted.release();
        BOOST_TEST(server.exists("a"));
        co_await third.granted.release();
        BOOST_TEST(server.lock_keys().empty());
    });
}

// An acquisition that was turned away leaves nothing of its owner behind.
BOOST_AUTO_TEST_CASE(a_full_queue_turns_owners_away) {
    auto settings = patient_config();
    settings.max_waiters = 1;
    with_gates(
        [](gated_server& server, holdfast::client& client) -> task {
            auto const lock = client.lock("a");
            auto const me = owner::make();
            server.lock_as_other("a", 1h);
            started first{lock.acquire({.owner = me}, asio::deferred)};
            auto [ec, none] = co_await lock.acquire({.owner = me}, as_result);
            BOOST_TEST((ec == errc::too_many_waiters));
            server.unlock_as_other("a");
            BOOST_TEST(co_await co_eventually(5s, [&] { return first.ec.has_value(); }));
            BOOST_TEST(first.granted.valid());
            BOOST_TEST(client.stats().re_entries == 0U);
        },
        settings
    );
}

BOOST_AUTO_TEST_CASE(a_wait_that_was_cancelled_or_ran_out_is_not_joined_later) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        auto const lock = client.lock("a");
        auto const me = owner::make();
        server.lock_as_other("a", 1h);
        started first{lock.acquire({.owner = me}, asio::deferred)};
        auto [cut, none] =
            co_await lock.acquire({.owner = me}, asio::cancel_after(30ms, as_result));
        BOOST_TEST((cut == asio::error::operation_aborted));
        auto const nothing = co_await lock.try_acquire_for(1s, {.owner = me});
        BOOST_TEST(!nothing);
        server.unlock_as_other("a");
        BOOST_TEST(co_await co_eventually(5s, [&] { return first.ec.has_value(); }));
        BOOST_TEST(client.stats().re_entries == 0U);
        co_await first.granted.release();
        BOOST_TEST(server.lock_keys().empty());
    });
}
