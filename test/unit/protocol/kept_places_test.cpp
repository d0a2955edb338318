// Places of read/write locks and semaphores, which their waiters keep by asking again: what a step
// of the server's clock and a loss of its data change.

#include "protocol/read_write_lock.hpp"
#include "protocol/semaphore.hpp"
#include "unit/protocol/on_model.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdint>
#include <string>

using namespace std::chrono_literals;
using namespace holdfast::detail;
using holdfast::test::on_model;
using std::chrono::milliseconds;

namespace {

holder_id id(std::uint64_t number) {
    return holder_id::of_number("0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", number);
}

// Three that wait behind a holder, each with a place.
struct waiters : on_model {
    explicit waiters(target of) : on_model{of.channel()}, on{std::move(of)} {}

    attempt_reply acquire(
        std::uint64_t who,
        former_place const& had = {},
        milliseconds patience = 2s,
        bool waits = true,
        milliseconds lease = 24h
    ) {
        auto const& speaks = *on.speaks;
        auto const reply = speaks.read_acquire(run(speaks.acquire({
            .on = on,
            .id = id(who),
            .lease = lease,
            .counter_ttl = 48h,
            .timeout = 3s,
            .window = waits ? patience : 0ms,
            .had = had,
            .patience = patience,
        })));
        BOOST_TEST(error == "");
        return reply;
    }
    bool granted(std::uint64_t who, former_place const& had = {}, milliseconds patience = 2s) {
        return acquire(who, had, patience).what == attempt_reply::kind::granted;
    }
    void release(std::uint64_t who) {
        run(on.speaks->release({.on = on, .id = id(who), .timeout = 3s}));
        BOOST_TEST(error == "");
    }
    void wait() {
        BOOST_TEST_REQUIRE(granted(1));
        for (std::size_t i = 0; i < places.size(); ++i) {
            auto const reply = acquire(2 + i);
            BOOST_TEST_REQUIRE(reply.place.has_value());
            places[i].score = reply.place->score;
            later(10ms);
        }
    }
    // Each asks once, the last one first. Those that were granted it.
    std::string ask_in_reverse() {
        std::string all;
        for (auto i = places.size(); i-- > 0;) {
            auto had = places[i];
            had.age = std::chrono::microseconds{500'000 - 10'000 * static_cast<int>(i)};
            had.silent = 400ms;
            all += granted(2 + i, had) ? std::to_string(2 + i) : "";
        }
        return all;
    }

