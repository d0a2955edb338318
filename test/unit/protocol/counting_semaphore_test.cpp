// How the library speaks of a counting semaphore: the names of Redisson, which script gets which
// keys and arguments, and what the scripts do.

#include "protocol/counted.hpp"
#include "unit/calls.hpp"
#include "unit/protocol/on_model.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace std::chrono_literals;
using holdfast::detail::holder_id;
using holdfast::detail::make_counting_semaphore_target;
using holdfast::detail::target;
using holdfast::detail::target_kind;
using holdfast::test::on_model;
using holdfast::test::reply_of;
using holdfast::test::typed;

namespace counted = holdfast::detail::counted;

namespace {

std::string const channel = "redisson_sc:{L}";

target of(std::uint32_t permits) {
    auto made = make_counting_semaphore_target("", "L");
    made.permits = permits;
    return made;
}

auto const on = of(1);

holder_id id(std::uint64_t number) {
    return holder_id::of_number("0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", number);
}

std::string mark(std::uint64_t number) {
    return "holdfast_done:{L}:" + std::string{id(number).view()};
}

struct world : on_model {
    world() : on_model{channel} {}

    bool acquire(std::uint32_t permits, std::uint64_t number) {
        auto const from = of(permits);
        return *counted::read_attempt(from, run(counted::attempt(from, id(number), 3s)));
    }
    bool withdraw(std::uint32_t permits, std::uint64_t number) {
        auto const from = of(permits);
        return counted::read_withdrawal(run(counted::withdraw(from, id(number), 3s))).done;
    }
    counted::request_reply add(std::int64_t permits, std::uint64_t number) {
        return counted::read_request(run(counted::add({on, id(number), permits, 1min, 3s})));
    }
    std::optional<std::int64_t> drain(std::uint64_t number) {
        return counted::read_number(on, run(counted::drain({on, id(number), 0, 1min, 3s})));
    }
    void set(std::int64_t permits) { run(counted::try_set({on, id(1'000), permits, 1min, 3s})); }
    std::string permits() { return value_of("L"); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(counting_semaphore_test)

BOOST_AUTO_TEST_CASE(names_are_those_of_redisson) {
    BOOST_TEST((on.kind == target_kind::counting_semaphore));
    BOOST_TEST(on.lock == "L");
    BOOST_TEST(on.channel() == channel);
    auto const tagged = make_counting_semaphore_target("p:", "a{b}c");
    BOOST_TEST(tagged.channel() == "redisson_sc:p:a{b}c");
    BOOST_TEST(tagged.done() == "holdfast_done:p:a{b}c");
    BOOST_TEST(!make_counting_semaphore_target("", "").valid());
}

BOOST_AUTO_TEST_CASE(a_successful_attempt_takes_something) {
    BOOST_TEST(counted::takes(on));
}

BOOST_AUTO_TEST_CASE(the_calls_name_what_they_touch) {
    auto const five = of(5);
    auto const by = id(7);
    auto const all_keys = "L " + channel + " " + mark(7);
    BOOST_TEST(
        typed(counted::attempt(five, by, 3s)) ==
        "counting_semaphore.acquire 2 L " + mark(7) + " 5 90000000"
    );
    BOOST_TEST(
        typed(counted::withdraw(five, by, 3s)) ==
        "counting_semaphore.withdraw 3 " + all_keys + " 5 600000"
    );
    BOOST_TEST(
        typed(counted::add({on, by, -4, 1min, 3s})) ==
        "counting_semaphore.add 3 " + all_keys + " -4 60000"
    );
    BOOST_TEST(
        typed(counted::drain({on, by, 0, 1min, 3s})) ==
        "counting_semaphore.drain 2 L " + mark(7) + " 60000"
    );
}

BOOST_AUTO_TEST_CASE(the_answers_to_an_attempt_and_to_its_withdrawal) {
    BOOST_TEST((counted::read_attempt(on, reply_of(1)) == true));
    BOOST_TEST((counted::read_attempt(on, reply_of(0)) == false));
    BOOST_TEST(!counted::read_attempt(on, reply_of(2)).has_value());
    BOOST_TEST(!counted::read_attempt(on, reply_of()).has_value());

    BOOST_TEST(counted::read_withdrawal(reply_of(1, 1)).done);
    BOOST_TEST(!counted::read_withdrawal(reply_of(1, 0)).notified);
    BOOST_TEST(!counted::read_withdrawal(reply_of(0, 0)).done);
    BOOST_TEST(counted::read_withdrawal(reply_of(0, 0)).notified);
}

// Recorded from Redisson.
BOOST_AUTO_TEST_CASE(set_taken_and_given_back_it_says_what_redisson_says) {
    world all;
    all.set(3);
    BOOST_TEST(all.acquire(2, 1));
    BOOST_TEST(!all.acquire(2, 2));
    BOOST_TEST(all.permits() == "1");
    BOOST_TEST(all.add(2, 3).done);
    BOOST_TEST(all.heard() == "3 3");
    BOOST_TEST(all.permits() == "3");
    BOOST_TEST(all.ask({"PTTL", "L"}).number == -1);
}

BOOST_AUTO_TEST_CASE(a_semaphore_that_was_not_set_has_none) {
    world all;
    BOOST_TEST(!all.acquire(1, 1));
    BOOST_TEST((all.drain(2) == 0));
    BOOST_TEST(all.permits() == "-");
    all.add(2, 3);
    BOOST_TEST(all.permits() == "2");
    BOOST_TEST(all.heard() == "2");
}

BOOST_AUTO_TEST_CASE(an_attempt_that_comes_after_its_withdrawal_takes_nothing) {
    world all;
    all.set(5);
    BOOST_TEST(!all.withdraw(2, 1));
    BOOST_TEST(all.permits() == "5");
    BOOST_TEST(!all.acquire(2, 1));
    BOOST_TEST(all.permits() == "5");
    all.acquire(2, 2);
    all.withdraw(2, 2);
    BOOST_TEST(!all.acquire(2, 2));
    BOOST_TEST(all.permits() == "5");
}

BOOST_AUTO_TEST_CASE(nothing_is_given_back_to_a_semaphore_that_was_deleted) {
    world all;
    all.set(5);
    all.acquire(2, 1);
    all.ask({"DEL", "L"});
    all.withdraw(2, 1);
    BOOST_TEST(all.permits() == "-");
}

BOOST_AUTO_TEST_CASE(permits_are_added_once_and_there_may_be_less_than_none) {
    world all;
    all.set(1);
    all.add(3, 1);
    all.add(3, 1);
    BOOST_TEST(all.permits() == "4");
    all.heard();
    all.add(-9, 2);
    BOOST_TEST(all.permits() == "-5");
    // Redisson could not read it.
    BOOST_TEST(all.heard() == "");
    BOOST_TEST(!all.acquire(1, 3));
    all.add(7, 4);
    BOOST_TEST(all.heard() == "2");
    BOOST_TEST(!all.acquire(3, 5));
    BOOST_TEST(all.acquire(2, 6));
}

BOOST_AUTO_TEST_CASE(all_are_taken_once_and_debts_are_forgotten) {
    world all;
    all.set(4);
    all.ask({"PEXPIRE", "L", "50000"});
    BOOST_TEST((all.drain(1) == 4));
    BOOST_TEST(all.permits() == "0");
    BOOST_TEST(all.ask({"PTTL", "L"}).number == 50'000);
    all.add(2, 2);
    BOOST_TEST((all.drain(1) == 4));
    BOOST_TEST(all.permits() == "2");
    all.add(-9, 3);
    BOOST_TEST((all.drain(4) == -7));
    BOOST_TEST(all.permits() == "0");
}

// So that replicas can be waited for: they confirm what was written.
BOOST_AUTO_TEST_CASE(an_attempt_that_is_repeated_writes_and_takes_nothing_more) {
    world all;
    all.set(3);
    BOOST_TEST(all.acquire(1, 1));
    auto const left = [&] { return all.server.pttl(mark(1)); };
    auto const before = left();
    all.later(5s);
    BOOST_TEST(left() < before);
    BOOST_TEST(all.acquire(1, 1));
    BOOST_TEST(left() == before);
    BOOST_TEST(all.permits() == "2");
}

BOOST_AUTO_TEST_SUITE_END()
