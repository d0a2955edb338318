// A model that becomes a node of a cluster, and learns who has which slots.

#include "unit/memory_server/cluster_pair.hpp"

#include <boost/test/unit_test.hpp>

#include <string_view>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_redis_model_cluster_test)

BOOST_AUTO_TEST_CASE(a_session_that_is_obeyed_reaches_all_keys) {
    cluster_pair it;
    it.other.ask({"SET", "a", "1"});
    it.one.server.obey(it.one.session);
    BOOST_TEST(it.one.ask({"GET", "a"}) == text("1"));
}

BOOST_AUTO_TEST_CASE(what_is_published_goes_over_the_bus) {
    cluster_pair it;
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
    cluster_pair it;
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
