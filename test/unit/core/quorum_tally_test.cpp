// What the answers of a quorum's nodes come to: a grant, a refusal, or neither.

#include "core/quorum_tally.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::fencing_token;
using holdfast::detail::quorum_tally;
using verdict = quorum_tally::verdict;

namespace {

constexpr std::nullopt_t no_end = std::nullopt;

}  // namespace

BOOST_AUTO_TEST_SUITE(quorum_tally_test)

BOOST_AUTO_TEST_CASE(more_than_half_are_a_majority) {
    BOOST_TEST(quorum_tally::majority_of(3) == 2U);
    BOOST_TEST(quorum_tally::majority_of(4) == 3U);
    BOOST_TEST(quorum_tally::majority_of(5) == 3U);
    BOOST_TEST(quorum_tally::majority_of(9) == 5U);
}

BOOST_AUTO_TEST_CASE(the_third_of_five_decides_if_all_say_the_same) {
    quorum_tally five{5};
    BOOST_TEST((five.look() == verdict::open));
    five.on_granted(4, {70});
    five.on_granted(0, {70});
    BOOST_TEST((five.look() == verdict::open));
    BOOST_TEST(!five.has_stragglers());
    five.on_granted(2, {70});
    BOOST_TEST((five.look() == verdict::granted));
    BOOST_TEST((five.token() == fencing_token{70}));
    BOOST_TEST(!five.is_behind(0));
}

BOOST_AUTO_TEST_CASE(the_greatest_token_is_written_back_to_a_majority) {
    quorum_tally five{5};
    five.on_granted(0, {70});
    five.on_granted(1, {95});
    five.on_granted(2, {70});
    BOOST_TEST((five.look() == verdict::write_back));
    BOOST_TEST((five.token() == fencing_token{95}));
    BOOST_TEST(five.is_behind(0));
    BOOST_TEST(!five.is_behind(1));
    BOOST_TEST(five.is_behind(2));
    BOOST_TEST(!five.is_behind(3));
    five.on_raise_sent(0);
    BOOST_TEST(!five.is_behind(0));
    five.on_raised(0);
    BOOST_TEST((five.look() == verdict::write_back));
    five.on_raised(2);
    BOOST_TEST((five.look() == verdict::granted));
}

BOOST_AUTO_TEST_CASE(one_that_comes_later_does_not_change_the_token) {
    quorum_tally five{5};
    five.on_granted(0, {70});
    five.on_granted(1, {71});
    five.on_granted(2, {70});
    five.on_granted(3, {99});
    BOOST_TEST((five.token() == fencing_token{71}));
    BOOST_TEST((five.look() == verdict::write_back));
    // It is ahead: it knows more.
    five.on_raised(2);
    BOOST_TEST((five.look() == verdict::granted));
}

BOOST_AUTO_TEST_CASE(a_node_that_could_not_be_written_to_does_not_count) {
    quorum_tally three{3};
    three.on_granted(0, {70});
    three.on_granted(1, {80});
    BOOST_TEST((three.look() == verdict::write_back));
    three.on_failed(0, errc::unreachable);
    BOOST_TEST((three.look() == verdict::open));
    three.on_granted(2, {60});
    BOOST_TEST((three.token() == fencing_token{80}));
    BOOST_TEST((three.look() == verdict::write_back));
    BOOST_TEST(three.is_behind(2));
    three.on_raised(0);  // it is too late
    BOOST_TEST((three.look() == verdict::write_back));
    three.on_raised(2);
    BOOST_TEST((three.look() == verdict::granted));
}

BOOST_AUTO_TEST_CASE(a_round_that_cannot_be_won_is_over) {
    quorum_tally five{5};
    five.on_refused(0, 100ms);
    five.on_granted(1, {7});
    five.on_refused(2, no_end);
    BOOST_TEST((five.look() == verdict::open));
    BOOST_TEST(five.has_stragglers());
    five.on_refused(3, 1ms);
    BOOST_TEST((five.look() == verdict::busy));
    BOOST_TEST((five.votes()[0].remaining == 100ms));
    BOOST_TEST(!five.votes()[2].remaining);
}

