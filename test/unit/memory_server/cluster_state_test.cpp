// What a node of a cluster does with keys and channels that are elsewhere, or on their way.

#include "memory_server/cluster_state.hpp"

#include "unit/memory_server/cluster_pair.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_cluster_state_test)

BOOST_AUTO_TEST_CASE(who_does_not_have_the_slot_says_who_has_it) {
    cluster_pair it;
    BOOST_TEST(it.one.ask({"SET", "b", "1"}) == ok);
    BOOST_TEST(it.one.ask({"GET", "a"}).text == "MOVED 15495 second:2");
    BOOST_TEST(it.other.ask({"GET", "b"}).text == "MOVED 3300 first:1");
    BOOST_TEST(it.other.ask({"EVAL", "return 1", "1", "b"}).text == "MOVED 3300 first:1");
    BOOST_TEST(it.one.ask({"DEL", "a", "b"}).text.starts_with("CROSSSLOT"));
    BOOST_TEST(it.one.ask({"EVAL", "return 1", "0"}) == number(1));
    auto view = view_of(0);
    view.owners[it.slot] = cluster_view::nobody;
    it.one.server.set_cluster(view);
    BOOST_TEST(it.one.ask({"GET", "b"}).text.starts_with("CLUSTERDOWN"));
}

BOOST_AUTO_TEST_CASE(a_replica_serves_channels_and_no_keys) {
    asking it;
    it.server.set_cluster(view_of(2));
    it.server.set_replica(true);
    BOOST_TEST(it.ask({"GET", "b"}).text == "MOVED 3300 first:1");
    BOOST_TEST(!it.server.execute(it.session, {"SSUBSCRIBE", "b"}));
    BOOST_TEST(it.ask({"SSUBSCRIBE", "a"}).text == "MOVED 15495 second:2");
    BOOST_TEST(!it.server.execute(it.session, {"SUBSCRIBE", "a"}));
}

BOOST_AUTO_TEST_CASE(keys_that_have_left_are_asked_for_at_the_other_node) {
    cluster_pair it;
    it.one.ask({"SET", "b", "1"});
    it.one.ask({"SET", "{b}2", "1"});
    auto const moving = it.move();
    BOOST_TEST(it.one.server.keys_to_move(*moving).size() == 2U);
    BOOST_TEST(it.one.ask({"GET", "b"}) == text("1"));
    BOOST_TEST(it.one.ask({"GET", "{b}3"}).text == "ASK 3300 second:2");
    moving->arrived.insert("b");
    BOOST_TEST(it.one.ask({"GET", "b"}).text == "ASK 3300 second:2");
    BOOST_TEST(it.one.ask({"DEL", "b", "{b}2"}).text.starts_with("TRYAGAIN"));
    // Only what was asked for so, and only there.
    BOOST_TEST(it.other.ask({"GET", "b"}).text == "MOVED 3300 first:1");
    BOOST_TEST(it.other.ask({"ASKING"}) == ok);
    BOOST_TEST(it.other.ask({"GET", "b"}) == text("1"));
    BOOST_TEST(it.other.ask({"GET", "b"}).text == "MOVED 3300 first:1");
    it.other.ask({"ASKING"});
    BOOST_TEST(it.other.ask({"DEL", "b", "{b}2"}).text.starts_with("TRYAGAIN"));
    // What is made there is there.
    it.other.ask({"ASKING"});
    BOOST_TEST(it.other.ask({"SET", "{b}3", "1"}) == ok);
    BOOST_TEST(it.one.ask({"GET", "{b}3"}).text == "ASK 3300 second:2");
    BOOST_TEST(it.one.server.keys_to_move(*moving) == std::vector<std::string>{"{b}2"});
}

BOOST_AUTO_TEST_CASE(a_script_touches_no_key_of_another_node) {
    cluster_pair it;
    auto const far = it.one.ask({"EVAL", "return redis.call('GET', 'a')", "1", "b"});
    BOOST_TEST(far.text.find("non local key") != std::string::npos);
    auto const far_channel = it.one.ask({"EVAL", "return redis.call('SPUBLISH', 'a', '')", "0"});
    BOOST_TEST(far_channel.text.find("non local key") != std::string::npos);
    BOOST_TEST(it.one.ask({"EVAL", "return redis.call('PUBLISH', 'a', '')", "0"}) == number(0));
}

BOOST_AUTO_TEST_SUITE_END()
