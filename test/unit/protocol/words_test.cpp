// What the replies of all kinds have in common.

#include "protocol/words.hpp"

#include "unit/calls.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>

using namespace std::chrono_literals;
using holdfast::fencing_token;
using holdfast::loss_reason;
using holdfast::test::reply_of;
using namespace holdfast::detail;

BOOST_AUTO_TEST_SUITE(words_test)

BOOST_AUTO_TEST_CASE(numbers_keep_their_bits_and_times_are_rounded_down) {
    BOOST_TEST(signed_of(7) == 7);
    BOOST_TEST(unsigned_of(7) == 7U);
    BOOST_TEST(unsigned_of(std::numeric_limits<std::int64_t>::min()) == 0U);
    BOOST_TEST(whole_micros(1999ns) == 1);
    BOOST_TEST(whole_micros(-1ns) == -1);
}

BOOST_AUTO_TEST_CASE(a_grant_has_a_token_and_may_have_more) {
    auto const plain = read_grant(reply_of(1, 42));
    BOOST_TEST((plain.what == attempt_reply::kind::granted));
    BOOST_TEST((plain.token == fencing_token{42}));
    BOOST_TEST(plain.may_hand_over);
    BOOST_TEST(plain.learned.allowed);

    auto const learned = read_grant(reply_of(1, 42, 0, 5'000, 123));
    BOOST_TEST(!learned.may_hand_over);
    BOOST_TEST((learned.learned.lease == 5s));
    BOOST_TEST((learned.learned.usual_hold == 123us));
    BOOST_TEST(!learned_in(reply_of(5'000, -1), 0).allowed);

    BOOST_TEST((read_grant(reply_of(2)).what == attempt_reply::kind::corrupt));
    BOOST_TEST((read_grant(reply_of()).what == attempt_reply::kind::corrupt));
}

BOOST_AUTO_TEST_CASE(a_place_has_a_score_and_the_time) {
    auto const place = place_in(reply_of(0, 11, 12, 3), 1);
    BOOST_REQUIRE(place.has_value());
    BOOST_TEST(place->score == 11U);
    BOOST_TEST(place->server_time == 12U);
    BOOST_TEST(place->ahead == 3U);
    BOOST_TEST(!place_in(reply_of(0, 0, 12, 3), 1).has_value());
    BOOST_TEST(!place_in(reply_of(0, 11), 1).has_value());
}

BOOST_AUTO_TEST_CASE(what_is_not_ours_is_taken_or_deleted) {
    BOOST_TEST((why_lost(reply_of(1)) == loss_reason::none));
    BOOST_TEST((why_lost(reply_of(0, 1)) == loss_reason::taken));
    BOOST_TEST((why_lost(reply_of(0, 0)) == loss_reason::deleted));
    BOOST_TEST((why_lost(reply_of()) == loss_reason::deleted));
    auto const many = reply_of("1029");
    BOOST_TEST((renewed_in(many, 0) == loss_reason::none));
    BOOST_TEST((renewed_in(many, 1) == loss_reason::deleted));
    BOOST_TEST((renewed_in(many, 2) == loss_reason::taken));
    BOOST_TEST(!renewed_in(many, 3).has_value());
    BOOST_TEST(!renewed_in(many, 4).has_value());
}

BOOST_AUTO_TEST_CASE(a_forced_release_found_something_or_nothing) {
    using kind = force_release_reply::kind;
    BOOST_TEST((forced_in(reply_of(0)).what == kind::was_free));
    BOOST_TEST((forced_in(reply_of(1, 1)).what == kind::freed));
    BOOST_TEST(forced_in(reply_of(1, 1)).notified);
    BOOST_TEST(!forced_in(reply_of(1, 0)).notified);
    BOOST_TEST((forced_in(reply_of(2)).what == kind::corrupt));
    BOOST_TEST((forced_in(reply_of()).what == kind::corrupt));
}

BOOST_AUTO_TEST_SUITE_END()
