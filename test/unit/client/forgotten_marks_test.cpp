// The server is told which requests it may forget: a few at a time, soon, and only if it is there.

#include "client/client_state.hpp"
#include "client/counting.hpp"
#include "protocol/counted.hpp"
#include "unit/scripted_client.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>

using namespace std::chrono_literals;
using holdfast::detail::make_counting_semaphore_target;
using holdfast::detail::target;
using holdfast::test::scripted_client;

namespace {

struct world : scripted_client {
    void add(int count) {
        on_strand([this, count] {
            for (int i = 0; i < count; ++i) {
                state->numbers().forget(semaphore, state->holder_id_of(next++));
            }
        });
    }

    std::shared_ptr<target const> semaphore =
        std::make_shared<target const>(make_counting_semaphore_target("", "a"));
    std::uint64_t next = 1;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(forgotten_marks_test)

BOOST_AUTO_TEST_CASE(many_are_told_at_once) {
    world all;
    all.add(31);
    BOOST_TEST(all.server->requests.empty());
    all.add(1);
    BOOST_REQUIRE(all.server->requests.size() == 1U);
    auto const& sent = all.server->requests[0].what;
    BOOST_TEST(sent.what().name == "counted.forget");
    BOOST_TEST(sent.keys() == 32U);
    BOOST_TEST(sent.word(0) == "holdfast_done:{a}:" + std::string{all.state->client_id()} + ":1");
}

BOOST_AUTO_TEST_CASE(few_are_told_after_a_moment) {
    world all;
    all.add(2);
    BOOST_TEST(all.eventually([&] { return all.server->requests.size() == 1; }));
    BOOST_TEST(all.server->requests[0].what.keys() == 2U);
    all.add(1);
    BOOST_TEST(all.eventually([&] { return all.server->requests.size() == 2; }));
    BOOST_TEST(all.server->requests[1].what.keys() == 1U);
}

BOOST_AUTO_TEST_CASE(it_is_idle_when_all_is_told_and_answered) {
    world all;
    int idle = 0;
    auto& numbers = all.state->numbers();
    numbers.set_on_idle([&] { ++idle; });
    BOOST_TEST(numbers.idle());
    all.add(1);
    BOOST_TEST(!numbers.idle());
    all.on_strand([&] { numbers.forget_now(); });
    BOOST_TEST(!numbers.idle());
    BOOST_TEST(idle == 0);
    all.answer(holdfast::test::replied());
    BOOST_TEST(numbers.idle());
    BOOST_TEST(idle == 1);
}

BOOST_AUTO_TEST_CASE(it_is_idle_also_if_nobody_can_be_told) {
    world all;
    int idle = 0;
    auto& numbers = all.state->numbers();
    numbers.set_on_idle([&] { ++idle; });
    all.add(1);
    all.set_commands_up(false);
    BOOST_TEST(idle == 0);
    BOOST_TEST(all.eventually([&] { return idle == 1; }));
    BOOST_TEST(numbers.idle());
}

BOOST_AUTO_TEST_CASE(without_a_connection_the_server_forgets_by_itself) {
    world all;
    all.set_commands_up(false);
    all.add(32);
    all.set_commands_up(true);
    all.add(1);
    BOOST_TEST(all.eventually([&] { return all.server->requests.size() == 1; }));
    BOOST_TEST(all.server->requests[0].what.keys() == 1U);
}

BOOST_AUTO_TEST_CASE(on_a_cluster_those_of_one_slot_are_told_together) {
    holdfast::config settings;
    settings.cluster_nodes = {{"127.0.0.1", 7000}};
    scripted_client all{settings};
    all.on_strand([&] {
        std::uint64_t number = 1;
        for (auto const* name : {"{a}1", "{b}1", "{a}2", "{b}2", "{a}3"}) {
            all.state->numbers().forget(
                std::make_shared<target const>(make_counting_semaphore_target("", name)),
                all.state->holder_id_of(number++)
            );
        }
        all.state->numbers().forget_now();
    });
    BOOST_REQUIRE(all.server->requests.size() == 2U);
    BOOST_TEST(all.server->requests[0].what.keys() == 3U);
    BOOST_TEST(all.server->requests[1].what.keys() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()
