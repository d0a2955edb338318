// When leases are renewed and end, through the public interface: leases as the README uses them,
// with nobody who waits for their loss.

#include "unit/in_virtual_time.hpp"
#include "unit/printers.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/test/unit_test.hpp>

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using holdfast::acquire_options;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease;
using holdfast::lease_clock;
using holdfast::loss_reason;
using holdfast::test::acquired;
using holdfast::test::in_virtual_time;

namespace {

acquire_options const short_and_not_renewed{.lease = 2s, .renew = false};

struct world : in_virtual_time {
    holdfast::client other{context, server};

    world() { server.advance(1s); }

    [[nodiscard]] error_code release(lease& held) {
        std::optional<error_code> told;
        held.release([&](error_code ec) { told = ec; });
        server.settle();
        return told.value_or(errc::release_unknown);
    }
    void lose(lease const& held) {
        BOOST_TEST_REQUIRE(server.advance_until([&] { return !held.valid(); }, 10s));
    }
    void check(acquired const& next, lease_clock::time_point deadline) {
        BOOST_TEST_REQUIRE(wait_for(next));
        BOOST_TEST_REQUIRE(next.granted());
        BOOST_TEST((next.at >= deadline));
        BOOST_TEST((next.at <= deadline + 5ms));
    }
    // The lock of a client that had a waiter a moment ago. It changes hands without a word to the
    // server: only the first time the client asks, because it has just subscribed.
    [[nodiscard]] lease take_where_others_waited() {
        auto first = take(client, "x");
        acquired second;
        client.lock("x").acquire(second.handler());
        server.settle();
        first = {};
        server.settle();
        BOOST_TEST_REQUIRE(second.granted());
        second.got = {};
        return take(client, "x");
    }
    // y follows x inside the client, ends by time and is never released.
    [[nodiscard]] lease over_a_long_hold(acquire_options const& options) {
        auto first = take_where_others_waited();
        acquired second;
        client.lock("x").acquire(options, second.handler());
        server.advance(5s);
        first = {};
        server.settle();
        BOOST_TEST_REQUIRE(second.granted());
        return std::move(second.got);
    }
};

// A lease of 2 s and how it may end by time.
std::vector<acquire_options> const ends_by_time{
    short_and_not_renewed,
    {.lease = 1s, .max_hold = 2s},
    {.lease = 1s, .max_renewals = 1},
    {.lease = 2s, .max_renewals = 0},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(lease_deadlines_test)

BOOST_FIXTURE_TEST_CASE(a_lease_is_renewed_though_another_hold_has_no_holder_then, world) {
    auto const a = take(client, "a");
    server.advance(1ms);
    auto i = take(client, "i");
    server.advance(1ms);
    auto const b = take(client, "b");
    server.pause();
    acquired next;
    client.lock("i").acquire(next.handler());
    i = {};
    server.advance(18ms);
    server.resume();
    server.advance(29s);
    BOOST_TEST(a.valid());
    BOOST_TEST(b.valid());
    BOOST_TEST_REQUIRE(next.granted());
    BOOST_TEST(next.got.valid());
}

BOOST_FIXTURE_TEST_CASE(all_of_many_leases_are_renewed_in_whatever_order_they_began, world) {
    std::deque<lease> all;
    std::deque<acquired> waiting;
    for (int i = 0; i < 40; ++i) {
        all.push_back(take(client, std::to_string(i)));
        server.advance(700us);
        if (i % 3 == 0) {
            waiting.emplace_back();
            client.lock(std::to_string(i)).acquire(waiting.back().handler());
            server.pause();
            server.advance(300us);
            all.back() = {};
            server.resume();
        }
    }
    server.advance(5min);
    for (auto const& one : all) {
        BOOST_TEST((!one || one.valid()));
    }
    for (auto const& one : waiting) {
        BOOST_TEST_REQUIRE(one.granted());
        BOOST_TEST(one.got.valid());
    }
}

// The grant of another client was claimed for a waiter with a learned lease, which is short.
BOOST_FIXTURE_TEST_CASE(a_lease_behind_a_learned_one_begins_with_its_full_length, world) {
    for (int i = 0; i < 10; ++i) {
        auto brief = take(client.lock("x"), {.lease = holdfast::learned});
        server.advance(10ms);
        brief = {};
        server.settle();
    }
    auto held = take(other, "x");
    client.lock("x").acquire({.lease = holdfast::learned}, [](error_code, lease got) { got = {}; });
    acquired second;
    client.lock("x").acquire({.lease = 30s, .renew = false}, second.handler());
    server.advance(100ms);
    held = {};
    server.settle();
    BOOST_TEST_REQUIRE(second.granted());
    BOOST_TEST((second.got.remaining() > 29s));
}

BOOST_FIXTURE_TEST_CASE(a_waiter_of_the_client_follows_at_the_deadline, world) {
    for (auto const& options : ends_by_time) {
        auto second = over_a_long_hold(options);
        acquired third;
        client.lock("x").acquire(third.handler());
        lose(second);
        BOOST_TEST(!third.ended);
        check(third, second.deadline());
        BOOST_TEST((third.got.token() > second.token()));
        // What its holder does then harms nobody.
        BOOST_TEST((release(second) == errc::lease_lost));
        server.advance(1min);
        BOOST_TEST(third.got.valid());
        BOOST_TEST(server.inspect("x").held);
        BOOST_TEST((release(third.got) == error_code{}));
    }
}

BOOST_FIXTURE_TEST_CASE(a_waiter_of_another_client_follows_at_the_deadline, world) {
    for (auto const& options : ends_by_time) {
        auto second = over_a_long_hold(options);
        acquired third;
        other.lock("x").acquire(third.handler());
        lose(second);
        BOOST_TEST(!third.ended);
        check(third, second.deadline());
        BOOST_TEST((third.got.token() > second.token()));
        BOOST_TEST((release(second) == errc::lease_lost));
        server.advance(1min);
        BOOST_TEST(third.got.valid());
        BOOST_TEST((release(third.got) == error_code{}));
    }
}

BOOST_FIXTURE_TEST_CASE(nothing_is_left_of_leases_of_any_kind_that_are_over, world) {
    bool set = false;
    client.semaphore("s").try_set_permits(3, [&](error_code ec, bool) { set = !ec; });
    server.settle();
    BOOST_TEST_REQUIRE(set);
    auto const lock = take(client.lock("l"), short_and_not_renewed);
    auto const fair = take(client.fair_lock("f"), short_and_not_renewed);
    auto const reader = take(client.read_write_lock("r").read(), short_and_not_renewed);
    auto const sibling = take(client.read_write_lock("r").read(), short_and_not_renewed);
    auto const writer = take(client.read_write_lock("w").write(), short_and_not_renewed);
    auto const permits = take(client.semaphore("s").permits(2), short_and_not_renewed);
    BOOST_TEST(server.lock_keys().size() > 5U);
    server.advance(reader.deadline() - lease_clock::now() + 1ms);
    // The number of the semaphore's permits stays.
    BOOST_TEST(server.lock_keys() == std::vector<std::string>{"s"});
    BOOST_TEST(!permits.valid());
    auto const again = take(client.semaphore("s").permits(3));
    BOOST_TEST(again.valid());
    BOOST_TEST(client.stats().leases_now == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_reader_that_is_over_keeps_no_writer_out, world) {
    auto const lock = client.read_write_lock("r");
    auto first = take(lock.read());
    // It has the hold of the first one.
    auto second = take(lock.read(), short_and_not_renewed);
    acquired writer;
    other.read_write_lock("r").write().acquire(writer.handler());
    server.advance(1s);
    BOOST_TEST((release(first) == error_code{}));
    BOOST_TEST(!writer.ended);
    check(writer, second.deadline());
    BOOST_TEST((release(second) == errc::lease_lost));
    BOOST_TEST(writer.got.valid());
}

// What a renewal of its sibling has set on the server does not prolong it.
BOOST_FIXTURE_TEST_CASE(a_reader_ends_in_time_though_a_sibling_was_renewed, world) {
    auto const lock = client.read_write_lock("r");
    auto first = take(lock.read());
    auto second = take(lock.read(), {.lease = 15s, .renew = false});
    acquired writer;
    other.read_write_lock("r").write().acquire(writer.handler());
    server.advance(12s);
    BOOST_TEST(client.stats().renewals == 1U);
    BOOST_TEST((release(first) == error_code{}));
    BOOST_TEST(!writer.ended);
    check(writer, second.deadline());
}

BOOST_FIXTURE_TEST_CASE(a_reader_ends_in_time_though_one_of_another_client_was_renewed, world) {
    holdfast::client third{context, server};
    auto const over = take(client.read_write_lock("r").read(), short_and_not_renewed);
    auto kept = take(other.read_write_lock("r").read());
    acquired writer;
    third.read_write_lock("r").write().acquire(writer.handler());
    server.advance(12s);
    BOOST_TEST(!over.valid());
    BOOST_TEST(kept.valid());
    BOOST_TEST(!writer.ended);
    BOOST_TEST((release(kept) == error_code{}));
    check(writer, lease_clock::now());
}

BOOST_FIXTURE_TEST_CASE(a_holder_that_is_stuck_keeps_the_lock_until_its_deadline_only, world) {
    asio::io_context stuck;
    acquired first;
    client.lock("x").acquire(asio::bind_executor(stuck, [&](error_code, lease got) {
        first.got = std::move(got);
    }));
    server.settle();
    stuck.run();
    BOOST_TEST_REQUIRE(first.got.valid());
    acquired second;
    acquired third;
    client.lock("x").acquire({.lease = 10s}, second.handler());
    other.lock("x").acquire({.lease = 10s}, third.handler());
    check(second, first.got.deadline());
    second.got = {};
    server.settle();
    BOOST_TEST(third.granted());
    BOOST_TEST((release(first.got) == errc::lease_lost));
}

BOOST_FIXTURE_TEST_CASE(a_waiter_that_limits_renewals_begins_with_its_full_length, world) {
    for (acquire_options const& options :
         {acquire_options{.renew = false}, acquire_options{.max_renewals = 0}}) {
        for (auto const held_for : {1s, 5s, 9s, 14s}) {
            auto first = take_where_others_waited();
            acquired second;
            client.lock("x").acquire(options, second.handler());
            server.advance(held_for);
            first = {};
            server.settle();
            BOOST_TEST_REQUIRE(second.granted());
            BOOST_TEST((second.got.remaining() > 29'600ms));
            server.advance(26'600ms);
            BOOST_TEST(second.got.valid());
            server.advance(1s);
            BOOST_TEST(!second.got.valid());
            second.got = {};
            server.settle();
        }
    }
}

BOOST_FIXTURE_TEST_CASE(the_librarys_own_renewals_do_not_count, world) {
    auto const lost_after = [&](std::function<void()> const& meanwhile) {
        auto first = take_where_others_waited();
        acquired second;
        client.lock("x").acquire({.max_renewals = 1}, second.handler());
        server.advance(14s);
        first = {};
        server.settle();
        BOOST_TEST_REQUIRE(second.granted());
        auto const from = lease_clock::now();
        server.advance(5s);
        meanwhile();
        BOOST_TEST(server.advance_until([&] { return !second.got.valid(); }, 2min));
        BOOST_TEST((second.got.loss() == loss_reason::max_renewals));
        auto const after = lease_clock::now() - from;
        second.got = {};
        server.settle();
        return after;
    };
    for (std::function<void()> const& meanwhile :
         {std::function<void()>{[] {}},
          std::function<void()>{[&] { server.drop_connections(); }},
          std::function<void()>{[&] {
              for (int i = 0; i < 4; ++i) {
                  server.drop_connections();
                  server.advance(1s);
              }
          }}}) {
        auto const after = lost_after(meanwhile);
        BOOST_TEST((after > 36'000ms));
        BOOST_TEST((after < 37'000ms));
    }
}

// The hash of a read lock is renewed every 10 s, because a Java reader may shorten its life.
BOOST_FIXTURE_TEST_CASE(what_keeps_a_read_lock_does_not_count_as_renewal, world) {
    acquire_options const limited{.lease = 60s, .max_renewals = 1};
    auto held = take(client.read_write_lock("r").read(), limited);
    auto const from = lease_clock::now();
    auto const renewals = client.stats().renewals;
    BOOST_TEST(server.advance_until([&] { return !held.valid(); }, 3min));
    BOOST_TEST((lease_clock::now() - from > 72s));
    BOOST_TEST((lease_clock::now() - from < 74s));
    BOOST_TEST(client.stats().renewals - renewals >= 6U);
    auto const once = take(client.read_write_lock("r2").read(), {.lease = 60s, .renew = false});
    auto const end = once.deadline();
    server.advance(40s);
    BOOST_TEST(once.valid());
    BOOST_TEST((once.deadline() == end));
}

// A write lease of 2 s, and a read lease of the same owner: both have one expiry on the server.
struct write_beside_read : world {
    [[nodiscard]] lease write() {
        auto briefly = short_and_not_renewed;
        briefly.owner = me;
        return take(both.write(), briefly);
    }
    // Both are over, and the server was away meanwhile.
    void check_that_it_is_free() {
        server.start();
        acquired next;
        other.read_write_lock("r").write().acquire(next.handler());
        BOOST_TEST(wait_for(next, 3s));
        BOOST_TEST(next.granted());
    }

    holdfast::owner me = holdfast::owner::make();
    holdfast::read_write_lock both = client.read_write_lock("r");
};

BOOST_FIXTURE_TEST_CASE(a_write_lease_that_ended_out_of_reach_blocks_nobody, write_beside_read) {
    auto const writes = write();
    auto reads = take(both.read(), {.lease = 50s, .owner = me});
    BOOST_TEST(release(reads) == error_code{});
    server.stop();
    server.advance(6s);
    BOOST_TEST(!writes.valid());
    check_that_it_is_free();
}

BOOST_FIXTURE_TEST_CASE(
    a_write_lease_beside_a_read_attempt_without_an_answer_blocks_nobody,
    write_beside_read
) {
    auto const writes = write();
    asio::cancellation_signal cancel;
    acquired reads;
    server.lose_next_replies(1);
    both.read().acquire(
        {.lease = 50s, .owner = me},
        asio::bind_cancellation_slot(cancel.slot(), reads.handler())
    );
    server.settle();
    cancel.emit(asio::cancellation_type::terminal);
    server.settle();
    server.stop();
    server.advance(6s);
    BOOST_TEST(!writes.valid());
    check_that_it_is_free();
}

BOOST_FIXTURE_TEST_CASE(
    a_shutdown_does_not_forget_that_a_read_lease_was_longer,
    write_beside_read
) {
    auto const writes = write();
    auto reads = take(both.read(), {.lease = 50s, .owner = me});
    BOOST_TEST(release(reads) == error_code{});
    server.stop();
    std::optional<error_code> told;
    client.shutdown([&](error_code ec) { told = ec; });
    server.advance(6s);
    BOOST_TEST_REQUIRE(told.has_value());
    BOOST_TEST(*told == errc::release_unknown);
}

// What was asked for and not answered may have been done.
BOOST_FIXTURE_TEST_CASE(a_renewal_without_an_answer_may_have_made_the_lease_longer, world) {
    auto held = take(client, "x");
    asio::cancellation_signal cancel;
    acquired next;
    client.lock("x").acquire(
        {.lease = 60s},
        asio::bind_cancellation_slot(cancel.slot(), next.handler())
    );
    server.advance(1s);
    server.lose_next_replies(1);
    held = {};
    server.settle();
    server.stop();
    cancel.emit(asio::cancellation_type::terminal);
    server.advance(40s);
    BOOST_TEST(!next.granted());
    server.start();
    acquired third;
    other.lock("x").acquire(third.handler());
    BOOST_TEST(wait_for(third, 3s));
    BOOST_TEST(third.granted());
}

BOOST_FIXTURE_TEST_CASE(a_handed_over_lease_is_no_longer_than_was_asked, world) {
    auto first = take(client, "x");
    asio::cancellation_signal cancel;
    acquired cancelled;
    acquired second;
    other.lock("x").acquire(asio::bind_cancellation_slot(cancel.slot(), cancelled.handler()));
    other.lock("x").acquire({.lease = 1s, .renew = false}, second.handler());
    server.advance(1s);
    cancel.emit(asio::cancellation_type::terminal);
    server.advance(10ms);
    BOOST_TEST_REQUIRE(!second.ended);
    first = {};
    server.settle();
    BOOST_TEST_REQUIRE(second.granted());
    BOOST_TEST((second.got.remaining() <= 988ms));
    BOOST_TEST((second.got.remaining() > 900ms));
    auto const third = [&] {
        acquired waiting;
        client.lock("x").acquire(waiting.handler());
        check(waiting, second.got.deadline());
        return std::move(waiting.got);
    }();
    BOOST_TEST(third.valid());
}

BOOST_FIXTURE_TEST_CASE(a_grant_to_another_waiters_attempt_has_the_length_that_was_asked, world) {
    // The first waiter goes with its attempt in flight, and the next one gets what was granted.
    auto const granted_instead = [&](acquire_options const& gone,
                                     acquire_options const& stays,
                                     std::chrono::milliseconds answered_after,
                                     auto lock) {
        server.settle();
        server.pause();
        asio::cancellation_signal cancel;
        acquired first;
        acquired second;
        lock.acquire(gone, asio::bind_cancellation_slot(cancel.slot(), first.handler()));
        server.settle();
        lock.acquire(stays, second.handler());
        server.settle();
        cancel.emit(asio::cancellation_type::terminal);
        server.advance(answered_after);
        BOOST_TEST(!second.ended);
        server.resume();
        BOOST_TEST_REQUIRE(wait_for(second));
        BOOST_TEST_REQUIRE(second.granted());
        BOOST_TEST(second.got.valid());
        return std::move(second.got);
    };
    auto const each = [&](auto lock) {
        for (auto const late : {1'500ms, 2'900ms}) {
            auto const one = granted_instead({}, {.lease = 1s, .renew = false}, late, lock);
            // Its own attempt may have taken a request timeout.
            BOOST_TEST((one.remaining() > 800ms));
            BOOST_TEST((one.remaining() <= 988ms));
            server.advance(2s);
        }
        auto const two =
            granted_instead({.lease = 1s}, {.lease = 60s, .renew = false}, 100ms, lock);
        BOOST_TEST((two.remaining() > 59s));
    };
    each(client.lock("l"));
    each(client.fair_lock("f"));
    each(client.read_write_lock("w").write());
    each(client.read_write_lock("r").read());
    each(client.semaphore("s").limit(1));
}

BOOST_AUTO_TEST_SUITE_END()
