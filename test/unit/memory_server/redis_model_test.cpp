// What the model does beyond answering as a server: accidents, refusals, users.

#include "memory_server/redis_model.hpp"

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace holdfast::memory;

namespace {

namespace scripts = holdfast::detail::scripts;
constexpr auto start = asking::start;

value acquire(asking& it, std::string_view holder) {
    return it.ask(
        {"EVAL",
         scripts::lock_acquire.text,
         "2",
         "a",
         "redisson_lock_token:{a}",
         "30000",
         holder,
         "2592000000",
         "1",
         "0",
         "0",
         "0",
         "0",
         "0",
         "n"}
    );
}

value granted(std::int64_t token) {
    return text("n 1 " + std::to_string(token));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_redis_model_test)

BOOST_AUTO_TEST_CASE(a_lock_that_is_evicted_is_gone_without_a_notification) {
    asking it;
    it.server.execute(it.session, {"SUBSCRIBE", "redisson_lock__channel:{a}"});
    it.pushes.clear();
    BOOST_TEST((acquire(it, "x:1") == granted(start)));
    BOOST_TEST(it.server.lock_keys() == std::vector<std::string>{"a"});
    BOOST_TEST(it.server.erase("a"));
    BOOST_TEST(!it.server.erase("a"));
    BOOST_TEST(it.pushes.empty());
    BOOST_TEST((acquire(it, "x:2") == granted(start + 1)));
    BOOST_TEST(it.server.get("redisson_lock_token:{a}").value() == std::to_string(start + 1));
    BOOST_REQUIRE(it.server.hgetall("a").size() == 1U);
    BOOST_TEST(it.server.hgetall("a").front().first == "x:2");
    BOOST_TEST(it.server.type("a") == "hash");
}

BOOST_AUTO_TEST_CASE(a_restart_ends_sessions_and_forgets_scripts) {
    for (bool const keep : {true, false}) {
        asking it;
        it.server.execute(it.session, {"SUBSCRIBE", "channel"});
        acquire(it, "x:1");
        it.server.restart(keep);
        BOOST_TEST(!it.server.execute(it.session, {"PING"}).has_value());
        BOOST_TEST(it.server.subscriptions() == 0U);
        BOOST_TEST(it.server.keys().size() == (keep ? 2U : 0U));
        it.session = it.connect();
        BOOST_TEST(it.ask({"EVALSHA", scripts::lock_acquire.sha1, "0"}).text.starts_with("NOSCRIPT")
        );
    }
}

BOOST_AUTO_TEST_CASE(refusals_are_planned_by_name_and_number) {
    asking it;
    it.server.refuse_next("GET", 2, "MINE not now");
    it.server.refuse_next("*", 1, "MINE whatever it is");
    BOOST_TEST((it.ask({"PING"}) == value::error("MINE whatever it is")));
    BOOST_TEST((it.ask({"PING"}) == value::status("PONG")));
    BOOST_TEST((it.ask({"get", "a"}) == value::error("MINE not now")));
    auto const in_script = it.ask({"EVAL", "return redis.call('GET', 'a')", "0"});
    BOOST_TEST(in_script.text.starts_with("MINE not now script: "));
    BOOST_TEST((it.ask({"GET", "a"}) == value::nil()));
}

// --- replication

BOOST_AUTO_TEST_CASE(a_replica_has_what_it_was_sent_and_refuses_writes) {
    asking primary;
    asking replica;
    replica.server.set_replica(true);
    acquire(primary, "x:1");
    auto const sent = primary.server.copy_data();
    primary.server.erase("a");
    replica.server.set_data(sent);
    BOOST_REQUIRE(replica.server.hgetall("a").size() == 1U);
    BOOST_TEST(replica.server.hgetall("a").front().first == "x:1");
    BOOST_TEST(replica.server.pttl("a") == 30'000);
    BOOST_TEST(replica.ask({"SET", "b", "1"}).text.find("READONLY") != std::string::npos);
    BOOST_TEST(replica.server.is_replica());
    replica.server.set_replica(false);
    BOOST_TEST(acquire(replica, "x:2").text.starts_with("n 0 "));
    BOOST_TEST(!primary.server.exists("a"));
}

BOOST_AUTO_TEST_CASE(a_process_says_its_run_id_once_it_has_one) {
    asking it;
    BOOST_TEST(it.ask({"INFO", "server"}).text.find("run_id:") == std::string::npos);
    it.server.set_process("one", it.server.time() - 5'000'000);
    auto const text = it.ask({"INFO", "server"}).text;
    BOOST_TEST(text.find("run_id:one\r\n") != std::string::npos);
    BOOST_TEST(text.find("uptime_in_seconds:5\r\n") != std::string::npos);
    BOOST_TEST(it.server.run_id() == "one");
}

BOOST_AUTO_TEST_SUITE_END()
