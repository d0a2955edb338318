// What the scripts of a semaphore leave on a server and say on its channels: the vectors that were
// recorded of Redisson, repeated requests, places in the queue, a server without memory.

#include "protocol/semaphore.hpp"
#include "unit/calls.hpp"
#include "unit/memory_server/asking.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast::detail;
using holdfast::loss_reason;
using holdfast::memory::asking;
using holdfast::memory::refusal;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds waiter_patience{2'000};

holder_id holder(std::uint64_t number) {
    return {"0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", number << 1U};
}

std::string const deadlines = "{L}:timeout";
std::string const queue = "holdfast_semaphore_queue:{L}";
std::string const turns = "holdfast_semaphore_turns:{L}";
std::string const channel = "redisson_sc:{L}";

struct semaphore_world : asking {
    semaphore_world() { server.execute(session, {"SUBSCRIBE", channel, turns}); }

    script_reply run(call what) {
        what.arg("n");
        std::vector<std::string> words{
            "EVAL",
            std::string{what.what().text},
            std::to_string(what.keys())
        };
        for (std::size_t i = 0; i < what.size(); ++i) {
            words.emplace_back(what.word(i));
        }
        std::vector<std::string_view> const views{words.begin(), words.end()};
        pushes.clear();
        auto const answer = server.execute(session, views).value();
        BOOST_TEST(!answer.is_error(), answer.describe());
        return script_reply{answer.text};
    }
    attempt_reply acquire(
        std::uint64_t who,
        std::int64_t count = 1,
        bool waits = false,
        milliseconds lease = 30s,
        bool preflight = false
    ) {
        auto const on = with_permits(target_, count);
        return speaks.read_acquire(run(speaks.acquire({
            .on = on,
            .id = holder(who),
            .lease = lease,
            .counter_ttl = 24h,
            .preflight = preflight,
            .floor = {},
            .timeout = 3s,
            .window = waits ? waiter_patience : 0ms,
            .patience = waiter_patience,
        })));
    }
    bool granted(std::uint64_t who, std::int64_t count = 1, bool waits = false) {
        return acquire(who, count, waits).what == attempt_reply::kind::granted;
    }
    bool release(std::uint64_t who, std::int64_t count = 1, bool leaves = false) {
        auto const on = with_permits(target_, count);
        auto const sent = speaks.release({
            .on = on,
            .id = holder(who),
            .timeout = 3s,
            .window = leaves ? waiter_patience : 0ms,
        });
        return speaks.read_release(run(sent)).lost == loss_reason::none;
    }
    bool renew(std::uint64_t who, std::int64_t count = 1, milliseconds lease = 30s) {
        auto const on = with_permits(target_, count);
        auto const sent =
            speaks.renew({.on = on, .id = holder(who), .lease = lease, .timeout = 3s});
        return speaks.read_renew(run(sent)).lost == loss_reason::none;
    }
    set_permits_reply set(std::int64_t limit) {
        return read_set_permits(run(set_permits(target_, limit, 3s)));
    }
    std::string free() { return server.get("L").value_or("none"); }
    std::int64_t taken() { return ask({"ZCARD", deadlines}).number; }
    std::int64_t waiting() { return ask({"ZCARD", queue}).number; }
    /// The score of one permit.
    std::string till(std::uint64_t who, std::uint32_t index = 0) {
        return ask({"ZSCORE", deadlines, permit_id{holder(who), index}.view()}).text;
    }
    void pass(milliseconds time) { server.set_time(server.time() + time.count() * ms); }
    std::string now(milliseconds later = 0ms) const {
        return std::to_string(server.time() / ms + later.count());
    }
    /// What was published by the last script.
    std::string said(std::string const& where) const {
        std::string all;
        for (auto const& one : pushes) {
            if (one.elements.size() == 3 && one.elements[1].text == where) {
                all += (all.empty() ? "" : ",") + one.elements[2].text;
            }
        }
        return all;
    }
    static std::string turn_of(std::uint64_t who) { return std::string{holder(who).view()}; }

    primitive const& speaks = semaphore_protocol();
    target target_ = make_semaphore_target("", "L");
};

}  // namespace

BOOST_AUTO_TEST_SUITE(semaphore_vectors_test)

