// An acquisition of a quorum: how it waits and ends, and what it gives back.

#include "acquire/quorum_acquire.hpp"

#include "unit/acquire/quorum_acquiring.hpp"

#include <holdfast/owner.hpp>

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::patience;
using holdfast::test::failed;
using holdfast::test::quorum_acquiring;
using holdfast::test::replied;
using holdfast::test::scripted_nodes;
using holdfast::test::unanswered;

namespace {

error_code const aborted = asio::error::operation_aborted;
std::string const attempt = "quorum_lock.acquire";

}  // namespace

BOOST_AUTO_TEST_SUITE(quorum_acquire_test)

BOOST_AUTO_TEST_CASE(what_comes_to_no_majority_is_given_back_and_refused) {
    scripted_nodes nodes;
    quorum_acquiring one{nodes, patience::one_attempt};
    nodes.refuse(0);
    nodes.grant(1);
    BOOST_TEST(!one.done());
    nodes.refuse(2);
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(!one.got);
    BOOST_TEST(nodes.sent(0).empty());
    BOOST_TEST(nodes.sent(1) == "release");
    BOOST_TEST(nodes.sent(2).empty());
}

BOOST_AUTO_TEST_CASE(who_waits_keeps_no_node_meanwhile) {
    scripted_nodes nodes;
    quorum_acquiring one{nodes};
    nodes.refuse(0);
    nodes.grant(1);
    nodes.refuse(2);
    BOOST_TEST(!one.done());
    BOOST_TEST(nodes.sent(1) == "release");
}

BOOST_AUTO_TEST_CASE(without_a_majority_of_connections_nothing_is_asked) {
    scripted_nodes nodes;
    nodes.set_up(1, false);
    nodes.set_up(2, false);
    quorum_acquiring brief{nodes, patience::limited, 20ms};
    quorum_acquiring once{nodes, patience::one_attempt};
    quorum_acquiring patient{nodes};
    BOOST_TEST(nodes.sent(0).empty());
    BOOST_TEST(nodes.eventually([&] { return brief.done(); }));
    BOOST_TEST((brief.error == errc::quorum_not_reached));
    BOOST_TEST(!once.done());
    BOOST_TEST(!patient.done());
    nodes.set_up(1, true);
    BOOST_TEST(nodes.eventually([&] { return nodes.sent(1) == attempt + " " + attempt; }));
    nodes.grant(0);
    nodes.grant(1);
    nodes.refuse(0);
    nodes.refuse(1);
    // Chance says which of the two was first.
    BOOST_TEST(nodes.eventually([&] { return once.done() && patient.done() != bool{once.got}; }));
}

BOOST_AUTO_TEST_CASE(the_end_of_a_round_is_waited_for_when_the_time_is_up) {
    for (bool const won : {false, true}) {
        scripted_nodes nodes;
        quorum_acquiring const one{nodes, patience::limited, 1ms};
        nodes.pass(50ms);
        BOOST_TEST(!one.done());
        for (std::size_t i = 0; i < 2; ++i) {
            won ? nodes.grant(i) : nodes.refuse(i);
        }
        BOOST_TEST((one.error == error_code{}));
        BOOST_TEST(static_cast<bool>(one.got) == won);
    }
    scripted_nodes silent;
    quorum_acquiring const one{silent, patience::limited, 1ms};
    silent.pass(100ms);
    BOOST_TEST(!one.done());
    silent.pass(2ms);
    BOOST_TEST((one.error == errc::quorum_not_reached));
}

BOOST_AUTO_TEST_CASE(whoever_comes_later_is_not_told_busy_by_what_the_first_in_line_heard_before) {
    scripted_nodes nodes;
    quorum_acquiring const first{nodes};
    for (std::size_t i = 0; i < 3; ++i) {
        nodes.refuse(i);
    }
    nodes.pass(1s);
    BOOST_TEST(nodes.sent(0).empty());
    quorum_acquiring const brief{nodes, patience::limited, 5ms};
    quorum_acquiring const other{nodes, patience::limited, 5ms};
    BOOST_TEST(nodes.sent(0) == attempt);
    nodes.pass(10ms);
    BOOST_TEST(!brief.done());
    nodes.refuse(0);
    nodes.refuse(1);
    BOOST_TEST((brief.error == error_code{}));
    // This one began after that round did.
    BOOST_TEST(!other.done());
    nodes.pass(5ms);
    BOOST_TEST(nodes.sent(0) == attempt);
    nodes.refuse(0);
    nodes.refuse(1);
    BOOST_TEST((other.error == error_code{}));
    BOOST_TEST(!first.done());

    quorum_acquiring const silent{nodes, patience::limited, 5ms};
    nodes.pass(110ms);
    BOOST_TEST((silent.error == errc::quorum_not_reached));
}

