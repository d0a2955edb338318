// What a node of a cluster does with keys and channels that are elsewhere, or on their way.

#include "memory_server/cluster_state.hpp"

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <memory>

using namespace holdfast::memory;

namespace {

constexpr std::size_t first = 0;
constexpr std::size_t second = 1;

// Two primaries, each with half of the slots, and a replica of the first. "a" is in slot 15495 and
// belongs to the second, "b" is in slot 3300 and belongs to the first.
cluster_view view_of(std::size_t self) {
    cluster_view made{
        .nodes = {{"first", 1}, {"second", 2}, {"third", 3, first}},
        .self = self,
    };
    auto const half = made.owners.begin() + holdfast::detail::slot_count / 2;
    std::fill(made.owners.begin(), half, static_cast<std::uint8_t>(first));
    std::fill(half, made.owners.end(), static_cast<std::uint8_t>(second));
    return made;
}

struct pair {
    asking one;
    asking other;
    std::uint16_t const slot = holdfast::detail::slot_of("b");

    pair() {
        one.server.set_cluster(view_of(first));
        other.server.set_cluster(view_of(second));
        other.server.share_data(one.server);
    }

    std::shared_ptr<moving_slot> move() {
        auto made = std::make_shared<moving_slot>(moving_slot{slot, first, second});
        one.server.set_moving(made);
        other.server.set_moving(made);
        return made;
    }
    void give_to_second(asking& to) {
        auto view = *to.server.cluster();
        view.owners[slot] = static_cast<std::uint8_t>(second);
        to.server.set_cluster(view);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_cluster_state_test)

BOOST_AUTO_TEST_CASE(who_does_not_have_the_slot_says_who_has_it) {
    pair it;
    BOOST_TEST(it.one.ask({"SET", "b", "1"}) == ok);
    BOOST_TEST(it.one.ask({"GET", "a"}).text == "MOVED 15495 second:2");
    BOOST_TEST(it.other.ask({"GET", "b"}).text == "MOVED 3300 first:1");
    BOOST_TEST(it.other.ask({"EVAL", "return 1", "1", "b"}).text == "MOVED 3300 first:1");
    BOOST_TEST(it.one.ask({"DEL", "a", "b"}).text.starts_with("CROSSSLOT"));
    BOOST_TEST(it.one.ask({"EVAL", "return 1", "0"}) == number(1));
    auto view = view_of(first);
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
    pair it;
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

BOOST_AUTO_TEST_CASE(a_slot_that_was_given_away_is_not_on_its_way) {
    pair it;
    it.one.ask({"SET", "b", "1"});
    it.move()->arrived.insert("b");
    it.give_to_second(it.other);
    BOOST_TEST(it.other.ask({"GET", "b"}) == text("1"));
    BOOST_TEST(it.one.ask({"GET", "b"}).text == "ASK 3300 second:2");
    it.give_to_second(it.one);
    BOOST_TEST(it.one.ask({"GET", "b"}).text == "MOVED 3300 second:2");
}

BOOST_AUTO_TEST_CASE(a_sharded_channel_ends_with_its_slot) {
    pair it;
    it.one.server.execute(it.one.session, {"SSUBSCRIBE", "b"});
    it.one.server.execute(it.one.session, {"SSUBSCRIBE", "{c}"});
    BOOST_TEST(it.one.server.subscriptions() == 2U);
    it.one.pushes.clear();
    it.give_to_second(it.one);
    BOOST_REQUIRE(it.one.pushes.size() == 1U);
    BOOST_TEST(it.one.pushes[0] == value::push({text("sunsubscribe"), text("b"), number(1)}));
    BOOST_TEST(it.one.server.subscribers("b") == 0U);
    BOOST_TEST(it.one.server.subscribers("{c}") == 1U);
}

BOOST_AUTO_TEST_CASE(a_script_touches_no_key_of_another_node) {
    pair it;
    auto const far = it.one.ask({"EVAL", "return redis.call('GET', 'a')", "1", "b"});
    BOOST_TEST(far.text.find("non local key") != std::string::npos);
    auto const far_channel = it.one.ask({"EVAL", "return redis.call('SPUBLISH', 'a', '')", "0"});
    BOOST_TEST(far_channel.text.find("non local key") != std::string::npos);
    BOOST_TEST(it.one.ask({"EVAL", "return redis.call('PUBLISH', 'a', '')", "0"}) == number(0));
}

BOOST_AUTO_TEST_CASE(a_session_that_is_obeyed_reaches_all_keys) {
    pair it;
    it.other.ask({"SET", "a", "1"});
    it.one.server.obey(it.one.session);
    BOOST_TEST(it.one.ask({"GET", "a"}) == text("1"));
}

BOOST_AUTO_TEST_CASE(what_is_published_goes_over_the_bus) {
    pair it;
    it.one.server.set_bus([&](bool sharded, std::string_view channel, std::string_view message) {
        it.other.server.deliver(sharded, channel, message);
    });
    it.other.server.execute(it.other.session, {"SUBSCRIBE", "b"});
    it.other.pushes.clear();
    BOOST_TEST(it.one.ask({"PUBLISH", "b", "x"}) == number(0));
    BOOST_REQUIRE(it.other.pushes.size() == 1U);
    BOOST_TEST(it.other.pushes[0] == value::push({text("message"), text("b"), text("x")}));
}

BOOST_AUTO_TEST_CASE(a_replica_that_takes_over_may_have_less_of_some_keys) {
    pair it;
    it.one.ask({"SET", "b", "old"});
    auto const old = it.one.server.copy_data();
    it.one.ask({"SET", "b", "new"});
    it.one.ask({"SET", "{b}2", "new"});
    it.other.ask({"SET", "a", "new"});
    it.other.server.set_data_of(old, [](std::string_view key) {
        return holdfast::detail::slot_of(key) == holdfast::detail::slot_of("b");
    });
    BOOST_TEST(it.one.server.get("b").value_or("") == "old");
    BOOST_TEST(!it.one.server.exists("{b}2"));
    BOOST_TEST(it.one.server.get("a").value_or("") == "new");
}

BOOST_AUTO_TEST_SUITE_END()
