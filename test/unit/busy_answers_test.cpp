// An operation says "busy" only if an attempt of its client was answered so after it began: also
// behind a waiter that sleeps for longer than the lock is held, and between the deadline of the
// client's own lease and the end of the server's key.

#include "unit/in_virtual_time.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::test::in_virtual_time;
using outcome = holdfast::test::acquired;

namespace {

/// A thread of Redisson's holds the lock for 8 s. A waiter of the client sleeps for as long.
struct behind_java : in_virtual_time {
    behind_java() {
        server.hold_as_other("a", 8s);
        server.settle();
        client.lock("a").acquire(waiting.handler());
        server.advance(1s);
        BOOST_TEST(!waiting.ended);
    }
    /// Another operation gets the lock, once the waiter has had it.
    void check_newcomer() {
        BOOST_TEST(!server.inspect("a").held);
        auto const asked = server.executed_scripts();
        outcome late;
        client.lock("a").try_acquire_for(2s, late.handler());
        server.advance(300ms);
        BOOST_TEST(waiting.granted());
        BOOST_TEST(!late.ended);
        waiting.got = {};
        server.advance(300ms);
        BOOST_TEST(late.granted());
        BOOST_TEST(late.got.valid());
        // One question for both, and what giving back takes.
        BOOST_TEST(server.executed_scripts() - asked <= 3U);
    }

    outcome waiting;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(busy_answers_test)

BOOST_FIXTURE_TEST_CASE(
    a_java_thread_that_enters_again_for_a_shorter_time_leaves_a_free_lock,
    behind_java
) {
    // `lock.lock(1, SECONDS)` of the same thread: the key ends by that, without a message.
    server.hold_as_other("a", 1s);
    server.advance(1001ms);
    check_newcomer();
}

BOOST_FIXTURE_TEST_CASE(a_java_program_that_deletes_a_fenced_lock_leaves_a_free_lock, behind_java) {
    // `RFencedLock.delete()`: both keys, without a message.
    BOOST_TEST(server.erase("a"));
    server.erase("redisson_lock_token:{a}");
    check_newcomer();
}

// The server keeps the key for longer than the client trusts its lease, which may drift.
BOOST_AUTO_TEST_CASE(the_time_ends_between_the_own_leases_deadline_and_the_servers_expiry) {
    for (auto const late : {-1'000us, 0us, 500us, 1'000us, 1'500us, 100'000us, 300'000us}) {
        in_virtual_time all;
        all.server.hold_as_other("a", 1s);
        all.server.settle();
        outcome first;
        all.client.lock("a").acquire({.lease = 30s, .renew = false}, first.handler());
        outcome patient;
        all.client.lock("a").acquire(patient.handler());
        BOOST_TEST_REQUIRE(all.wait_for(first));
        auto const end = first.got.deadline() + late;
        all.server.advance(29s);
        outcome brief;
        auto const limit = end - holdfast::lease_clock::now();
        all.client.lock("a").try_acquire_for(limit, brief.handler());
        all.server.advance(limit - 1us);
        BOOST_TEST(!brief.ended);
        all.server.advance(101ms);
        BOOST_TEST_REQUIRE(brief.ended.has_value());
        BOOST_TEST(!*brief.ended, brief.ended->message());
        BOOST_TEST(!brief.got);
        BOOST_TEST(all.wait_for(patient));
        BOOST_TEST(patient.granted());
    }
}

BOOST_AUTO_TEST_SUITE_END()
