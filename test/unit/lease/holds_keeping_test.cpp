// When leases begin to be looked after: once they are not young any more, without being asked.

#include "lease/holds.hpp"
#include "unit/acquire/reading_client.hpp"
#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::loss_reason;
using holdfast::test::acquiring;
using holdfast::test::grant;
using holdfast::test::reading_client;
using holdfast::test::scripted_client;

BOOST_AUTO_TEST_SUITE(holds_keeping_test)

BOOST_AUTO_TEST_CASE(a_lease_that_grows_old_is_looked_after_without_being_asked) {
    scripted_client all;
    auto const one = grant(all, {.max_hold = 60ms});
    BOOST_TEST(all.count().losses.max_hold == 0U);
    BOOST_TEST(all.eventually([&] { return all.count().losses.max_hold == 1; }));
    BOOST_TEST(one.loss() == loss_reason::max_hold);
}

BOOST_AUTO_TEST_CASE(so_is_each_of_those_that_share_a_hold_and_what_comes_after_them) {
    holdfast::config settings;
    settings.lease = 1s;
    reading_client all{settings};
    acquiring first{all, all.reader()};
    acquiring second{all, all.reader()};
    all.answer(all.granted_reader());
    acquiring third{all, all.reader()};
    BOOST_TEST(third.got.valid());
    auto const last = grant(all, {.max_hold = 60ms});
    BOOST_TEST(all.eventually([&] { return all.count().losses.max_hold == 1; }));
    // No renewal is answered.
    BOOST_TEST(all.eventually([&] { return all.count().losses.unreachable == 3; }));
}

BOOST_AUTO_TEST_SUITE_END()