BOOST_AUTO_TEST_CASE(permits_are_taken_and_reclaimed_as_redisson_does) {
    semaphore_world all;
    BOOST_TEST((all.set(2) == set_permits_reply::set_now));
    BOOST_TEST(all.said(channel) == "2");
    BOOST_TEST(all.free() == "2");
    BOOST_TEST(all.granted(1));
    BOOST_TEST(all.till(1) == all.now(30s));
    all.ask({"DECRBY", "L", "1"});
    all.ask({"ZADD", deadlines, "922337203685477", "0123456789abcdef"});
    BOOST_TEST(all.free() == "0");

    auto const refused = all.acquire(3);
    BOOST_TEST((refused.what == attempt_reply::kind::busy));
    BOOST_TEST((refused.remaining == 500ms));
    all.pass(29'900ms);
    BOOST_TEST((all.acquire(3).remaining == 101ms));
    all.pass(100ms);
    BOOST_TEST(all.granted(3));
    BOOST_TEST(all.said(channel) == "1");
    BOOST_TEST(all.till(1).empty());
    BOOST_TEST(all.free() == "0");
    BOOST_TEST(all.release(3));
    BOOST_TEST(all.said(channel) == "1");
    BOOST_TEST(!all.release(3));
    BOOST_TEST(all.said(channel) == "");
    BOOST_TEST(all.free() == "1");
}

BOOST_AUTO_TEST_CASE(the_limit_is_what_is_free_and_what_is_taken) {
    semaphore_world all;
    BOOST_TEST((all.set(5) == set_permits_reply::set_now));
    BOOST_TEST(all.granted(1, 2));
    BOOST_TEST(all.free() == "3");
    BOOST_TEST((all.set(5) == set_permits_reply::was_set));
    BOOST_TEST((all.set(3) == set_permits_reply::other_limit));
    BOOST_TEST((all.acquire(2, 6).what == attempt_reply::kind::too_much));
    BOOST_TEST((all.acquire(2, 5).what == attempt_reply::kind::busy));
    // As setPermits(1) of Redisson.
    all.ask({"DECRBY", "L", "4"});
    BOOST_TEST((all.acquire(2, 2).what == attempt_reply::kind::too_much));
    BOOST_TEST((all.acquire(2, 1).what == attempt_reply::kind::busy));
    BOOST_TEST(all.release(1, 2));
    BOOST_TEST(all.free() == "1");
    // The number was lost: permits that are out count.
    BOOST_TEST(all.granted(1));
    all.server.erase("L");
    BOOST_TEST((all.acquire(2, 9).what == attempt_reply::kind::busy));
    BOOST_TEST((all.set(4) == set_permits_reply::set_now));
    BOOST_TEST(all.free() == "3");
    all.server.erase("L");
    auto const again = all.acquire(1, 1, false, 30s, true);
    BOOST_TEST((again.what == attempt_reply::kind::granted));
    BOOST_TEST(all.free() == "none");
    BOOST_TEST(all.release(1));
    BOOST_TEST(all.free() == "none");
    all.ask({"SET", "L", "many"});
    BOOST_TEST((all.acquire(2).what == attempt_reply::kind::corrupt));
    BOOST_TEST((all.set(4) == set_permits_reply::corrupt));
}

BOOST_AUTO_TEST_CASE(requests_that_come_again_change_nothing) {
    semaphore_world all;
    all.set(5);
    auto const first = all.acquire(1, 3);
    all.pass(10s);
    auto const again = all.acquire(1, 3);
    BOOST_TEST((again.what == attempt_reply::kind::granted));
    BOOST_TEST((again.token > first.token));
    BOOST_TEST(all.free() == "2");
    BOOST_TEST(all.taken() == 3);
    BOOST_TEST(all.till(1, 2) == all.now(30s));
    BOOST_TEST(all.renew(1, 3));
    BOOST_TEST(all.renew(1, 3));
    BOOST_TEST(all.release(1, 3));
    BOOST_TEST(all.said(channel) == "5");
    BOOST_TEST(!all.release(1, 3));
    BOOST_TEST(!all.renew(1, 3));
    BOOST_TEST(all.free() == "5");
    BOOST_TEST(!all.server.exists(deadlines));
}

BOOST_AUTO_TEST_CASE(a_renewal_raises_and_gives_back_what_is_left_of_a_hold) {
    semaphore_world all;
    all.set(3);
    BOOST_TEST(all.granted(1, 3));
    BOOST_TEST(all.renew(1, 3, 1s));
    BOOST_TEST(all.till(1) == all.now(30s));
    all.pass(20s);
    BOOST_TEST(all.renew(1, 3, 40s));
    BOOST_TEST(all.till(1, 1) == all.now(40s));
    all.ask({"ZREM", deadlines, permit_id{holder(1), 1}.view()});
    all.ask({"INCRBY", "L", "1"});
    BOOST_TEST(!all.renew(1, 3));
    BOOST_TEST(all.said(channel) == "3");
    BOOST_TEST(all.free() == "3");
    BOOST_TEST(all.taken() == 0);
    // A permit that is over is not renewed, and comes back.
    BOOST_TEST(all.granted(2));
    all.pass(30s);
    BOOST_TEST(!all.renew(2));
    BOOST_TEST(all.free() == "3");
    BOOST_TEST(all.granted(3));
    all.pass(30s);
    BOOST_TEST(!all.release(3));
    BOOST_TEST(all.free() == "3");
}

BOOST_AUTO_TEST_CASE(one_attempt_that_finds_a_part_of_its_permits_takes_all_anew) {
    semaphore_world all;
    all.set(3);
    BOOST_TEST(all.granted(1, 3));
    all.ask({"ZREM", deadlines, permit_id{holder(1), 1}.view()});
    all.ask({"INCRBY", "L", "1"});
    BOOST_TEST(all.granted(1, 3));
    BOOST_TEST(all.free() == "0");
    BOOST_TEST(all.taken() == 3);
}

BOOST_AUTO_TEST_CASE(several_holds_are_renewed_together) {
    semaphore_world all;
    all.set(4);
    BOOST_TEST(all.granted(1));
    BOOST_TEST(all.granted(2, 2));
    auto const one = with_permits(all.target_, 1);
    auto const two = with_permits(all.target_, 2);
    all.pass(5s);
    primitive::member const members[] = {
        {&one, holder(1), 30s},
        {&one, holder(7), 30s},
        {&two, holder(2), 1s},
    };
    auto const said = all.run(all.speaks.renew_many(members, 3s));
    BOOST_TEST(said.text(0) == "191");
    BOOST_TEST(all.till(1) == all.now(30s));
    BOOST_TEST(all.till(2) == all.now(25s));
}

BOOST_AUTO_TEST_CASE(those_who_wait_are_granted_in_order_and_told_when_it_is_their_turn) {
    semaphore_world all;
    all.set(4);
    BOOST_TEST(all.granted(1, 3));
    auto const placed = all.acquire(2, 3, true);
    BOOST_REQUIRE(placed.place.has_value());
    BOOST_TEST(!all.granted(3, 1, true));
    BOOST_TEST(all.waiting() == 2);
    // One is free, and the first one wants more.
    BOOST_TEST(!all.granted(4));
    BOOST_TEST(!all.granted(3, 1, true));
    BOOST_TEST(all.waiting() == 2);

    BOOST_TEST(all.release(1, 3));
    BOOST_TEST(all.said(turns) == all.turn_of(2) + " 1");
    BOOST_TEST(all.said(channel) == "4");
    BOOST_TEST(!all.granted(3, 1, true));
    BOOST_TEST(all.granted(2, 3, true));
    BOOST_TEST(all.said(turns) == all.turn_of(3) + " 0");
    BOOST_TEST(all.said(channel) == "");
    BOOST_TEST(all.granted(3, 1, true));
    BOOST_TEST(all.said(turns) == "");
    BOOST_TEST(all.waiting() == 0);

    BOOST_TEST(!all.granted(5, 2, true));
    BOOST_TEST(all.release(3));
    BOOST_TEST(all.said(turns) == "- 1");
    BOOST_TEST(all.said(channel) == "1");
    // One who leaves lets the next one go.
    BOOST_TEST(!all.granted(6, 1, true));
    BOOST_TEST(!all.release(5, 2, true));
    BOOST_TEST(all.said(turns) == all.turn_of(6) + " 0");
    BOOST_TEST(all.granted(6, 1, true));
}

BOOST_AUTO_TEST_CASE(one_that_is_silent_loses_its_place) {
    semaphore_world all;
    all.set(1);
    BOOST_TEST(all.granted(1));
    BOOST_TEST(!all.granted(2, 1, true));
    all.pass(1s);
    BOOST_TEST(!all.granted(3, 1, true));
    BOOST_TEST(all.release(1));
    auto const behind = all.acquire(3, 1, true);
    BOOST_TEST((behind.what == attempt_reply::kind::busy));
    BOOST_TEST((behind.remaining == 500ms));
    all.pass(990ms);
    BOOST_TEST((all.acquire(3, 1, true).remaining == 11ms));
    all.pass(10ms);
    BOOST_TEST(all.granted(3, 1, true));
    BOOST_TEST(all.waiting() == 0);
    // An entry of which nothing was ever heard is nobody's.
    all.ask({"ZADD", queue, "1", "1 somebody:1"});
    BOOST_TEST(all.release(3));
    BOOST_TEST(all.granted(4));
    BOOST_TEST(all.waiting() == 0);
}

BOOST_AUTO_TEST_CASE(what_belongs_to_the_queue_ends_by_itself) {
    semaphore_world all;
    all.set(1);
    BOOST_TEST(all.granted(1));
    BOOST_TEST(!all.granted(2, 1, true));
    BOOST_TEST(all.server.pttl(queue) == 62'000);
    BOOST_TEST(all.server.pttl("holdfast_semaphore_heard:{L}") == 62'000);
    BOOST_TEST(all.server.pttl("L") == -1);
    BOOST_TEST(all.server.pttl(deadlines) == -1);
    // As trySetPermits with a time to live.
    all.ask({"PEXPIRE", "L", "50000"});
    BOOST_TEST(all.release(1));
    BOOST_TEST(all.granted(2, 1, true));
    BOOST_TEST(all.server.pttl(deadlines) == 50'000);
}

BOOST_AUTO_TEST_CASE(without_memory_permits_come_back_and_are_renewed) {
    semaphore_world all;
    all.set(3);
    BOOST_TEST(all.granted(1, 3));
    BOOST_TEST(!all.granted(2, 1, true));
    all.pass(1s);
    all.server.set_refusal(refusal::oom);
    BOOST_TEST(all.renew(1, 3));
    BOOST_TEST(all.till(1, 2) == all.now(30s));
    auto const kept = all.acquire(2, 1, true);
    BOOST_TEST(kept.place.has_value());
    auto const busy = all.acquire(3, 1, true);
    BOOST_TEST((busy.what == attempt_reply::kind::busy));
    BOOST_TEST(!busy.place.has_value());
    BOOST_TEST(all.release(1, 3));
    BOOST_TEST(all.free() == "3");
    BOOST_TEST(all.granted(2, 1, true));
    BOOST_TEST(all.release(2));
    BOOST_TEST(!all.release(7, 1, true));
    BOOST_TEST(all.free() == "3");
}

BOOST_AUTO_TEST_CASE(a_forced_release_takes_all_permits) {
    semaphore_world all;
    using kind = force_release_reply::kind;
    auto const force = [&] {
        return all.speaks.read_force_release(
            all.run(all.speaks.force_release(all.target_, 3s, waiter_patience))
        );
    };
    all.set(3);
    BOOST_TEST((force().what == kind::was_free));
    BOOST_TEST(all.granted(1, 2));
    BOOST_TEST(!all.granted(2, 3, true));
    BOOST_TEST((force().what == kind::freed));
    BOOST_TEST(all.said(turns) == all.turn_of(2) + " 1");
    BOOST_TEST(all.said(channel) == "3");
    BOOST_TEST(all.free() == "3");
    BOOST_TEST(!all.renew(1, 2));
    all.ask({"ZADD", deadlines, "1", "something else"});
    BOOST_TEST((force().what == kind::corrupt));
    BOOST_TEST(all.taken() == 1);
}

BOOST_AUTO_TEST_CASE(what_is_there_is_said) {
    semaphore_world all;
    using kind = semaphore_reading::kind;
    auto const look = [&] {
        return read_semaphore(all.run(all.speaks.inspect(all.target_, 3s, true)));
    };
    BOOST_TEST((look().what == kind::unset));
    all.set(3);
    BOOST_TEST(all.granted(1, 2));
    BOOST_TEST(!all.granted(2, 2, true));
    auto const found = look();
    BOOST_TEST((found.what == kind::set));
    BOOST_TEST(found.available == 1);
    BOOST_TEST(found.acquired == 2);
    BOOST_TEST(found.waiting == 1U);
    all.pass(30s);
    auto const later = look();
    BOOST_TEST(later.available == 3);
    BOOST_TEST(later.acquired == 0);
    BOOST_TEST(later.waiting == 0U);
    BOOST_TEST(all.free() == "1");
    all.ask({"SET", "L", "x"});
    BOOST_TEST((look().what == kind::corrupt));
}

BOOST_AUTO_TEST_SUITE_END()