BOOST_AUTO_TEST_CASE(stragglers_are_not_waited_for_where_a_majority_has_answered) {
    quorum_tally five{5};
    five.on_refused(0, 100ms);
    five.on_granted(1, {7});
    five.on_granted(2, {7});
    BOOST_TEST((five.look() == verdict::open));
    five.on_late();
    BOOST_TEST((five.look() == verdict::busy));
    BOOST_TEST(!five.has_stragglers());
    // One comes all the same.
    five.on_granted(3, {7});
    BOOST_TEST((five.look() == verdict::granted));

    quorum_tally silent{5};
    silent.on_granted(0, {7});
    silent.on_failed(1, errc::unreachable);
    silent.on_failed(2, errc::unreachable);
    silent.on_late();
    BOOST_TEST((silent.look() == verdict::open));
    silent.on_granted(3, {7});
    BOOST_TEST((silent.look() == verdict::open));
}

BOOST_AUTO_TEST_CASE(whether_a_majority_could_be_asked_is_waited_for) {
    quorum_tally five{5};
    five.on_failed(0, errc::unreachable);
    five.on_refused(1, 1s);
    five.on_refused(2, 1s);
    // It cannot be won any more.
    five.on_late();
    BOOST_TEST((five.look() == verdict::open));
    BOOST_TEST(!five.has_stragglers());
    auto silent = five;
    silent.on_failed(3, errc::unreachable);
    BOOST_TEST((silent.look() == verdict::open));
    silent.on_failed(4, errc::unreachable);
    BOOST_TEST((silent.look() == verdict::not_reached));
    five.on_refused(3, 1s);
    BOOST_TEST((five.look() == verdict::busy));

    quorum_tally four{4};
    four.on_refused(0, 1s);
    four.on_refused(1, 1s);
    BOOST_TEST((four.look() == verdict::open));
    BOOST_TEST(!four.has_stragglers());
    four.on_refused(2, 1s);
    BOOST_TEST((four.look() == verdict::busy));
}

BOOST_AUTO_TEST_CASE(fewer_than_a_majority_that_answer_decide_nothing) {
    quorum_tally five{5};
    five.on_granted(0, {7});
    five.on_refused(1, 1s);
    five.on_failed(2, errc::unreachable);
    BOOST_TEST((five.look() == verdict::open));
    five.on_failed(3, errc::unreachable);
    five.on_failed(4, errc::server_refused);
    BOOST_TEST((five.look() == verdict::not_reached));
}

BOOST_AUTO_TEST_CASE(causes_that_do_not_pass_end_it_when_they_leave_too_few) {
    quorum_tally three{3};
    three.on_failed(0, errc::auth_failed);
    BOOST_TEST((three.look() == verdict::open));
    three.on_failed(1, errc::no_permission);
    BOOST_TEST((three.look() == verdict::failed));
    BOOST_TEST((three.cause() == errc::auth_failed));

    quorum_tally passing{3};
    passing.on_failed(0, errc::unreachable);
    passing.on_failed(1, errc::auth_failed);
    passing.on_failed(2, errc::quorum_not_reached);
    BOOST_TEST((passing.look() == verdict::not_reached));
    BOOST_TEST(!passing.cause());
}

BOOST_AUTO_TEST_CASE(too_many_waiters_are_the_cause_where_a_majority_could_be_asked_without_them) {
    quorum_tally crowded{3};
    crowded.on_granted(0, {7});
    crowded.on_failed(1, errc::too_many_waiters);
    crowded.on_failed(2, errc::unreachable);
    BOOST_TEST((crowded.look() == verdict::not_reached));
    BOOST_TEST((crowded.cause() == errc::too_many_waiters));

    quorum_tally early{4};
    early.on_failed(0, errc::too_many_waiters);
    early.on_failed(1, errc::too_many_waiters);
    BOOST_TEST((early.look() == verdict::not_reached));
    BOOST_TEST((early.cause() == errc::too_many_waiters));

    quorum_tally down{3};
    down.on_failed(0, errc::too_many_waiters);
    down.on_failed(1, errc::unreachable);
    down.on_failed(2, errc::unreachable);
    BOOST_TEST((down.look() == verdict::not_reached));
    BOOST_TEST(!down.cause());

    quorum_tally busy{3};
    busy.on_refused(0, 1s);
    busy.on_refused(1, 1s);
    busy.on_failed(2, errc::too_many_waiters);
    BOOST_TEST((busy.look() == verdict::busy));
    BOOST_TEST(!busy.cause());
}

BOOST_AUTO_TEST_SUITE_END()
