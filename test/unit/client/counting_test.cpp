// The requests about the number of a latch or a counting semaphore: which numbers are allowed, and
// what the replies come to.

#include "client/counting.hpp"

#include "acquire/acquire_op.hpp"
#include "protocol/counting_semaphore.hpp"
#include "protocol/latch.hpp"
#include "unit/acquire/acquiring.hpp"
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
using holdfast::detail::counted;
using holdfast::detail::make_counting_semaphore_target;
using holdfast::detail::make_latch_target;
using holdfast::detail::target;
using holdfast::detail::with_permits;
using holdfast::test::acquiring;
using holdfast::test::replied;
using holdfast::test::scripted_client;

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
        holdfast::detail::start_release_permits(state, semaphore, permits, told());
        run();
    }
    void add(std::int64_t permits) {
        error.reset();
        holdfast::detail::start_add_permits(state, semaphore, permits, told());
        run();
    }
    void count_down(std::int64_t times) {
        error.reset();
        holdfast::detail::start_count_down(state, latch, times, told());
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
    holdfast::detail::start_try_set_number(all.state, all.latch, -1, all.told(set));
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
    BOOST_TEST(with_permits(all.semaphore, 1) == all.semaphore);
    auto const five = with_permits(all.semaphore, 5);
    BOOST_TEST(five->permits == 5U);
    BOOST_TEST(five->lock == "a");
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    BOOST_TEST(with_permits(all.semaphore, most)->permits == 2'147'483'647U);
    for (auto const wrong : {std::int64_t{0}, std::int64_t{-1}, most + 1, most * 4}) {
        acquiring const none{all, {.on = with_permits(all.semaphore, wrong)}};
        BOOST_TEST((none.error == errc::invalid_options));
    }
}

BOOST_AUTO_TEST_CASE(a_number_that_is_read_or_drained) {
    world all;
    std::int64_t value = 7;
    holdfast::detail::start_read_number(all.state, all.semaphore, all.told(value));
    all.run();
    BOOST_TEST(all.oldest() == "counted.read");
    all.answer(replied(1, -4));
    BOOST_TEST((all.error == error_code{}));
    BOOST_TEST(value == -4);
    holdfast::detail::start_read_number(all.state, all.latch, all.told(value));
    all.run();
    all.answer(replied(1, -4));
    BOOST_TEST((all.error == errc::corrupt_state));
    holdfast::detail::start_drain_permits(all.state, all.semaphore, all.told(value));
    all.run();
    BOOST_TEST(all.oldest() == "counting_semaphore.drain");
    all.answer(replied(1, 12));
    BOOST_TEST((all.error == error_code{}));
    BOOST_TEST(value == 12);
}

BOOST_AUTO_TEST_CASE(whether_a_number_was_set_is_told) {
    world all;
    bool set = false;
    holdfast::detail::start_try_set_number(all.state, all.latch, 3, all.told(set));
    all.run();
    all.answer(replied(1, 1, 1));
    BOOST_TEST(set);
    holdfast::detail::start_try_set_number(all.state, all.latch, 3, all.told(set));
    all.run();
    all.answer(replied(1, 0, 1));
    BOOST_TEST((all.error == error_code{}));
    BOOST_TEST(!set);
}

BOOST_AUTO_TEST_CASE(those_of_this_client_look_if_nobody_else_can_tell_them) {
    world all;
    acquiring const waiting{all, {.on = all.latch}};
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
