// What the scripts say on a client's own channel, and what is none of it.

#include "protocol/hand_over_message.hpp"

#include "protocol/lock.hpp"
#include "protocol/slot.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace std::chrono_literals;
using holdfast::fencing_token;
using holdfast::detail::channel_of_client;
using holdfast::detail::hand_over_message;
using holdfast::detail::read_hand_over_message;
using kind = hand_over_message::kind;

BOOST_AUTO_TEST_SUITE(hand_over_message_test)

BOOST_AUTO_TEST_CASE(a_grant_says_all_that_a_holder_needs) {
    std::string const text = "grant lock c:7 42 1700000000000000 3000 my lock {x}";
    auto const read = read_hand_over_message(text);
    BOOST_REQUIRE(read.has_value());
    BOOST_TEST((read->what == kind::grant));
    BOOST_TEST(read->holder == "c:7");
    BOOST_TEST((read->token == fencing_token{42}));
    BOOST_TEST(read->server_time == 1'700'000'000'000'000U);
    BOOST_TEST((read->window == 3s));
    BOOST_TEST(read->lock == "my lock {x}");
}

BOOST_AUTO_TEST_CASE(the_other_messages) {
    auto const next = read_hand_over_message("next lock c:7 1500 a");
    BOOST_REQUIRE(next.has_value());
    BOOST_TEST((next->what == kind::next));
    BOOST_TEST((next->window == 1500ms));
    BOOST_TEST(next->lock == "a");
    auto const wait = read_hand_over_message("wait lock c:7 a b");
    BOOST_REQUIRE(wait.has_value());
    BOOST_TEST((wait->what == kind::wait));
    BOOST_TEST(wait->lock == "a b");
    auto const look = read_hand_over_message("look lock c:7 a");
    BOOST_REQUIRE(look.has_value());
    BOOST_TEST((look->what == kind::look));
}

BOOST_AUTO_TEST_CASE(anything_else_is_no_message) {
    for (std::string_view const text : {
             "",
             "grant",
             "grant lock",
             "grant lock c:7 42 1700000000000000 3000",
             "grant lock c:7 42 1700000000000000 3000 ",
             "grant lock c:7 x 1700000000000000 3000 a",
             "grant lock c:7 -1 1700000000000000 3000 a",
             "grant lock c:7 0 1700000000000000 3000 a",
             "grant lock c:7 42 1700000000000000 86400001 a",
             "grant lock  42 1700000000000000 3000 a",
             "grant fair c:7 42 1700000000000000 3000 a",
             "give lock c:7 a",
             "wait lock c:7 ",
             "next lock c:7 a",
         }) {
        BOOST_TEST(!read_hand_over_message(text).has_value(), text);
    }
}

BOOST_AUTO_TEST_CASE(each_client_has_a_channel) {
    BOOST_TEST(channel_of_client("abc") == "holdfast_client:abc");
}

BOOST_AUTO_TEST_CASE(on_a_cluster_a_client_has_a_channel_for_each_lock_in_its_slot) {
    using holdfast::detail::make_lock_target;
    BOOST_TEST(
        channel_of_client("abc", make_lock_target("p:", "x")) == "holdfast_client:{p:x}:abc"
    );
    auto const tagged = make_lock_target("", "a{b}c");
    auto const channel = channel_of_client("abc", tagged);
    BOOST_TEST(channel == "holdfast_client:a{b}c:abc");
    BOOST_TEST(holdfast::detail::slot_of(channel) == holdfast::detail::slot_of(tagged.lock));
}

BOOST_AUTO_TEST_SUITE_END()
