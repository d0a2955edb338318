// Attempts that are sent together: one request, an answer for each, and none without all.

#include "acquire/joint_attempt.hpp"

#include "protocol/lock.hpp"
#include "unit/bare_client.hpp"
#include "unit/calls.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::detail::exec_result;
using holdfast::detail::exec_status;
using holdfast::detail::holder_id;
using holdfast::detail::joint_attempt;
using holdfast::detail::make_lock_target;
using holdfast::test::bare_world;
using holdfast::test::reply_of;

namespace {

auto const a = make_lock_target("", "a");
auto const b = make_lock_target("", "b");
holder_id const id{"0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", 84};

struct two_attempts : bare_world {
    explicit two_attempts(holdfast::config settings = {}) : bare_world{std::move(settings)} {
        add(a);
        add(b);
    }
    void add(holdfast::detail::target const& on) {
        joint->add(
            {.on = on, .id = id, .lease = 30s, .counter_ttl = 0ms, .timeout = 3s},
            withdrawn,
            [this](exec_result result) { answers.push_back(std::move(result)); }
        );
    }

    holdfast::test::scripted_backend& server = client->connect();
    std::shared_ptr<bool> withdrawn = std::make_shared<bool>(false);
    std::vector<exec_result> answers;
    std::shared_ptr<joint_attempt> joint = std::make_shared<joint_attempt>();
};

}  // namespace

BOOST_AUTO_TEST_SUITE(joint_attempt_test)

BOOST_AUTO_TEST_CASE(they_are_one_request_and_each_has_its_own_answer) {
    two_attempts all;
    BOOST_TEST(all.server.requests.empty());
    all.joint->send(*all.client, 2);
    BOOST_REQUIRE(all.server.requests.size() == 1U);
    auto sent = std::move(all.server.requests.front());
    BOOST_TEST(sent.what.what().name == "multi_lock.acquire");
    BOOST_TEST(!sent.what.is_withdrawn());
    *all.withdrawn = true;
    BOOST_TEST(sent.what.is_withdrawn());
    std::move(sent.handler)(exec_result{exec_status::replied, {}, reply_of(1, 5, 6)});
    BOOST_REQUIRE(all.answers.size() == 2U);
    BOOST_TEST(all.answers[0].reply.integer(1) == 5);
    BOOST_TEST(all.answers[1].reply.integer(1) == 6);
}

BOOST_AUTO_TEST_CASE(a_cause_is_told_to_each) {
    two_attempts all;
    all.joint->send(*all.client, 2);
    auto sent = std::move(all.server.requests.front());
    std::move(sent.handler)(exec_result{exec_status::unknown, errc::unreachable, {}});
    BOOST_REQUIRE(all.answers.size() == 2U);
    for (auto const& each : all.answers) {
        BOOST_TEST((each.status == exec_status::unknown));
        BOOST_TEST((each.error == errc::unreachable));
    }
}

BOOST_AUTO_TEST_CASE(without_one_of_them_nothing_is_sent) {
    two_attempts all;
    all.joint->send(*all.client, 3);
    BOOST_TEST(all.answers.empty());
    all.run();
    BOOST_TEST(all.server.requests.empty());
    BOOST_REQUIRE(all.answers.size() == 2U);
    BOOST_TEST((all.answers[0].status == exec_status::refused));
}

BOOST_AUTO_TEST_CASE(replicas_have_all_of_them_or_none_counts) {
    holdfast::config settings;
    settings.replicas.count = 1;
    for (auto const have : {0U, 1U}) {
        two_attempts all{settings};
        all.server.replicas = have;
        all.joint->send(*all.client, 2);
        for (auto const token : {5, 7}) {
            BOOST_REQUIRE(all.server.requests.size() == 1U);
            auto sent = std::move(all.server.requests.front());
            all.server.requests.pop_front();
            BOOST_TEST(sent.what.what().name == "multi_lock.acquire");
            BOOST_TEST(sent.replicas == (token == 7 ? 1U : 0U));
            std::move(sent.handler)(
                exec_result{exec_status::replied, {}, reply_of(1, token, token + 1)}
            );
        }
        BOOST_REQUIRE(all.answers.size() == 2U);
        for (auto const& each : all.answers) {
            bool const enough = each.status == exec_status::replied;
            BOOST_TEST(enough == (have == 1));
        }
        BOOST_TEST(all.answers[1].reply.integer(1) == (have == 1 ? 8 : 0));
    }
}

BOOST_AUTO_TEST_SUITE_END()
