// What becomes of locks, holders and waiters when a replica is promoted.

#include "simulation/deployment.hpp"
#include "simulation/lease_stage.hpp"

#include <holdfast.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>

using namespace holdfast;
using namespace holdfast::sim;

namespace {

// A primary and its replica, to which a name leads.
struct replicated : lease_stage {
    replicated() : replica{on().add("second", 6379, false)} {
        on().primary().host = "first";
        on().replicate();
        settings().lease = 60s;
    }

    // The primary is gone, and the replica lacks so many of its last writes.
    void fail_over(std::size_t behind) {
        auto& old = on().primary();
        on().kill(old);
        on().promote(replica, behind);
        on().lead_to(replica);
        on().start(old, true);
        on().demote(old);
    }

    machine& replica;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_lease_that_the_replica_knows_of_outlives_the_primary) {
    replicated all;
    auto& one = all.add_ready();
    auto const held = all.granted(one);
    all.fail_over(0);
    all.run_for(5s);
    BOOST_TEST((all.state_of(one, *held) == lease_state::held));
    BOOST_TEST(all.on().data().pttl("lock") > 50'000);
    one.drop(*held);
    BOOST_TEST(all.close_all() == "");
}

BOOST_AUTO_TEST_CASE(a_holder_learns_at_once_that_a_failover_has_taken_the_lock) {
    replicated all;
    auto& one = all.add_ready();
    auto const held = all.granted_for_once(one);
    all.fail_over(24);
    all.run_for(5s);
    BOOST_TEST(all.has_failed_over(one, *held));
    one.drop(*held);
    BOOST_TEST(all.close_all() == "");
}

BOOST_AUTO_TEST_CASE(a_waiter_is_granted_what_a_failover_has_freed_with_a_greater_token) {
    replicated all;
    auto who = all.contend();
    all.fail_over(24);
    BOOST_TEST(all.run_until([&] { return who.waiting->done; }, 5s));
    BOOST_TEST(all.held_by(*who.waiting).token().value > all.held_by(*who.held).token().value);
    who.drop_both();
    BOOST_TEST(all.close_all() == "");
}

BOOST_AUTO_TEST_CASE(lock_delay_keeps_the_lock_until_the_lost_lease_has_ended) {
    replicated all;
    all.settings().lease = 2s;
    all.settings().lock_delay = 3s;
    auto who = all.contend();
    all.fail_over(24);
    auto const failed_at = all.in().now();
    BOOST_TEST(all.run_until([&] { return who.waiting->done; }, 10s));
    BOOST_TEST((all.in().now() - failed_at > 2'900ms));
    BOOST_TEST((all.state_of(who.one, *who.held) == lease_state::lost));
    who.drop_both();
    BOOST_TEST(all.close_all() == "");
}

// The former primary may have granted the lock to another client, of which the new primary and the
// releaser know nothing.
BOOST_AUTO_TEST_CASE(lock_delay_keeps_a_lock_that_is_released_from_the_next_in_the_queue) {
    replicated all;
    all.settings().lock_delay = 3s;
    auto who = all.contend();
    all.fail_over(0);
    auto const failed_at = all.in().now();
    all.run_for(1s);
    BOOST_TEST((all.state_of(who.one, *who.held) == lease_state::held));
    who.one.drop(*who.held);
    BOOST_TEST(all.run_until([&] { return who.waiting->done; }, 10s));
    BOOST_TEST((all.in().now() - failed_at > 2'900ms));
    who.two.drop(*who.waiting);
    BOOST_TEST(all.close_all() == "");
}

BOOST_AUTO_TEST_CASE(lock_delay_lets_a_waiter_leave_the_queue_and_give_nobody_the_lock) {
    replicated all;
    all.settings().lock_delay = 3s;
    auto who = all.contend();
    auto& three = all.add_ready();
    auto const behind = three.acquire();
    all.run_for(100ms);
    BOOST_TEST(all.waiting_clients() == 2);
    all.fail_over(0);
    all.run_for(1s);
    who.one.drop(*who.held);
    all.run_for(100ms);
    who.two.run([&] { who.waiting->cancel(asio::cancellation_type::terminal); });
    all.run_for(100ms);
    BOOST_TEST(all.waiting_clients() == 1);
    BOOST_TEST(!behind->done);
    three.run([&] { behind->cancel(asio::cancellation_type::terminal); });
    all.run_for(100ms);
    BOOST_TEST(all.waiting_clients() == 0);
    BOOST_TEST(all.close_all() == "");
}

// The script that granted the lock runs once more where the replicas are waited for. By then that
// may be the next primary.
BOOST_AUTO_TEST_CASE(lock_delay_holds_for_a_grant_that_no_replica_has_confirmed) {
    replicated all;
    all.settings().lock_delay = 3s;
    all.settings().replicas.count = 1;
    auto& one = all.add_ready();
    all.run_for(4s);
    all.on().set_refuses_connections(true);
    for (auto const& each : all.on().links()) {
        if (!each->is_for_commands()) {
            each->close_by_server(asio::error::connection_reset);
        }
    }
    all.run_for(10ms);
    auto const asked = one.acquire();
    all.run_for(10ms);
    BOOST_TEST_REQUIRE(all.on().data().exists("lock"));
    BOOST_TEST(!asked->done);
    all.fail_over(24);
    all.on().set_refuses_connections(false);
    BOOST_TEST(!all.run_until([&] { return all.on().data().exists("lock"); }, 2'900ms));
    BOOST_TEST(all.run_until([&] { return asked->done; }, 10s));
    one.drop(*asked);
    BOOST_TEST(all.close_all() == "");
}

BOOST_AUTO_TEST_CASE(a_loss_is_learned_of_although_the_holder_is_stuck) {
    replicated all;
    auto& one = all.add_ready();
    auto const held = all.granted(one);
    all.run_for(100ms);
    one.of().block(one.on());
    all.fail_over(24);
    all.run_for(5s);
    BOOST_TEST(all.has_failed_over(one, *held));
    one.of().unblock(one.on());
    one.drop(*held);
    BOOST_TEST(all.close_all() == "");
}

// A connection to the former primary says nothing of it: a waiter's attempts write nothing there.
BOOST_AUTO_TEST_CASE(a_switch_that_its_sentinel_could_not_be_asked_about_is_learned_of_later) {
    replicated all;
    auto& sentinel = all.on().add("sentinel", 26379, true);
    sentinel.data.set_watched({primary_name, "first", 6379, 1});
    all.settings().sentinels = {{"sentinel", 26379}};
    all.settings().primary_name = primary_name;
    auto& holder = all.add_ready();
    auto const held = all.granted(holder);
    auto& waiter = all.add_ready();
    auto const waiting = waiter.acquire();
    all.run_for(1s);
    all.on().set_refuses_connections(true);
    auto& old = all.on().primary();
    all.on().promote(all.replica, 0);
    all.on().demote(old);
    sentinel.data.set_watched({primary_name, "second", 6379, 2});
    all.on().as_operator({"DEL", "lock"});
    all.run_for(1s);
    all.on().set_refuses_connections(false);
    BOOST_TEST(all.run_until([&] { return waiting->done; }, 10s));
    holder.drop(*held);
    waiter.drop(*waiting);
    BOOST_TEST(all.close_all() == "");
}
