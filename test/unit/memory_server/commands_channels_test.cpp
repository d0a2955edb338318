// Subscriptions and messages.

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_commands_channels_test)

BOOST_AUTO_TEST_CASE(who_is_disconnected_hears_nothing_more) {
    asking it;
    auto const other = it.connect();
    it.server.execute(other, {"SUBSCRIBE", "channel"});
    it.server.execute(it.session, {"SUBSCRIBE", "channel"});
    BOOST_TEST((it.ask({"PUBLISH", "channel", "x"}) == value::integer(2)));
    BOOST_TEST(it.server.subscribers("channel") == 2U);
    it.server.disconnect(other);
    it.server.disconnect(other);
    it.pushes.clear();
    BOOST_TEST((it.ask({"PUBLISH", "channel", "x"}) == value::integer(1)));
    BOOST_TEST(it.pushes.size() == 1U);
    BOOST_TEST(it.server.channels() == std::vector<std::string>{"channel"});
}

BOOST_AUTO_TEST_CASE(a_subscription_is_confirmed_and_ended_by_push) {
    asking it;
    BOOST_TEST(!it.server.execute(it.session, {"SUBSCRIBE", "c"}));
    BOOST_TEST(it.pushes.back() == value::push({text("subscribe"), text("c"), number(1)}));
    BOOST_TEST(it.ask({"PUBSUB", "NUMSUB", "c"}) == value::array({text("c"), number(1)}));
    BOOST_TEST(it.ask({"PUBLISH", "c", "x"}) == number(1));
    BOOST_TEST(it.pushes.back() == value::push({text("message"), text("c"), text("x")}));
    BOOST_TEST(!it.server.execute(it.session, {"UNSUBSCRIBE"}));
    BOOST_TEST(it.pushes.back() == value::push({text("unsubscribe"), text("c"), number(0)}));
    BOOST_TEST(it.ask({"PUBSUB", "CHANNELS"}) == value::array());
}

BOOST_AUTO_TEST_CASE(valkey_refuses_to_end_no_subscription) {
    asking it;
    it.server.set_strict_unsubscribe(true);
    BOOST_TEST(it.ask({"UNSUBSCRIBE"}).text.starts_with("NOSUB"));
}

BOOST_AUTO_TEST_SUITE_END()
