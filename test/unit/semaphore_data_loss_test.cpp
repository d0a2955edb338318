// Semaphores on a server that lost a part of its data, or all of it, with real clients in virtual
// time.

#include "support/log_lines.hpp"
#include "unit/in_virtual_time.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease;
using holdfast::lease_clock;
using holdfast::log_level;
using holdfast::semaphore;
using holdfast::test::acquired;
using holdfast::test::acquired_of;
using holdfast::test::in_virtual_time;

namespace {

struct logged {
    holdfast::config settings() {
        holdfast::config made;
        made.log = log.sink();
        return made;
    }
    std::size_t warnings(std::string_view of) { return log.count(log_level::warning, of); }

    holdfast::test::log_lines log;
};

struct world : logged, in_virtual_time {
    world() : in_virtual_time{settings()} { server.settle(); }

    acquired try_take(semaphore const& from) {
        acquired result;
        from.try_acquire(result.handler());
        server.settle();
        return result;
    }

    holdfast::client other{context, server, settings()};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(semaphore_data_loss_test)

BOOST_FIXTURE_TEST_CASE(a_stated_limit_makes_the_semaphore, world) {
    auto const pool = client.semaphore("pool").limit(3);
    auto first = take(pool.permits(2));
    auto second = take(other.semaphore("pool").permits(1).limit(3));
    BOOST_TEST(try_take(client.semaphore("pool")).busy());
    BOOST_TEST((try_take(pool.permits(4)).ended == errc::invalid_options));
    BOOST_TEST(warnings("") == 0U);
}

BOOST_FIXTURE_TEST_CASE(without_a_number_an_acquisition_ends, world) {
    auto const pool = client.semaphore("pool");
    BOOST_TEST((try_take(pool).ended == errc::permits_not_set));
    acquired limited;
    pool.try_acquire_for(1h, limited.handler());
    acquired waiting;
    pool.acquire(waiting.handler());
    acquired owned;
    pool.acquire({.owner = holdfast::owner::make()}, owned.handler());
    acquired_of<holdfast::multi_lease> several;
    holdfast::multi_lock{pool.permits(2), client.lock("x")}.acquire(several.handler());
    server.settle();
    BOOST_TEST((limited.ended == errc::permits_not_set));
    BOOST_TEST((waiting.ended == errc::permits_not_set));
    BOOST_TEST((owned.ended == errc::permits_not_set));
    BOOST_TEST((several.ended == errc::permits_not_set));
    BOOST_TEST(!holdfast::is_retryable(errc::permits_not_set));
    // What it had taken before is given back.
    server.settle();
    BOOST_TEST(server.lock_keys().empty());
}

BOOST_FIXTURE_TEST_CASE(all_ways_to_acquire_state_the_limit, world) {
    auto const me = holdfast::owner::make();
    acquired limited;
    client.semaphore("a").limit(1).try_acquire_for(1s, limited.handler());
    acquired owned;
    client.semaphore("b").limit(1).acquire({.owner = me}, owned.handler());
    acquired again;
    client.semaphore("b").limit(2).acquire({.owner = me}, again.handler());
    acquired_of<holdfast::multi_lease> several;
    auto const pool = client.semaphore("c").limit(5).permits(2);
    holdfast::multi_lock{pool, client.lock("x")}.acquire(several.handler());
    server.settle();
    BOOST_TEST(limited.granted());
    BOOST_TEST(owned.granted());
    BOOST_TEST(again.granted());
    BOOST_TEST(several.granted());
    BOOST_TEST(try_take(client.semaphore("d").limit(1)).granted());
    acquired_of<holdfast::multi_lease> wrong;
    holdfast::multi_lock{client.semaphore("e").limit(0), client.lock("y")}.acquire(wrong.handler());
    server.settle();
    BOOST_TEST((wrong.ended == errc::invalid_options));
}

BOOST_FIXTURE_TEST_CASE(waiters_go_on_after_all_data_were_lost, world) {
    auto const pool = client.semaphore("pool").limit(1);
    auto held = take(pool);
    // What they are granted they give back at once.
    std::optional<error_code> silent;
    other.semaphore("pool").acquire([&](error_code ec, lease) { silent = ec; });
    std::optional<error_code> stating;
    other.semaphore("pool").limit(1).acquire([&](error_code ec, lease) { stating = ec; });
    std::optional<error_code> last;
    client.semaphore("pool").acquire([&](error_code ec, lease) { last = ec; });
    server.advance(1s);
    BOOST_TEST(!silent);
    server.lose_data();
    BOOST_TEST(server.advance_until([&] { return silent && stating && last; }, 1min));
    // The attempt for the first one states what the second one knows.
    BOOST_TEST((silent == error_code{}));
    BOOST_TEST((stating == error_code{}));
    // That of another client may come before.
    BOOST_TEST((last == error_code{} || last == errc::permits_not_set));
}

BOOST_FIXTURE_TEST_CASE(one_without_a_limit_that_waits_learns_that_the_data_were_lost, world) {
    auto held = take(client.semaphore("pool").limit(1));
    acquired waiting;
    other.semaphore("pool").acquire(waiting.handler());
    server.advance(1s);
    server.lose_data();
    BOOST_TEST(server.advance_until([&] { return waiting.ended.has_value(); }, 5s));
    BOOST_TEST((waiting.ended == errc::permits_not_set));
}

BOOST_FIXTURE_TEST_CASE(a_lost_set_costs_one_lease_and_is_told, world) {
    auto const pool = client.semaphore("pool").limit(2);
    auto held = take(pool);
    auto second = take(pool, {.lease = 60s});
    server.erase("{pool}:timeout");
    acquired waiting;
    auto const lost_at = lease_clock::now();
    other.semaphore("pool").limit(2).acquire(waiting.handler());
    server.settle();
    std::optional<bool> set_now;
    std::optional<error_code> set;
    client.semaphore("pool").try_set_permits(2, [&](error_code ec, bool now) {
        set = ec;
        set_now = now;
    });
    server.settle();
    BOOST_TEST((set == error_code{}));
    BOOST_TEST(!set_now.value());
    // The leases that were valid end first.
    bool overlap = false;
    BOOST_TEST(server.advance_until(
        [&] {
            overlap = overlap || (waiting.granted() && (held.valid() || second.valid()));
            return waiting.ended.has_value();
        },
        2min
    ));
    BOOST_TEST(waiting.granted());
    BOOST_TEST(!overlap);
    // The server's clock has whole milliseconds.
    BOOST_TEST((lease_clock::now() - lost_at >= 60s - 1ms));
    BOOST_TEST((lease_clock::now() - lost_at <= 62s));
    BOOST_TEST(warnings("2 of 2 permits were missing and are free again") == 1U);
    BOOST_TEST(warnings("the set of acquired permits was lost, or the limit was lowered") == 1U);
    BOOST_TEST(try_take(pool).granted());
    BOOST_TEST(warnings("permits") == 1U);
}

BOOST_FIXTURE_TEST_CASE(the_servers_limit_applies_and_is_told_once, world) {
    auto held = take(client.semaphore("pool").limit(2));
    for (int i = 0; i < 3; ++i) {
        auto one = try_take(client.semaphore("pool").limit(5));
        BOOST_TEST(one.granted());
        one.got = {};
        server.settle();
        auto another = try_take(other.semaphore("pool").limit(4));
        BOOST_TEST(another.granted());
        another.got = {};
        server.settle();
    }
    BOOST_TEST(warnings("the server's limit of 2 permits applies") == 2U);
    BOOST_TEST(try_take(client.semaphore("pool").limit(5).permits(2)).busy());
}

BOOST_AUTO_TEST_SUITE_END()