BOOST_AUTO_TEST_CASE(a_round_that_decides_nothing_does_not_take_back_that_the_lock_was_busy) {
    scripted_nodes nodes;
    quorum_acquiring const one{nodes, patience::limited, 1s};
    for (std::size_t i = 0; i < 3; ++i) {
        nodes.refuse(i, 100);
    }
    BOOST_TEST(nodes.eventually([&] { return nodes.sent(0) == attempt; }));
    nodes.refuse(0);
    nodes.answer(1, unanswered());
    nodes.answer(2, unanswered());
    nodes.set_up(1, false);
    nodes.set_up(2, false);
    BOOST_TEST(!one.done());
    nodes.pass(1s);
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(!one.got);
}

BOOST_AUTO_TEST_CASE(whoever_comes_later_finds_that_the_quorum_is_free) {
    scripted_nodes nodes;
    quorum_acquiring const first{nodes};
    for (std::size_t i = 0; i < 3; ++i) {
        nodes.refuse(i);
    }
    nodes.pass(1s);
    quorum_acquiring const late{nodes, patience::limited, 2s};
    BOOST_TEST(nodes.sent(0) == attempt);
    nodes.grant(0);
    nodes.grant(1);
    BOOST_TEST(first.got.valid());
    BOOST_TEST(!late.done());
}

BOOST_AUTO_TEST_CASE(causes_that_do_not_pass_end_it_and_others_do_not) {
    scripted_nodes nodes;
    quorum_acquiring one{nodes};
    nodes.answer(0, failed(errc::no_permission));
    BOOST_TEST(!one.done());
    nodes.answer(1, failed(errc::no_permission));
    BOOST_TEST((one.error == errc::no_permission));
    BOOST_TEST(nodes.sent(2) == attempt + " release");

    scripted_nodes silent;
    quorum_acquiring other{silent, patience::one_attempt};
    silent.answer(0, unanswered());
    silent.answer(1, unanswered());
    BOOST_TEST((other.error == errc::quorum_not_reached));
}

BOOST_AUTO_TEST_CASE(who_waits_listens_to_all_nodes_and_tries_when_a_majority_is_free) {
    scripted_nodes nodes;
    {
        quorum_acquiring one{nodes};
        nodes.refuse(0);
        nodes.refuse(1);
        BOOST_TEST(!one.done());
        BOOST_TEST(nodes.sent(2) == attempt + " release");
        nodes.refuse(2);
        nodes.answer(2, replied(0, 1));
        for (std::size_t i = 0; i < 3; ++i) {
            BOOST_TEST(nodes[i].server->subscribed == "+redisson_lock__channel:{a}");
            BOOST_TEST(nodes.sent(i).empty());
        }
        // It may have been freed before this.
        nodes.confirm(0);
        nodes.confirm(1);
        BOOST_TEST(nodes.eventually([&] { return nodes.sent(0) == attempt; }));
        nodes.refuse(0);
        nodes.refuse(1);
        nodes.confirm(2);
        nodes.refuse(2);
        nodes.notify(1);
        BOOST_TEST(nodes.eventually([&] { return nodes.sent(1) == attempt; }));
        nodes.grant(0);
        nodes.grant(1);
        BOOST_TEST((one.error == error_code{}));
        nodes.run();
    }
    for (std::size_t i = 0; i < 3; ++i) {
        BOOST_TEST(nodes[i].server->subscribed.ends_with("-redisson_lock__channel:{a}"));
    }
}

BOOST_AUTO_TEST_CASE(those_of_one_client_stand_in_line) {
    scripted_nodes nodes;
    quorum_acquiring first{nodes};
    quorum_acquiring second{nodes};
    BOOST_TEST(nodes.sent(0) == attempt);
    BOOST_TEST(nodes.lead().count().waiters_now == 2U);
    nodes.grant(0);
    nodes.grant(1);
    BOOST_TEST(first.done());
    // Now it is the second one's turn.
    BOOST_TEST(nodes.sent(0) == attempt);
    BOOST_TEST(nodes.sent(2) == attempt + " " + attempt);
    second.cancel(asio::cancellation_type::terminal);
    BOOST_TEST((second.error == aborted));
    BOOST_TEST(nodes.sent(0) == attempt + " release");
    BOOST_TEST(nodes.lead().count().waiters_now == 0U);
}

