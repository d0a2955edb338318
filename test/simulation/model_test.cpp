// What the model does beyond answering as a server: clocks, accidents, refusals, threads.

#include "model/redis_model.hpp"
#include "redis/scripts.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using holdfast::sim::redis_model;
using holdfast::sim::refusal;
using holdfast::sim::value;
namespace scripts = holdfast::detail::scripts;

namespace {

constexpr std::int64_t ms = 1'000;
constexpr std::int64_t start = 1'700'000'000'000 * ms;

struct world {
    redis_model server;
    std::vector<value> pushes;
    redis_model::session_id session = connect();

    world() { server.set_time(start); }
    world(world const&) = delete;

    redis_model::session_id connect() {
        auto const id = server.connect([this](value one) { pushes.push_back(std::move(one)); });
        server.execute(id, {"HELLO", "3"});
        return id;
    }

    value ask(std::initializer_list<std::string_view> command) {
        return server.execute(session, command).value();
    }
    value acquire(std::string_view holder, std::string_view lease = "30000") {
        auto const counter = "redisson_lock_token:{a}";
        return ask(
            {"EVAL", scripts::acquire.text, "2", "a", counter, lease, holder, "2592000000", "0", "n"
            }
        );
    }
};

value granted(std::int64_t token) {
    return value::array({value::bulk("n"), value::integer(1), value::integer(token)});
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_key_is_there_in_its_last_millisecond_and_not_in_the_next) {
    world it;
    it.ask({"SET", "a", "1", "PX", "1000"});
    it.ask({"SET", "b", "1"});
    it.server.set_time(start + 1'000 * ms + 999);
    BOOST_TEST((it.ask({"PTTL", "a"}) == value::integer(0)));
    BOOST_TEST(it.server.pttl("a") == 0);
    it.server.set_time(start + 1'001 * ms);
    BOOST_TEST((it.ask({"PTTL", "a"}) == value::integer(-2)));
    BOOST_TEST(it.server.pttl("a") == -2);
    BOOST_TEST(it.server.keys() == std::vector<std::string>{"b"});
    BOOST_TEST((it.ask({"DBSIZE"}) == value::integer(1)));
}

BOOST_AUTO_TEST_CASE(what_has_ended_stays_gone_when_the_clock_steps_back) {
    world it;
    it.ask({"SET", "a", "1", "PX", "1000"});
    it.ask({"SET", "b", "1", "PX", "9000"});
    it.server.set_time(start + 2'000 * ms);
    it.server.set_time(start);
    BOOST_TEST(!it.server.exists("a"));
    BOOST_TEST(it.server.pttl("b") == 9'000);
    it.server.set_time(start - 1'000 * ms);
    BOOST_TEST(it.server.pttl("b") == 10'000);
    BOOST_TEST((it.ask({"PTTL", "b"}) == value::integer(10'000)));
}

BOOST_AUTO_TEST_CASE(an_end_in_the_past_takes_effect_with_its_command) {
    world it;
    it.ask({"SET", "a", "1", "PXAT", "5"});
    BOOST_TEST(it.server.keys().empty());
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_evicted_is_gone_without_a_notice) {
    world it;
    it.server.execute(it.session, {"SUBSCRIBE", "redisson_lock__channel:{a}"});
    it.pushes.clear();
    BOOST_TEST((it.acquire("x:1") == granted(start)));
    BOOST_TEST(it.server.lock_keys() == std::vector<std::string>{"a"});
    BOOST_TEST(it.server.erase("a"));
    BOOST_TEST(!it.server.erase("a"));
    BOOST_TEST(it.pushes.empty());
    BOOST_TEST((it.acquire("x:2") == granted(start + 1)));
    BOOST_TEST(it.server.get("redisson_lock_token:{a}").value() == std::to_string(start + 1));
    BOOST_REQUIRE(it.server.hgetall("a").size() == 1U);
    BOOST_TEST(it.server.hgetall("a").front().first == "x:2");
    BOOST_TEST(it.server.type("a") == "hash");
}

BOOST_AUTO_TEST_CASE(a_restart_ends_sessions_and_forgets_scripts) {
    for (bool const keep : {true, false}) {
        world it;
        it.server.execute(it.session, {"SUBSCRIBE", "channel"});
        it.acquire("x:1");
        BOOST_TEST(it.server.knows_script(scripts::acquire.sha1));
        it.server.restart(keep);
        BOOST_TEST(!it.server.execute(it.session, {"PING"}).has_value());
        BOOST_TEST(it.server.sessions() == 0U);
        BOOST_TEST(it.server.subscriptions() == 0U);
        BOOST_TEST(!it.server.knows_script(scripts::acquire.sha1));
        BOOST_TEST(it.server.keys().size() == (keep ? 2U : 0U));
        it.session = it.connect();
        BOOST_TEST(it.ask({"EVALSHA", scripts::acquire.sha1, "0"}).text.starts_with("NOSCRIPT"));
    }
}

BOOST_AUTO_TEST_CASE(who_is_disconnected_hears_nothing_more) {
    world it;
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

BOOST_AUTO_TEST_CASE(refusals_are_planned_by_name_and_number) {
    world it;
    it.server.refuse_next("GET", 2, "MINE not now");
    it.server.refuse_next("*", 1, "MINE whatever it is");
    BOOST_TEST((it.ask({"PING"}) == value::error("MINE whatever it is")));
    BOOST_TEST((it.ask({"PING"}) == value::status("PONG")));
    BOOST_TEST((it.ask({"get", "a"}) == value::error("MINE not now")));
    auto const in_script = it.ask({"EVAL", "return redis.call('GET', 'a')", "0"});
    BOOST_TEST(in_script.text.starts_with("MINE not now script: "));
    BOOST_TEST((it.ask({"GET", "a"}) == value::nil()));
}

// The first command that writes is the one that shows: nothing is half done.
BOOST_AUTO_TEST_CASE(a_script_is_refused_at_its_first_write) {
    for (auto const state : {refusal::oom, refusal::read_only, refusal::noreplicas}) {
        world it;
        it.server.set_refusal(state);
        BOOST_TEST(it.acquire("x:1").is_error());
        BOOST_TEST(it.server.keys().empty());
        it.server.set_refusal(refusal::none);
        BOOST_TEST((it.acquire("x:1") == granted(start)));
    }
}

BOOST_AUTO_TEST_CASE(everybody_may_be_logged_out) {
    world it;
    it.server.set_refusal(refusal::noauth);
    BOOST_TEST(it.ask({"PING"}).text.starts_with("NOAUTH"));
    BOOST_TEST(it.ask({"HELLO", "3"}).text.starts_with("NOAUTH"));
    it.server.set_refusal(refusal::none);
    BOOST_TEST((it.ask({"PING"}) == value::status("PONG")));
}

BOOST_AUTO_TEST_CASE(a_user_who_is_deleted_has_sessions_to_be_closed) {
    world it;
    it.server.set_user("alice", {.password = "secret"});
    auto const hers = it.connect();
    it.server.execute(hers, {"HELLO", "3", "AUTH", "alice", "secret", "SETNAME", "her"});
    BOOST_TEST(it.server.session_name(hers) == "her");
    BOOST_TEST(it.server.delete_user("alice") == std::vector{hers});
    it.server.disconnect(hers);
    auto const again = it.connect();
    auto const reply = it.server.execute(again, {"AUTH", "alice", "secret"}).value();
    BOOST_TEST(reply.text.starts_with("WRONGPASS"));
}

BOOST_AUTO_TEST_CASE(the_memory_policy_is_what_the_library_looks_for) {
    world it;
    BOOST_TEST(it.ask({"INFO", "memory"}).text.find("maxmemory:0\r") != std::string::npos);
    it.server.set_memory_policy(1'000'000, "volatile-ttl");
    auto const text = it.ask({"INFO", "memory"}).text;
    BOOST_TEST(text.find("maxmemory:1000000\r") != std::string::npos);
    BOOST_TEST(text.find("maxmemory_policy:volatile-ttl\r") != std::string::npos);
}

// All models of a thread share an interpreter.
BOOST_AUTO_TEST_CASE(a_script_leaves_nothing_for_the_next_world) {
    std::vector<value> drawn;
    for (int i = 0; i < 2; ++i) {
        world it;
        for (auto const* const attempt :
             {"x = 1",
              "_G.x = 1",
              "rawset(_G, 'x', 1)",
              "string.x = 1",
              "rawset(string, 'x', 1)",
              "redis.x = 1",
              "getmetatable(_G).__index.x = 1",
              "setmetatable(_G, {})",
              "getmetatable('').__index.x = 1",
              "setfenv(1, {})"}) {
            BOOST_TEST(it.ask({"EVAL", attempt, "0"}).is_error(), attempt);
        }
        BOOST_TEST(it.ask({"EVAL", "return x", "0"}).is_error());
        BOOST_TEST((it.ask({"EVAL", "return string.x", "0"}) == value::nil()));
        drawn.push_back(it.ask({"EVAL", "return math.random(1000000)", "0"}));
        it.ask({"EVAL", "math.randomseed(7)", "1", "a key", "an argument"});
        BOOST_TEST(
            (it.ask({"EVAL", "return {#KEYS, #ARGV}", "0"}) ==
             value::array({value::integer(0), value::integer(0)}))
        );
    }
    BOOST_TEST((drawn[0] == drawn[1]));
}

BOOST_AUTO_TEST_CASE(models_live_in_several_threads_and_move_between_them) {
    constexpr int calls = 200;
    constexpr int threads = 4;
    std::vector<std::optional<redis_model>> models(threads);
    std::vector<redis_model::session_id> sessions(threads);
    std::vector<int> wrong(threads);
    auto const work = [&](std::size_t i, int first) {
        for (int n = first; n < first + calls; ++n) {
            auto const reply = models[i]->execute(
                sessions[i],
                {"EVALSHA", scripts::release.sha1, "2", "a", "channel", "x:1", std::to_string(n)}
            );
            auto const wanted = value::array({value::bulk(std::to_string(n)), value::integer(0)});
            wrong[i] += reply == wanted ? 0 : 1;
        }
    };
    auto const run = [&](auto const& one) {
        std::vector<std::jthread> all;
        for (std::size_t i = 0; i < threads; ++i) {
            all.emplace_back([&, i] { one(i); });
        }
    };
    run([&](std::size_t i) {
        models[i].emplace();
        sessions[i] = models[i]->connect([](value) {});
        models[i]->execute(sessions[i], {"SCRIPT", "LOAD", scripts::release.text});
        work(i, 0);
    });
    // New threads, whose interpreters have not seen the script.
    run([&](std::size_t i) { work((i + 1) % threads, calls); });
    BOOST_TEST(wrong == std::vector<int>(threads, 0));
}

BOOST_AUTO_TEST_CASE(an_exception_of_a_listener_gets_through_a_script) {
    redis_model server;
    auto const session = server.connect([](value) {});
    auto const listener = server.connect([](value message) {
        if (message.elements.at(0).text == "message") {
            throw std::runtime_error{"not heard"};
        }
    });
    server.execute(listener, {"SUBSCRIBE", "channel"});
    auto const publish = "return redis.pcall('PUBLISH', 'channel', 'x')";
    BOOST_CHECK_THROW(server.execute(session, {"EVAL", publish, "0"}), std::runtime_error);
    BOOST_TEST((server.execute(session, {"EVAL", "return 7", "0"}) == value::integer(7)));
}

BOOST_AUTO_TEST_CASE(databases_are_apart) {
    world it;
    it.ask({"SELECT", "3"});
    it.ask({"SET", "a", "1"});
    BOOST_TEST(!it.server.exists("a"));
    BOOST_TEST(it.server.exists("a", 3));
    it.ask({"SELECT", "0"});
    it.ask({"FLUSHDB"});
    BOOST_TEST(it.server.exists("a", 3));
    it.server.flush_all();
    BOOST_TEST(!it.server.exists("a", 3));
}
