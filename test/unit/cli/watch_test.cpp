// Events are the differences between two looks.

#include "cli/watch.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace holdfast::cli;
using kind = lock_event::kind;

namespace {

found_lock held_by(std::string holder, std::uint64_t token, std::size_t waiting = 0) {
    found_lock found;
    found.lock.emplace();
    found.lock->held = !holder.empty();
    found.lock->holder = std::move(holder);
    found.lock->last_token.value = token;
    found.lock->waiting_clients = waiting;
    return found;
}

std::string names_of(std::vector<lock_event> const& events) {
    std::string names;
    for (auto const& event : events) {
        names.append(names.empty() ? "" : " ").append(to_string(event.what));
    }
    return names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli_watch_test)

BOOST_AUTO_TEST_CASE(the_first_look_says_what_there_is) {
    BOOST_TEST(events_between(nullptr, held_by("", 0)).empty());
    auto const first = events_between(nullptr, held_by("a:1", 7, 2));
    BOOST_TEST(names_of(first) == "granted waiting");
    BOOST_TEST(first.front().holder == "a:1");
    BOOST_TEST(first.front().token.value == 7U);
    BOOST_TEST(first.back().number == 2);
}

BOOST_AUTO_TEST_CASE(a_lock_goes_from_holder_to_holder) {
    auto const first = held_by("a:1", 7);
    auto const second = held_by("b:1", 8);
    auto const none = held_by("", 8);
    BOOST_TEST(events_between(&first, first).empty());
    auto const passed = events_between(&first, second);
    BOOST_TEST(names_of(passed) == "handed_over");
    BOOST_TEST(passed.front().holder == "b:1");
    auto const freed = events_between(&second, none);
    BOOST_TEST(names_of(freed) == "released");
    BOOST_TEST(freed.front().holder == "b:1");
    BOOST_TEST(names_of(events_between(&none, first)) == "granted");
}

BOOST_AUTO_TEST_CASE(numbers_are_events_when_they_change) {
    found_lock before;
    before.permits.emplace();
    auto after = before;
    after.permits->acquired = 2;
    after.number = 5;
    BOOST_TEST(names_of(events_between(&before, after)) == "permits number");
    BOOST_TEST(events_between(&before, after).front().number == 2);
    auto reading = before;
    reading.readers.emplace();
    reading.readers->readers = 3;
    BOOST_TEST(names_of(events_between(&before, reading)) == "readers");
}

BOOST_AUTO_TEST_SUITE_END()
