// The requests about the number of a latch or a counting semaphore: which numbers are allowed, and
// what the replies come to.

#include "client/counting.hpp"

#include "protocol/counted.hpp"
#include "unit/client/waiting.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::make_counting_semaphore_target;
using holdfast::detail::make_latch_target;
using holdfast::detail::target;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::waiting;

namespace counted = holdfast::detail::counted;

namespace {

struct world : scripted_client {
    auto told() {
        return [this](error_code ec) { error = ec; };
    }
    template <class Value>
    auto told(Value& value) {
        return [this, &value](error_code ec, Value found) {
            error = ec;
            value = found;
        };
    }
    void release(std::int64_t permits) {
        error.reset();
        holdfast::detail::start_release_permits({state, semaphore}, permits, told());
        run();
    }
    void add(std::int64_t permits) {
        error.reset();
        holdfast::detail::start_add_permits({state, semaphore}, permits, told());
        run();
    }
    void count_down(std::int64_t times) {
        error.reset();
        holdfast::detail::start_count_down({state, latch}, times, told());
        run();
    }
    std::string oldest() {
        return server->requests.empty() ? "" : std::string{server->requests[0].what.what().name};
    }

    std::shared_ptr<target const> latch =
        std::make_shared<target const>(make_latch_target("", "a"));
    std::shared_ptr<target const> semaphore =
        std::make_shared<target const>(make_counting_semaphore_target("", "a"));
    std::optional<error_code> error;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(counting_test)

BOOST_AUTO_TEST_CASE(numbers_that_make_no_sense_are_refused) {
    world all;
    for (auto const wrong : {std::int64_t{0}, std::int64_t{-1}, counted::greatest + 1}) {
        all.count_down(wrong);
        BOOST_TEST((all.error == errc::invalid_options));
        all.release(wrong);
        BOOST_TEST((all.error == errc::invalid_options));
    }
    all.add(-counted::greatest - 1);
    BOOST_TEST((all.error == errc::invalid_options));
    bool set = false;
    all.error.reset();
    holdfast::detail::start_try_set_number({all.state, all.latch}, -1, all.told(set));
    all.run();
    BOOST_TEST((all.error == errc::invalid_options));
    BOOST_TEST(all.server->requests.empty());
    all.add(-3);
    BOOST_TEST(all.oldest() == "counting_semaphore.add");
    all.answer(replied(1, 1, 1));
    BOOST_TEST((all.error == error_code{}));
}

BOOST_AUTO_TEST_CASE(permits_are_of_one_number_and_never_none) {
    world all;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    waiting const five{all, {.on = all.semaphore, .permits = 5}};
    BOOST_TEST(all.server->requests.at(0).what.word(2) == "5");
    waiting const all_there_are{all, {.on = all.semaphore, .permits = most}};
    BOOST_TEST(all.server->requests.at(1).what.word(2) == "2147483647");
    for (auto const wrong : {std::int64_t{0}, std::int64_t{-1}, most + 1, most * 4}) {
        waiting const none{all, {.on = all.semaphore, .permits = wrong}};
        BOOST_TEST((none.error == errc::invalid_options));
        BOOST_TEST(!none.inside);
    }
}

BOOST_AUTO_TEST_CASE(a_number_that_is_read_or_drained) {
    world all;
    std::int64_t value = 7;
    holdfast::detail::start_read_number({all.state, all.semaphore}, all.told(value));
    all.run();
    BOOST_TEST(all.oldest() == "counted.read");
    all.answer(replied(1, -4));
    BOOST_TEST((all.error == error_code{}));
    BOOST_TEST(value == -4);
    holdfast::detail::start_read_number({all.state, all.latch}, all.told(value));
    all.run();
    all.answer(replied(1, -4));
    BOOST_TEST((all.error == errc::corrupt_state));
    holdfast::detail::start_drain_permits({all.state, all.semaphore}, all.told(value));
    all.run();
    BOOST_TEST(all.oldest() == "counting_semaphore.drain");
    all.answer(replied(1, 12));
    BOOST_TEST((all.error == error_code{}));
    BOOST_TEST(value == 12);
}

BOOST_AUTO_TEST_CASE(whether_a_number_was_set_is_told) {
    world all;
    bool set = false;
    holdfast::detail::start_try_set_number({all.state, all.latch}, 3, all.told(set));
    all.run();
    all.answer(replied(1, 1, 1));
    BOOST_TEST(set);
    holdfast::detail::start_try_set_number({all.state, all.latch}, 3, all.told(set));
    all.run();
    all.answer(replied(1, 0, 1));
    BOOST_TEST((all.error == error_code{}));
    BOOST_TEST(!set);
}

BOOST_AUTO_TEST_CASE(those_of_this_client_look_if_nobody_else_can_tell_them) {
    world all;
    waiting const waiter{all, {.on = all.latch}};
    all.answer(replied(1, 1));
    all.on_strand([&] { all.server->listeners->on_confirmed(all.latch->channel()); });
    all.answer(replied(1, 1));
    all.count_down(1);
    all.answer(replied(1, 1, 1));
    BOOST_TEST(all.oldest() == "");
    all.count_down(1);
    all.answer(replied(1, 1, 0));
    BOOST_TEST(all.oldest() == "counted.read");
    BOOST_TEST(all.count().refused_notifications == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