    target on;
    std::array<former_place, 3> places;
};

struct writers : waiters {
    writers() : waiters{make_write_lock_target("", "L")} {}
};
struct one_permit : waiters {
    one_permit() : waiters{with_permits(make_semaphore_target("", "L"), 1)} {
        run(set_permits(on, 1, 3s));
    }
};

// --- The same for both

void is_not_waited_for_through_a_step_back(waiters& all) {
    BOOST_TEST_REQUIRE(all.granted(1));
    BOOST_TEST(!all.granted(2));
    all.release(1);
    all.later(-40s);
    BOOST_TEST(!all.granted(3));
    all.later(2'020ms);
    BOOST_TEST(all.granted(3));
}

// The one behind it has less patience.
void keeps_its_place_for_its_own_patience(waiters& all) {
    BOOST_TEST_REQUIRE(all.granted(1));
    BOOST_TEST(!all.granted(2, {}, 60s));
    all.release(1);
    BOOST_TEST(!all.granted(3, {}, 200ms));
    all.later(59s);
    BOOST_TEST(!all.granted(3, {}, 200ms));
    all.later(1'100ms);
    BOOST_TEST(all.granted(3, {}, 200ms));
}

void are_served_in_order_after_a_step_ahead(waiters& all, std::chrono::seconds step) {
    all.wait();
    all.later(step);
    all.release(1);
    BOOST_TEST(all.ask_in_reverse() == "");
    all.later(500ms);
    BOOST_TEST(all.ask_in_reverse() == "2");
    all.release(2);
    all.places[0] = {};
    BOOST_TEST(!all.granted(2));
    BOOST_TEST(all.granted(3, all.places[1]));
}

void passes_nobody_by_what_another_clock_has_said(waiters& all) {
    BOOST_TEST_REQUIRE(all.granted(1));
    auto const first = all.acquire(2);
    BOOST_TEST_REQUIRE(first.place.has_value());
    all.later(5s);
    BOOST_TEST_REQUIRE(all.acquire(2, {first.place->score, 5s, 400ms}).place.has_value());
    // It came three seconds later than the first one, by its own clock.
    auto const old = all.acquire(3, {1'000, 2s, 10s});
    BOOST_TEST_REQUIRE(old.place.has_value());
    BOOST_TEST(old.place->score > first.place->score);
    auto const far = all.acquire(4, {first.place->score + 3'600'000'000U, 2s, 10s});
    BOOST_TEST_REQUIRE(far.place.has_value());
    BOOST_TEST(far.place->score <= far.place->server_time + 1);
}

void removes_a_thousand_silent_ones_at_a_time(
    waiters& all,
    std::string const& prefix,
    std::string const& wanted
) {
    auto const queue = prefix + "queue:{L}";
    for (int i = 1; i <= 1'100; ++i) {
        auto const entry = wanted + " gone:" + std::to_string(i);
        all.ask({"ZADD", queue, std::to_string(i), entry});
        all.ask({"ZADD", prefix + "heard:{L}", "1", entry});
    }
    auto const first = all.acquire(1);
    BOOST_TEST((first.what == attempt_reply::kind::busy));
    BOOST_TEST((first.remaining == 1ms));
    BOOST_TEST(all.ask({"ZCARD", queue}).number == 101);
    BOOST_TEST(all.granted(1));
    BOOST_TEST(all.ask({"EXISTS", queue}).number == 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kept_places_test)

BOOST_FIXTURE_TEST_CASE(a_writer_that_died_is_not_waited_for_through_a_step_back, writers) {
    is_not_waited_for_through_a_step_back(*this);
}
BOOST_FIXTURE_TEST_CASE(who_died_at_a_semaphore_is_not_waited_for_through_a_step_back, one_permit) {
    is_not_waited_for_through_a_step_back(*this);
}
BOOST_FIXTURE_TEST_CASE(a_writer_may_be_silent_for_its_own_patience, writers) {
    keeps_its_place_for_its_own_patience(*this);
}
BOOST_FIXTURE_TEST_CASE(who_wants_a_permit_may_be_silent_for_its_own_patience, one_permit) {
    keeps_its_place_for_its_own_patience(*this);
}
BOOST_FIXTURE_TEST_CASE(writers_are_served_in_order_after_a_step_of_an_hour, writers) {
    are_served_in_order_after_a_step_ahead(*this, 1h);
}
BOOST_FIXTURE_TEST_CASE(permits_are_given_in_order_after_a_step_of_an_hour, one_permit) {
    are_served_in_order_after_a_step_ahead(*this, 1h);
}
BOOST_FIXTURE_TEST_CASE(writers_are_served_in_order_after_a_step_past_all_patience, writers) {
    are_served_in_order_after_a_step_ahead(*this, 30s);
}
BOOST_FIXTURE_TEST_CASE(permits_are_given_in_order_after_a_step_past_all_patience, one_permit) {
    are_served_in_order_after_a_step_ahead(*this, 30s);
}
BOOST_FIXTURE_TEST_CASE(a_writer_passes_nobody_by_a_place_of_another_server, writers) {
    passes_nobody_by_what_another_clock_has_said(*this);
}
BOOST_FIXTURE_TEST_CASE(nobody_gets_a_permit_first_by_a_place_of_another_server, one_permit) {
    passes_nobody_by_what_another_clock_has_said(*this);
}

BOOST_AUTO_TEST_CASE(readers_come_back_in_order_with_writers) {
    waiters readers{make_read_lock_target("", "L")};
    writers theirs;
    // One that came first, and one reader that lost its place with it.
    former_place const had{static_cast<std::uint64_t>(on_model::start), 1s, 400ms};
    BOOST_TEST(!readers.granted(2, had));
    BOOST_TEST(readers.granted(2, had));
}

// The lock itself lives on with the other reader, and still has the name of the one that is gone.
BOOST_AUTO_TEST_CASE(a_reader_whose_lease_is_over_passes_no_writer_with_the_same_id) {
    waiters all{make_read_lock_target("", "L")};
    auto const reads_for_a_second = [&] {
        return all.acquire(2, {}, 60s, true, 1s).what == attempt_reply::kind::granted;
    };
    BOOST_TEST_REQUIRE(all.granted(1));
    BOOST_TEST_REQUIRE(reads_for_a_second());
    all.on = make_write_lock_target("", "L");
    BOOST_TEST(!all.granted(3, {}, 60s));
    all.on = make_read_lock_target("", "L");
    BOOST_TEST(reads_for_a_second());
    all.later(2s);
    BOOST_TEST(!reads_for_a_second());
}

BOOST_FIXTURE_TEST_CASE(one_that_was_silent_for_long_is_served_at_once, writers) {
    BOOST_TEST(granted(2, {static_cast<std::uint64_t>(start), 20s, 10s}));
}

// Evicted, or deleted.
BOOST_FIXTURE_TEST_CASE(who_died_blocks_no_writer_though_it_is_lost_who_was_heard_of, writers) {
    BOOST_TEST_REQUIRE(granted(1));
    BOOST_TEST(!granted(2));
    auto const lives = acquire(3);
    BOOST_TEST_REQUIRE(lives.place.has_value());
    release(1);
    ask({"DEL", "holdfast_rwlock_heard:{L}"});
    BOOST_TEST(granted(3, {lives.place->score, 500ms, 400ms}));
}

// A script that removed them all would stop the server for a while.
BOOST_FIXTURE_TEST_CASE(a_script_removes_a_bounded_number_of_silent_writers, writers) {
    removes_a_thousand_silent_ones_at_a_time(*this, "holdfast_rwlock_", "w");
}
BOOST_FIXTURE_TEST_CASE(a_script_removes_a_bounded_number_of_silent_places, one_permit) {
    removes_a_thousand_silent_ones_at_a_time(*this, "holdfast_semaphore_", "1");
}

BOOST_FIXTURE_TEST_CASE(nobody_passes_those_behind_many_of_whom_nothing_is_known, writers) {
    BOOST_TEST_REQUIRE(granted(1));
    BOOST_TEST(!granted(2));
    for (int i = 1; i <= 150; ++i) {
        ask({"ZADD", "holdfast_rwlock_queue:{L}", std::to_string(i), "w gone:" + std::to_string(i)}
        );
    }
    release(1);
    auto const first = acquire(3);
    BOOST_TEST((first.what == attempt_reply::kind::busy));
    BOOST_TEST((first.remaining == 1ms));
    BOOST_TEST(!granted(3));
    BOOST_TEST((acquire(3).remaining > 1ms));
    BOOST_TEST(granted(2));
}

BOOST_AUTO_TEST_SUITE_END()
