// How many permits a semaphore has, after it changed, or after the server lost a part of its data.

#include "unit/protocol/semaphore_world.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>

using namespace holdfast::test::semaphore_scripts;
using holdfast::memory::refusal;
using kind = attempt_reply::kind;

namespace {

std::string const record = "{L}:holdfast_limit";

struct limited_world : semaphore_world {
    attempt_reply try_with(
        std::int64_t limit,
        std::uint64_t who,
        std::int64_t count = 1,
        milliseconds lease = 30s
    ) {
        return acquire(who, count, false, lease, false, limit);
    }
    bool granted_with(std::int64_t limit, std::uint64_t who, std::int64_t count = 1) {
        return try_with(limit, who, count).what == kind::granted;
    }
    std::string noted() { return server.get(record).value_or("none"); }
    semaphore_reading look() { return read_semaphore(run(speaks.inspect(target_, 3s, true))); }
    bool force() {
        auto const sent = speaks.force_release(target_, 3s, waiter_patience);
        return speaks.read_force_release(run(sent)).what == force_release_reply::kind::freed;
    }
    // As Redisson's scripts do it.
    void java_adds(std::int64_t count) { ask({"INCRBY", "L", std::to_string(count)}); }
    void java_sets_total(std::int64_t count) { java_adds(count - std::stoll(free()) - taken()); }
    void java_tries_to_set(std::int64_t count) { ask({"SET", "L", std::to_string(count), "NX"}); }
    void java_takes(std::string const& permit, milliseconds lease) {
        ask({"INCRBY", "L", "-1"});
        ask({"ZADD", deadlines, now(lease), permit});
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(semaphore_limit_test)

BOOST_AUTO_TEST_CASE(without_a_number_only_a_stated_limit_is_granted) {
    limited_world all;
    BOOST_TEST((all.acquire(1).what == kind::no_limit));
    BOOST_TEST((all.acquire(1, 1, true).what == kind::no_limit));
    BOOST_TEST(all.waiting() == 0);
    BOOST_TEST(all.free() == "none");
    BOOST_TEST(all.noted() == "none");
    auto const first = all.try_with(3, 1);
    BOOST_TEST((first.what == kind::granted));
    BOOST_TEST((first.limit == 3));
    BOOST_TEST(all.free() == "2");
    // Java programs that wait are told.
    BOOST_TEST(all.said(channel) == "2");
    BOOST_TEST(all.granted(2));
    BOOST_TEST(all.said(channel) == "");
    BOOST_TEST((all.set(3) == set_permits_reply::was_set));
    BOOST_TEST((all.set(4) == set_permits_reply::other_limit));
    BOOST_TEST((all.try_with(3, 4, 4).what == kind::too_much));
    // A waiter loses its place together with the number.
    BOOST_TEST(!all.granted(3, 2, true));
    BOOST_TEST(all.waiting() == 1);
    all.server.erase("L");
    BOOST_TEST((all.acquire(3, 2, true).what == kind::no_limit));
    BOOST_TEST(all.waiting() == 0);
}

BOOST_AUTO_TEST_CASE(all_data_lost) {
    limited_world all;
    BOOST_TEST(all.granted_with(5, 1, 2));
    all.ask({"FLUSHALL"});
    BOOST_TEST((all.acquire(2).what == kind::no_limit));
    BOOST_TEST(all.granted_with(5, 2, 5));
    BOOST_TEST(!all.granted_with(5, 3));
    BOOST_TEST(all.noted() == "5 30000");
}

BOOST_AUTO_TEST_CASE(without_a_record_the_sum_counts) {
    limited_world all;
    // As a version that keeps no record, or a Java program, leaves it.
    all.java_tries_to_set(5);
    all.java_takes("0123456789abcdef", 10s);
    auto const first = all.try_with(9, 1);
    BOOST_TEST((first.what == kind::granted));
    BOOST_TEST((first.limit == 5));
    BOOST_TEST(all.free() == "3");
    BOOST_TEST(all.noted() == "5 30000");
    // The stated limit counts what is out.
    all.server.erase("L");
    all.server.erase(record);
    BOOST_TEST((all.try_with(4, 2, 4).what == kind::busy));
    BOOST_TEST(all.free() == "2");
    BOOST_TEST(all.granted_with(4, 2, 2));
}

BOOST_AUTO_TEST_CASE(a_number_that_was_lost_comes_back_from_the_record) {
    limited_world all;
    BOOST_TEST(all.granted_with(5, 1, 3));
    all.server.erase("L");
    auto const next = all.try_with(9, 2);
    BOOST_TEST((next.what == kind::granted));
    BOOST_TEST((next.limit == 5));
    BOOST_TEST(all.free() == "1");
    BOOST_TEST(all.release(1, 3));
    BOOST_TEST(all.free() == "4");
    // More are out than there are since Java lowered the limit.
    BOOST_TEST(all.granted(3, 4));
    all.java_sets_total(2);
    BOOST_TEST(!all.granted(4));
    all.server.erase("L");
    BOOST_TEST(!all.granted_with(9, 4));
    BOOST_TEST(all.free() == "-3");
    BOOST_TEST(all.release(3, 4));
    BOOST_TEST(all.release(2));
    BOOST_TEST(all.free() == "2");
    BOOST_TEST(all.noted() == "2 30000");
}

BOOST_AUTO_TEST_CASE(expired_permits_that_were_not_taken_back_count) {
    limited_world all;
    BOOST_TEST(all.granted_with(3, 1, 2));
    all.pass(31s);
    all.server.erase("L");
    BOOST_TEST(all.granted_with(3, 2, 3));
    BOOST_TEST(all.free() == "0");
    all.pass(31s);
    all.server.erase("L");
    all.server.erase(record);
    // More have expired than there are.
    BOOST_TEST(all.granted_with(2, 3));
    BOOST_TEST(all.free() == "1");
    BOOST_TEST(all.taken() == 1);
    all.pass(31s);
    BOOST_TEST((all.set(2) == set_permits_reply::was_set));
    BOOST_TEST((all.try_with(2, 4, 3).what == kind::too_much));
    BOOST_TEST(all.granted(4, 2));
}

BOOST_AUTO_TEST_CASE(a_limit_that_java_changes_applies) {
    limited_world all;
    BOOST_TEST(all.granted_with(5, 1));
    all.java_adds(3);
    BOOST_TEST((all.try_with(5, 2).limit == 8));
    BOOST_TEST(all.noted() == "8 30000");
    BOOST_TEST((all.set(8) == set_permits_reply::was_set));
    all.java_sets_total(4);
    BOOST_TEST((all.set(5) == set_permits_reply::other_limit));
    BOOST_TEST((all.set(4) == set_permits_reply::was_set));
    BOOST_TEST((all.try_with(5, 3, 5).what == kind::too_much));
    all.java_adds(-1);
    // The last permit is given back before anybody asks for one.
    BOOST_TEST(all.release(1));
    BOOST_TEST(all.release(2));
    BOOST_TEST(all.noted() == "3 30000");
    BOOST_TEST(all.look().limit == 3);
    all.java_tries_to_set(7);
    BOOST_TEST((all.try_with(5, 3).limit == 3));
    all.server.erase("L");
    // Redisson sets it without a look at what is out.
    all.java_tries_to_set(7);
    BOOST_TEST((all.try_with(5, 4).limit == 8));
    BOOST_TEST(all.free() == "6");
}

BOOST_AUTO_TEST_CASE(permits_of_a_lost_set_come_back_after_the_longest_lease) {
    limited_world all;
    BOOST_TEST((all.try_with(5, 1, 2, 60s).what == kind::granted));
    BOOST_TEST(all.granted(2));
    all.pass(5s);
    all.server.erase(deadlines);
    // What is left can be had.
    auto const first = all.try_with(5, 3);
    BOOST_TEST((first.what == kind::granted));
    BOOST_TEST((first.limit == 5));
    BOOST_TEST(all.granted(4));
    BOOST_TEST((all.set(5) == set_permits_reply::was_set));
    BOOST_TEST((all.try_with(5, 5, 6).what == kind::too_much));
    BOOST_TEST(all.release(4));
    BOOST_TEST(all.release(3));
    BOOST_TEST(!all.release(2));
    BOOST_TEST(all.free() == "2");
    all.pass(59s);
    auto const busy = all.try_with(5, 5, 5);
    BOOST_TEST((busy.what == kind::busy));
    BOOST_TEST((busy.limit == 5));
    BOOST_TEST(busy.found_permits == 0);
    all.pass(900ms);
    BOOST_TEST((all.try_with(5, 5, 5).remaining == 101ms));
    BOOST_TEST(all.look().available == 2);
    BOOST_TEST(all.look().limit == 5);
    all.pass(100ms);
    BOOST_TEST(all.look().available == 5);
    auto const found = all.try_with(5, 6);
    BOOST_TEST((found.what == kind::granted));
    BOOST_TEST(found.found_permits == 3);
    BOOST_TEST(all.free() == "4");
    BOOST_TEST(all.said(channel) == "4");
    BOOST_TEST(all.noted() == "5 60000");
    BOOST_TEST(all.try_with(5, 7).found_permits == 0);
}

BOOST_AUTO_TEST_CASE(a_set_that_is_lost_once_more_is_waited_for_anew) {
    limited_world all;
    BOOST_TEST(all.granted_with(3, 1, 2));
    all.server.erase(deadlines);
    BOOST_TEST(all.granted(2));
    all.pass(20s);
    all.server.erase(deadlines);
    BOOST_TEST(!all.granted(3));
    all.pass(29s);
    BOOST_TEST(!all.granted(3));
    all.pass(1s);
    BOOST_TEST(all.acquire(3, 3).found_permits == 3);
    BOOST_TEST(all.taken() == 3);
    // The number is lost while permits are missing: those stay out.
    BOOST_TEST(all.release(3, 3));
    BOOST_TEST(all.granted(4, 2));
    all.server.erase(deadlines);
    BOOST_TEST((all.acquire(5, 2).what == kind::busy));
    BOOST_TEST(all.granted(5));
    all.server.erase("L");
    BOOST_TEST((all.try_with(3, 6, 2).what == kind::busy));
    BOOST_TEST(all.free() == "0");
    all.server.erase("L");
    BOOST_TEST((all.set(4) == set_permits_reply::set_now));
    BOOST_TEST(all.free() == "1");
    all.pass(30s);
    BOOST_TEST((all.try_with(3, 6, 4).what == kind::granted));
}

// All permits may be held.
BOOST_AUTO_TEST_CASE(a_set_that_is_lost_with_the_number_is_waited_for) {
    limited_world all;
    BOOST_TEST((all.try_with(3, 1, 2, 20s).what == kind::granted));
    all.ask({"DEL", "L", deadlines});
    auto const busy = all.try_with(3, 2, 1, 10s);
    BOOST_TEST((busy.what == kind::busy));
    BOOST_TEST((busy.limit == 3));
    BOOST_TEST(all.free() == "0");
    all.pass(19s);
    BOOST_TEST((all.try_with(3, 2).what == kind::busy));
    all.pass(1s);
    BOOST_TEST(all.try_with(3, 2, 3).found_permits == 3);
    // The number is set by a program that states it once.
    all.ask({"DEL", "L", deadlines});
    BOOST_TEST((all.set(4) == set_permits_reply::set_now));
    BOOST_TEST(all.free() == "0");
    BOOST_TEST(!all.granted(3));
    all.pass(30s);
    BOOST_TEST(all.acquire(3, 4).found_permits == 4);
    BOOST_TEST(all.release(3, 4));
    // It is lost a second time, while some were missing.
    BOOST_TEST(all.granted(4, 3));
    all.server.erase(deadlines);
    BOOST_TEST(!all.granted(5, 2));
    all.pass(20s);
    all.server.erase("L");
    BOOST_TEST(!all.granted_with(4, 5));
    all.pass(29s);
    BOOST_TEST(!all.granted_with(4, 5));
    all.pass(1s);
    BOOST_TEST(all.acquire(5, 4).found_permits == 4);
    // Before anything was granted, nothing can be out.
    all.ask({"FLUSHALL"});
    BOOST_TEST((all.set(3) == set_permits_reply::set_now));
    all.server.erase("L");
    BOOST_TEST(all.granted_with(3, 1, 3));
}

// The permits that are acquired tell it, so nobody has to wait.
BOOST_AUTO_TEST_CASE(a_release_restores_a_number_that_was_lost) {
    limited_world all;
    BOOST_TEST(all.granted_with(5, 1, 2));
    BOOST_TEST(all.granted(2));
    all.server.erase("L");
    BOOST_TEST(all.release(1, 2));
    BOOST_TEST(all.free() == "4");
    BOOST_TEST(all.said(channel) == "4");
    all.server.erase("L");
    BOOST_TEST(all.release(2));
    BOOST_TEST(all.free() == "5");
    BOOST_TEST(all.granted(3, 5));
    // One that has an end has come to it.
    all.ask({"PEXPIRE", deadlines, "60000"});
    all.server.erase("L");
    BOOST_TEST(all.release(3, 5));
    BOOST_TEST(all.free() == "none");
}

BOOST_AUTO_TEST_CASE(a_forced_release_frees_all_permits_of_a_number_that_was_lost) {
    limited_world all;
    BOOST_TEST(all.granted_with(5, 1, 2));
    all.server.erase("L");
    BOOST_TEST(all.force());
    BOOST_TEST(all.free() == "5");
    BOOST_TEST(all.said(channel) == "5");
    BOOST_TEST(all.granted(2, 5));
    all.ask({"DEL", "L", deadlines});
    BOOST_TEST(all.force());
    BOOST_TEST(all.granted(3, 5));
    // Without a record nobody knows how many there are.
    all.ask({"DEL", "L", record});
    BOOST_TEST(all.force());
    BOOST_TEST(all.free() == "none");
    BOOST_TEST(!all.force());
}

// It looks like a lost set.
BOOST_AUTO_TEST_CASE(a_limit_that_is_lowered_while_no_permit_is_out_is_raised_again) {
    limited_world all;
    BOOST_TEST(all.granted_with(5, 1));
    BOOST_TEST(all.release(1));
    all.java_sets_total(2);
    BOOST_TEST((all.try_with(5, 2, 3).what == kind::busy));
    BOOST_TEST(all.granted(2, 2));
    // A second word is believed.
    all.java_sets_total(3);
    BOOST_TEST((all.acquire(3).limit == 3));
    BOOST_TEST(all.release(3));
    BOOST_TEST(all.release(2, 2));
    all.java_sets_total(2);
    BOOST_TEST(!all.granted(4, 3));
    all.pass(30s);
    BOOST_TEST(all.acquire(4, 3).found_permits == 1);
}

// Its set was lost together with the record while all permits were out. Whoever sees that first,
// how many there are is what somebody states.
BOOST_AUTO_TEST_CASE(a_semaphore_without_any_permits_gets_the_limit_that_is_stated) {
    limited_world all;
    all.ask({"SET", "L", "0"});
    BOOST_TEST(!all.renew(1, 1, 40s));
    all.pass(20s);
    BOOST_TEST((all.acquire(1).what == kind::no_limit));
    BOOST_TEST(all.look().limit == 0);
    BOOST_TEST((all.try_with(5, 1).what == kind::busy));
    all.pass(19s);
    BOOST_TEST((all.try_with(5, 1).what == kind::busy));
    all.pass(1s);
    BOOST_TEST(all.try_with(5, 1, 5).found_permits == 5);
    BOOST_TEST(all.release(1, 5));
    all.ask({"SET", "L", "0"});
    all.server.erase(record);
    BOOST_TEST((all.acquire(1).what == kind::no_limit));
    all.pass(30s);
    BOOST_TEST((all.acquire(1).what == kind::no_limit));
    all.server.erase("L");
    BOOST_TEST(all.try_with(5, 1, 5).found_permits == 5);
    BOOST_TEST((all.set(5) == set_permits_reply::was_set));
}

BOOST_AUTO_TEST_CASE(a_limit_of_none_applies) {
    limited_world all;
    BOOST_TEST(all.granted_with(5, 1));
    all.java_sets_total(0);
    BOOST_TEST((all.try_with(5, 2).what == kind::too_much));
    BOOST_TEST(all.release(1));
    BOOST_TEST((all.try_with(5, 2).what == kind::too_much));
    all.pass(31s);
    BOOST_TEST((all.try_with(5, 2).what == kind::too_much));
    all.java_adds(2);
    BOOST_TEST((all.try_with(5, 2).limit == 2));
}

BOOST_AUTO_TEST_CASE(a_lost_set_is_seen_by_each_request_of_a_holder) {
    limited_world all;
    BOOST_TEST(all.granted_with(1, 1));
    all.server.erase(deadlines);
    BOOST_TEST(!all.renew(1));
    all.pass(30s);
    BOOST_TEST(all.acquire(2).found_permits == 1);
    all.server.erase(deadlines);
    BOOST_TEST(!all.release(2));
    all.pass(30s);
    BOOST_TEST(all.acquire(3).found_permits == 1);
    all.server.erase(deadlines);
    BOOST_TEST((all.set(1) == set_permits_reply::was_set));
    all.pass(30s);
    BOOST_TEST(all.acquire(4).found_permits == 1);
    // An operator need not wait.
    all.server.erase(deadlines);
    BOOST_TEST(all.force());
    BOOST_TEST(all.said(channel) == "1");
    BOOST_TEST(!all.force());
    BOOST_TEST(all.granted(5));
}

BOOST_AUTO_TEST_CASE(the_longest_lease_is_that_of_grants_renewals_and_others) {
    limited_world all;
    BOOST_TEST(all.granted_with(3, 1));
    BOOST_TEST(all.renew(1, 1, 40s));
    BOOST_TEST(all.noted() == "3 40000");
    auto const one = with_permits(all.target_, 1);
    primitive::member const members[] = {{&one, holder(1), 50s}, {&one, holder(7), 90s}};
    BOOST_TEST(all.run(all.speaks.renew_many(members, 3s)).text(0) == "19");
    BOOST_TEST(all.noted() == "3 50000");
    all.java_takes("0123456789abcdef", 70s);
    BOOST_TEST(all.granted(2));
    BOOST_TEST(all.noted() == "3 70000");
    // One without an end cannot be waited for.
    all.ask({"ZADD", deadlines, "922337203685477", "0123456789abcdef"});
    BOOST_TEST(!all.granted(3));
    BOOST_TEST(all.noted() == "3 70000");
    BOOST_TEST(all.server.pttl(record) == 2'592'000'000);
}

BOOST_AUTO_TEST_CASE(something_else_in_the_record_is_never_overwritten) {
    limited_world all;
    for (std::string const foreign : {"many", "5", "5 x", "5 30000 1", "5 30000 1 2 3"}) {
        all.ask({"DEL", record, "L"});
        all.ask({"SET", record, foreign});
        BOOST_TEST((all.try_with(3, 1).what == kind::corrupt), foreign);
        BOOST_TEST((all.set(3) == set_permits_reply::corrupt), foreign);
        BOOST_TEST((all.look().what == semaphore_reading::kind::corrupt), foreign);
        BOOST_TEST(!all.force());
        BOOST_TEST(all.noted() == foreign);
    }
    all.ask({"DEL", record});
    BOOST_TEST(all.granted_with(3, 1));
    all.ask({"DEL", record});
    all.ask({"HSET", record, "a", "b"});
    BOOST_TEST((all.try_with(3, 2).what == kind::corrupt));
    // It ends no lease that is ours.
    BOOST_TEST(all.renew(1));
    BOOST_TEST(all.release(1));
    BOOST_TEST(all.free() == "3");
}

BOOST_AUTO_TEST_CASE(without_memory_nothing_is_lost) {
    limited_world all;
    BOOST_TEST(all.granted_with(2, 1));
    BOOST_TEST(!all.granted(2, 2, true));
    all.server.erase(deadlines);
    all.server.set_refusal(refusal::oom);
    BOOST_TEST(!all.granted(2, 2, true));
    all.server.set_refusal(refusal::none);
    BOOST_TEST(!all.granted(2, 2, true));
    all.pass(30s);
    all.server.set_refusal(refusal::oom);
    BOOST_TEST(!all.granted(2, 2, true));
    all.server.set_refusal(refusal::none);
    BOOST_TEST(all.acquire(2, 2, true).found_permits == 1);
}

// Keys are lost at random, handles state different limits, and Java changes the limit while nothing
// is missing: valid leases never need more permits than the greatest limit so far. Two of the three
// keys tell enough, also if both are lost while leases are valid that are older; all three tell
// nothing.
BOOST_AUTO_TEST_CASE(there_are_never_more_valid_leases_than_the_greatest_limit) {
    constexpr std::int64_t greatest_stated = 4;
    constexpr std::int64_t longest_lease = 10'000'000;
    std::string const keys[] = {"L", deadlines, record};
    int losses_of_two = 0;
    int changes = 0;
    for (unsigned seed = 1; seed <= 400; ++seed) {
        limited_world all;
        std::mt19937 dice{seed};
        auto const below = [&](std::uint32_t end) {
            return static_cast<std::int64_t>(dice() % end);
        };
        // Holders: how many permits, and until when they are valid.
        std::map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> valid;
        std::int64_t limit = greatest_stated;
        auto const out = [&] {
            std::int64_t sum = 0;
            std::erase_if(valid, [&](auto const& one) {
                return one.second.second <= all.server.time();
            });
            for (auto const& [who, what] : valid) {
                sum += what.first;
            }
            return sum;
        };
        std::int64_t lost_at[3] = {-longest_lease, -longest_lease, -longest_lease};
        auto const may_lose = [&](std::size_t which) {
            auto others = 0;
            for (std::size_t i = 0; i < 3; ++i) {
                bool const lately = all.server.time() - lost_at[i] <= longest_lease;
                others += i != which && (lately || !all.server.exists(keys[i])) ? 1 : 0;
            }
            losses_of_two += others == 1 && out() > 0 ? 1 : 0;
            return others < 2 || out() == 0;
        };
        auto const is_whole = [&] {
            for (std::size_t i = 0; i < 3; ++i) {
                bool const lately = all.server.time() - lost_at[i] <= longest_lease;
                // The set is there while permits are out.
                bool const there = all.server.exists(keys[i]) || (i == 1 && out() == 0);
                if (lately || !there) {
                    return false;
                }
            }
            return true;
        };
        std::uint64_t next = 1;
        for (int step = 0; step < 200; ++step) {
            all.pass(milliseconds{below(4'000)});
            out();
            auto const which = valid.empty() ? 0 : below(static_cast<std::uint32_t>(valid.size()));
            auto const who = valid.empty() ? 0 : std::next(valid.begin(), which)->first;
            switch (auto const what = below(13)) {
                case 0:
                case 1:
                case 2: {
                    auto const at = static_cast<std::size_t>(what);
                    if (all.server.exists(keys[at]) && may_lose(at)) {
                        all.server.erase(keys[at]);
                        lost_at[at] = all.server.time();
                    }
                    break;
                }
                case 3:
                    if (who != 0 && all.renew(who, valid[who].first, 10s)) {
                        valid[who].second = all.server.time() + longest_lease;
                    }
                    break;
                case 4:
                case 5:
                    if (who != 0) {
                        all.release(who, valid[who].first);
                        valid.erase(who);
                    }
                    break;
                case 6:
                    if (is_whole()) {
                        auto const total = 2 + below(5);
                        all.java_sets_total(total);
                        limit = std::max(limit, total);
                        ++changes;
                    } else if (all.server.exists("L") && all.server.exists(record) && limit < 8) {
                        all.java_adds(1);
                        ++limit;
                        ++changes;
                    }
                    break;
                default: {
                    auto const stated = greatest_stated - below(2);
                    auto const count = 1 + below(2);
                    auto const lease = milliseconds{1'000 * (1 + below(10))};
                    auto const got = all.try_with(stated, next, count, lease);
                    if (got.what == kind::granted) {
                        valid[next] = {count, all.server.time() + lease.count() * 1'000};
                    }
                    BOOST_TEST_REQUIRE((got.what != kind::corrupt));
                    ++next;
                    break;
                }
            }
            BOOST_TEST_REQUIRE(out() <= limit, "seed " << seed << ", step " << step);
        }
        // All come back, unless the loss of the set and the record lowered the limit.
        all.pass(31s);
        all.try_with(greatest_stated, next, greatest_stated);
        all.pass(31s);
        auto const known = all.try_with(limit, next + 1, 1).limit.value_or(0);
        BOOST_TEST_REQUIRE((known >= 1 && known <= limit), "seed " << seed << ": " << known);
        BOOST_TEST(all.release(next + 1));
        BOOST_TEST_REQUIRE(all.granted_with(limit, next + 2, known), "seed " << seed);
    }
    BOOST_TEST(losses_of_two >= 400);
    BOOST_TEST(changes >= 400);
}

BOOST_AUTO_TEST_CASE(permits_that_are_added_while_others_are_missing_lose_none) {
    for (int const added : {1, 2}) {
        limited_world all;
        BOOST_TEST((all.try_with(5, 1, 3, 10s).what == kind::granted));
        all.server.erase(deadlines);
        BOOST_TEST((all.try_with(5, 2, 3).what == kind::busy));
        all.pass(5s);
        all.java_adds(added);
        BOOST_TEST((all.try_with(5, 4, 5).what == kind::busy));
        all.pass(24s);
        BOOST_TEST((all.try_with(5, 4, 5).what == kind::busy));
        all.pass(1s);
        BOOST_TEST((all.try_with(5, 4, 5).what == kind::granted));
    }
    // They are back.
    limited_world all;
    BOOST_TEST((all.try_with(5, 1, 3, 10s).what == kind::granted));
    all.server.erase(deadlines);
    BOOST_TEST((all.try_with(5, 2, 3).what == kind::busy));
    all.java_adds(3);
    BOOST_TEST((all.try_with(5, 2, 5).limit == 5));
    all.pass(31s);
    BOOST_TEST((all.try_with(5, 3, 6).what == kind::too_much));
}

// A time that says until when somebody holds is never shortened.
BOOST_AUTO_TEST_CASE(permits_that_are_out_stay_out_when_the_clock_steps_back) {
    for (auto const step : {40s, 3'600s}) {
        limited_world all;
        BOOST_TEST(all.granted_with(2, 1));
        BOOST_TEST(all.granted(2));
        auto const till = all.till(1);
        all.pass(-step);
        BOOST_TEST(!all.granted(3, 1, true));
        BOOST_TEST(all.renew(1));
        BOOST_TEST(all.till(1) == till);
        all.pass(step + 29s);
        BOOST_TEST(!all.granted(3));
        all.pass(1s);
        BOOST_TEST(all.granted(3, 2));
    }
}

BOOST_AUTO_TEST_SUITE_END()
