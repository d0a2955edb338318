// The rounds of an acquisition of a quorum: whom it asks, and when it is decided.

#include "acquire/quorum_acquire.hpp"
#include "unit/acquire/quorum_acquiring.hpp"

#include <holdfast/owner.hpp>

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::error_code;
using holdfast::fencing_token;
using holdfast::lease_state;
using holdfast::detail::patience;
using holdfast::test::freed;
using holdfast::test::quorum_acquiring;
using holdfast::test::replied;
using holdfast::test::scripted_nodes;
using holdfast::test::typed;

namespace {

std::string const attempt = "quorum_lock.acquire";
std::string const write_back = "quorum_lock.raise_token";

}  // namespace

BOOST_AUTO_TEST_SUITE(quorum_acquire_rounds_test)

BOOST_AUTO_TEST_CASE(all_are_asked_at_once_and_a_majority_decides) {
    scripted_nodes nodes;
    quorum_acquiring one{nodes};
    for (std::size_t i = 0; i < 3; ++i) {
        BOOST_TEST(nodes.sent(i) == attempt);
    }
    nodes.grant(2);
    BOOST_TEST(!one.done());
    nodes.grant(0);
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(one.got.state() == lease_state::held);
    BOOST_TEST((one.got.token() == fencing_token{70}));
    BOOST_TEST(one.got.nodes() == 2U);
    // The third one joins.
    nodes.grant(1);
    BOOST_TEST(one.got.nodes() == 3U);
    one.got = {};
    nodes.run();
    for (std::size_t i = 0; i < 3; ++i) {
        BOOST_TEST(nodes.sent(i) == "release");
    }
}

// What an owner writes with its second lease has no smaller token than what it wrote with its
// first.
BOOST_AUTO_TEST_CASE(an_owner_that_enters_again_has_no_smaller_token) {
    for (std::size_t greatest = 0; greatest < 3; ++greatest) {
        scripted_nodes nodes;
        auto const me = holdfast::owner::make();
        auto const terms = holdfast::test::long_terms();
        quorum_acquiring const first{nodes, patience::unlimited, {}, terms, me};
        nodes.grant(greatest, 95);
        auto const behind = (greatest + 1) % 3;
        nodes.grant(behind, 70);
        nodes.answer(behind, replied(1));
        BOOST_TEST((first.got.token() == fencing_token{95}));
        // It joins late, and is written to.
        auto const late = (greatest + 2) % 3;
        nodes.grant(late, 70);
        BOOST_TEST(nodes.sent(late) == write_back);
        quorum_acquiring const second{nodes, patience::one_attempt, {}, terms, me};
        BOOST_TEST((second.error == error_code{}));
        BOOST_TEST((second.got.token() == fencing_token{95}));
    }
}

// The second one has joined a node's lease before the first one is given out.
BOOST_AUTO_TEST_CASE(an_owner_that_enters_twice_at_once_has_no_smaller_token_the_second_time) {
    scripted_nodes nodes;
    auto const me = holdfast::owner::make();
    auto const terms = holdfast::test::long_terms();
    quorum_acquiring const first{nodes, patience::unlimited, {}, terms, me};
    nodes.grant(1, 70);
    nodes.refuse(2);
    nodes.set_up(0, false);
    quorum_acquiring const second{nodes, patience::one_attempt, {}, terms, me};
    nodes.grant(2, 60);
    BOOST_TEST(nodes.sent(2) == write_back);
    nodes.set_up(0, true);
    nodes.grant(0, 95);
    nodes.answer(1, replied(1));
    BOOST_TEST_REQUIRE((first.got.token() == fencing_token{95}));
    BOOST_TEST(!second.done());
    nodes.answer(2, replied(1));
    BOOST_TEST((second.error == error_code{}));
    BOOST_TEST((second.got.token() == fencing_token{95}));
}

BOOST_AUTO_TEST_CASE(the_greatest_token_is_written_back_first) {
    scripted_nodes nodes;
    quorum_acquiring one{nodes};
    nodes.grant(0, 70);
    nodes.grant(1, 95);
    BOOST_TEST(!one.done());
    BOOST_TEST(nodes.sent(0) == write_back);
    BOOST_TEST(nodes.sent(1).empty());
    auto const text = typed(nodes[0].server->requests.front().what);
    BOOST_TEST(text.ends_with(" 95"));
    nodes.answer(0, replied(1));
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST((one.got.token() == fencing_token{95}));
    // Those that join get it, too.
    nodes.grant(2, 60);
    BOOST_TEST(nodes.sent(2) == write_back);
}

BOOST_AUTO_TEST_CASE(a_node_that_is_not_written_to_is_replaced_by_another) {
    scripted_nodes nodes;
    quorum_acquiring one{nodes};
    nodes.grant(0, 70);
    nodes.grant(1, 95);
    nodes.answer(0, replied(0));
    BOOST_TEST(!one.done());
    nodes.grant(2, 95);
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST((one.got.token() == fencing_token{95}));
}

BOOST_AUTO_TEST_CASE(what_nodes_have_said_is_proposed_next_time) {
    scripted_nodes nodes;
    {
        quorum_acquiring first{nodes};
        nodes.answer(0, replied(1, 70, 5'000'000'000'000));
        nodes.answer(1, replied(1, 70, 5'000'000'000'000));
        nodes.grant(2);
        BOOST_TEST(first.done());
    }
    nodes.run();
    for (std::size_t i = 0; i < 3; ++i) {
        nodes.answer(i, freed());
    }
    quorum_acquiring second{nodes};
    for (std::size_t i = 0; i < 3; ++i) {
        auto const text = typed(nodes[i].server->requests.front().what);
        BOOST_TEST(std::stoll(text.substr(text.rfind(' '))) >= 5'000'000'000'000);
    }
}

BOOST_AUTO_TEST_CASE(a_straggler_is_not_waited_for_and_what_it_may_grant_is_withdrawn) {
    scripted_nodes nodes;
    quorum_acquiring one{nodes, patience::one_attempt};
    nodes.refuse(0);
    nodes.grant(1);
    BOOST_TEST(nodes.eventually([&] { return one.done(); }));
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(nodes.sent(1) == "release");
    BOOST_TEST(nodes.sent(2) == attempt + " release");
}

BOOST_AUTO_TEST_CASE(nodes_that_are_down_are_not_asked) {
    scripted_nodes nodes;
    nodes.set_up(1, false);
    quorum_acquiring one{nodes};
    nodes.grant(0);
    nodes.grant(2);
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(one.got.nodes() == 2U);
}

BOOST_AUTO_TEST_CASE(a_grant_that_took_too_long_is_none) {
    scripted_nodes nodes;
    auto terms = holdfast::test::long_terms();
    terms.lease = 30ms;
    terms.drift = 5ms;
    terms.loss_margin = 5ms;
    terms.renew = false;
    quorum_acquiring one{nodes, patience::one_attempt, {}, terms};
    nodes.grant(0);
    nodes.pass(60ms);
    nodes.grant(1);
    nodes.grant(2);
    BOOST_TEST(nodes.eventually([&] { return one.done(); }));
    BOOST_TEST(!one.got);
}

BOOST_AUTO_TEST_SUITE_END()
