// Scripts are compiled once a thread, and run in it.

#include "memory_server/lua_scripts.hpp"

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace holdfast::memory;

namespace scripts = holdfast::detail::scripts;

BOOST_AUTO_TEST_SUITE(memory_lua_scripts_test)

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
                {"EVALSHA",
                 scripts::lock_release.sha1,
                 "2",
                 "a",
                 "channel",
                 "x:1",
                 "",
                 "",
                 "0",
                 "0",
                 "0",
                 "0",
                 std::to_string(n)}
            );
            auto const wanted = value::bulk(std::to_string(n) + " 0 0");
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
        models[i]->execute(sessions[i], {"SCRIPT", "LOAD", scripts::lock_release.text});
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

BOOST_AUTO_TEST_SUITE_END()
