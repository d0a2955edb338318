// The looks after locks that were handed over: one for each, when the receiver's time is over.

#include "acquire/looks.hpp"

#include "protocol/fair_lock.hpp"
#include "unit/acquire/handing_client.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::config;
using holdfast::lease_clock;
using holdfast::detail::looks;
using holdfast::test::handing_client;
using holdfast::test::replied;

namespace {

struct world : handing_client {
    using handing_client::handing_client;
    void later(std::chrono::milliseconds after) {
        on_strand([this, after] {
            after_hand_over.later(on, state->holder_id_of(7), lease_clock::now() + after);
        });
    }
    ~world() {
        on_strand([this] { after_hand_over.clear(); });
    }

    looks after_hand_over{*state};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(looks_test)

BOOST_AUTO_TEST_CASE(however_often_a_lock_was_handed_over_there_is_one_look_after_the_last_time) {
    world all;
    auto const began = lease_clock::now();
    all.later(20ms);
    all.later(20ms);
    all.later(60ms);
    BOOST_TEST(all.sent() == "");
    BOOST_TEST(all.eventually([&] { return all.sent() == "release"; }));
    BOOST_TEST((lease_clock::now() >= began + 60ms));
    BOOST_TEST(all.text().ends_with(":7   2592000000 0 0 0"));
    all.answer(replied(0, 1));
    BOOST_TEST(all.count().claims_lost == 0U);
    // The next hand-over is looked after again.
    all.later(1ms);
    BOOST_TEST(all.eventually([&] { return all.sent() == "release"; }));
}

BOOST_AUTO_TEST_CASE(a_fair_lock_is_looked_after_until_its_first_waiter_listens) {
    world all;
    auto const fair = std::make_shared<holdfast::detail::target const>(
        holdfast::detail::make_fair_lock_target("", "f")
    );
    all.on_strand([&] {
        all.after_hand_over.later(fair, all.state->holder_id_of(7), lease_clock::now() + 1ms);
    });
    auto const looks = [&] { return all.sent() == "fair_lock.release"; };
    BOOST_TEST_REQUIRE(all.eventually(looks));
    BOOST_TEST(all.text().ends_with(":7 0 2000 0 0"));
    all.answer(replied(0, 0, 0, 0, 0, "-", 1));
    BOOST_TEST_REQUIRE(all.eventually(looks));
    all.answer(replied(0, 0));
    BOOST_TEST(!all.eventually(looks));
    BOOST_TEST(all.count().claims_lost == 0U);
}

BOOST_AUTO_TEST_CASE(while_lock_delay_lasts_nobody_is_given_the_lock) {
    config settings;
    settings.lock_delay = 1h;
    world all{settings};
    all.later(1ms);
    BOOST_TEST(!all.eventually([&] { return !all.sent().empty(); }));
}

BOOST_AUTO_TEST_CASE(without_a_connection_it_is_left_to_the_others) {
    world all;
    all.later(1ms);
    all.set_commands_up(false);
    BOOST_TEST(all.eventually([&, began = lease_clock::now()] {
        return !all.sent().empty() || lease_clock::now() > began + 50ms;
    }));
    BOOST_TEST(all.sent() == "");
}

BOOST_AUTO_TEST_SUITE_END()
