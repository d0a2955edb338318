// Subscriptions that are wanted while there is no connection are kept for the next one, and
// counted.

#include "redis/subscription_connection.hpp"

#include "unit/redis/nowhere.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>

using holdfast::error_code;
using holdfast::detail::subscriber;
using holdfast::detail::subscription_connection;
using holdfast::detail::supervisor;
using holdfast::test::nowhere;

namespace {

struct listener final : subscriber {
    void on_confirmed(bool) override { ++told; }
    void on_unconfirmed() override { ++told; }
    void on_refused(error_code) override { ++told; }
    void on_notification(std::string_view) override { ++told; }
    int told = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(subscription_connection_test)

BOOST_AUTO_TEST_CASE(channels_are_counted_and_nobody_is_told_of_what_is_not_confirmed) {
    nowhere at;
    auto const one = std::make_shared<subscription_connection>(at.server(), supervisor::events{});
    one->start();
    listener heard;
    auto const& now = at.count->subscriptions_now;
    auto a = one->subscribe("a", heard);
    auto again = one->subscribe("a", heard);
    auto b = one->subscribe("b", heard);
    BOOST_TEST(now.get() == 2U);
    a = {};
    BOOST_TEST(now.get() == 2U);
    again = {};
    BOOST_TEST(now.get() == 1U);
    BOOST_TEST(at.eventually([&] { return static_cast<bool>(one->why_down().cause); }));
    one->stop();
    BOOST_TEST(at.ends());
    // It may outlive the connection.
    b = {};
    BOOST_TEST(heard.told == 0);
}

BOOST_AUTO_TEST_SUITE_END()