BOOST_AUTO_TEST_CASE(an_owner_enters_again_while_another_operation_waits) {
    scripted_nodes nodes;
    auto const me = holdfast::owner::make();
    auto const terms = holdfast::test::long_terms();
    quorum_acquiring const first{nodes, patience::unlimited, {}, terms, me};
    for (std::size_t i = 0; i < 3; ++i) {
        nodes.grant(i);
    }
    quorum_acquiring const other{nodes};
    for (std::size_t i = 0; i < 2; ++i) {
        nodes.refuse(i);
    }
    quorum_acquiring const again{nodes, patience::unlimited, {}, terms, me};
    BOOST_TEST((again.error == error_code{}));
    BOOST_TEST(again.got.valid());
    BOOST_TEST(!other.done());
    BOOST_TEST(nodes.lead().count().waiters_now == 1U);
}

BOOST_AUTO_TEST_CASE(an_owner_without_the_lock_stands_in_line) {
    scripted_nodes nodes;
    quorum_acquiring const first{nodes};
    BOOST_TEST(nodes.sent(0) == attempt);
    quorum_acquiring const owned{
        nodes,
        patience::unlimited,
        {},
        holdfast::test::long_terms(),
        holdfast::owner::make(),
    };
    BOOST_TEST(nodes.sent(0) == attempt);
    BOOST_TEST(nodes.lead().count().waiters_now == 2U);
}

// What it waits for may wait for it.
BOOST_AUTO_TEST_CASE(an_owner_that_gets_the_lock_takes_along_what_waits_further_behind) {
    scripted_nodes nodes;
    auto const me = holdfast::owner::make();
    auto const terms = holdfast::test::long_terms();
    auto const refuse = [&] {
        nodes.refuse(0);
        nodes.refuse(1);
    };
    quorum_acquiring const first{nodes, patience::unlimited, {}, terms, me};
    refuse();
    quorum_acquiring const other{nodes};
    quorum_acquiring const later{nodes, patience::unlimited, {}, terms, me};
    BOOST_TEST(nodes.lead().count().waiters_now == 3U);
    BOOST_TEST(nodes.eventually([&] { return nodes.sent(0) == attempt; }));
    nodes.grant(0);
    nodes.grant(1);
    BOOST_TEST(first.got.valid());
    BOOST_TEST(nodes.eventually([&] { return later.done(); }));
    BOOST_TEST(later.got.valid());
    BOOST_TEST(!other.done());
    BOOST_TEST(nodes.lead().count().waiters_now == 1U);
}

BOOST_AUTO_TEST_CASE(a_cancellation_withdraws_what_was_asked_or_waits_for_the_round) {
    scripted_nodes nodes;
    quorum_acquiring at_once{nodes};
    nodes.grant(0);
    at_once.cancel(asio::cancellation_type::partial);
    BOOST_TEST((at_once.error == aborted));
    BOOST_TEST(nodes.sent(0) == "release");
    BOOST_TEST(nodes.sent(1) == attempt + " release");

    scripted_nodes others;
    quorum_acquiring patient{others};
    others.grant(0);
    patient.cancel(asio::cancellation_type::total);
    BOOST_TEST(!patient.done());
    others.grant(2);
    BOOST_TEST((patient.error == error_code{}));
    BOOST_TEST(patient.got.valid());
}

// With `config::lock_delay` a node that is connected may not be asked yet.
BOOST_AUTO_TEST_CASE(a_cancellation_that_waits_for_replies_does_not_wait_for_nodes_not_asked_yet) {
    auto const keep_waiting = [](scripted_nodes& nodes, std::size_t i) {
        nodes[i].server->commands_up = false;  // its status says that it is up
    };
    scripted_nodes nodes;
    keep_waiting(nodes, 2);
    quorum_acquiring two{nodes};
    two.cancel(asio::cancellation_type::total);
    nodes.grant(0);
    BOOST_TEST(!two.done());
    nodes.grant(1);
    BOOST_TEST((two.error == error_code{}));
    BOOST_TEST(two.got.valid());

    // One that was asked is no majority.
    scripted_nodes others;
    keep_waiting(others, 1);
    keep_waiting(others, 2);
    quorum_acquiring one{others};
    BOOST_TEST(others.sent(0) == attempt);
    one.cancel(asio::cancellation_type::total);
    BOOST_TEST((one.error == aborted));
    BOOST_TEST(others.sent(0) == attempt + " release");
    BOOST_TEST(others.lead().count().waiters_now == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
