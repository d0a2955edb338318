// Replies are matched with requests by counting, and errors are believed only when a later nonce
// has proven the count.

#include "redis/reply_matcher.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace std::string_literals;
using matcher = holdfast::detail::reply_matcher<std::string, int>;

namespace {

std::string settled(matcher& of) {
    std::string all;
    for (auto const& one : of.settle()) {
        all += one.request + "=" + std::to_string(one.error) + " ";
    }
    return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reply_matcher_test)

BOOST_AUTO_TEST_CASE(replies_belong_to_the_requests_in_their_order) {
    matcher all;
    BOOST_TEST(all.empty());
    BOOST_TEST(!all.next_is(7));
    all.on_sent("a", 7);
    all.on_sent("b", 8);
    BOOST_TEST(all.in_flight() == 2U);
    BOOST_TEST(all.next_is(7));
    BOOST_TEST(all.next() == "a");
    BOOST_TEST(all.take() == "a");
    // The reply of another request, or of none.
    BOOST_TEST(!all.next_is(7));
    BOOST_TEST(all.next_is(8));
    BOOST_TEST(all.take() == "b");
    BOOST_TEST(all.empty());
}

BOOST_AUTO_TEST_CASE(an_error_is_in_doubt_until_the_next_right_nonce) {
    matcher all;
    all.on_sent("a", 1);
    all.on_sent("b", 2);
    all.on_sent("c", 3);
    BOOST_TEST(!all.any_doubt());
    all.put_in_doubt(all.take(), 10);
    all.put_in_doubt(all.take(), 20);
    BOOST_TEST(all.any_doubt());
    // A reply is expected that will prove it.
    BOOST_TEST(!all.needs_check(false));
    BOOST_TEST(all.next_is(3));
    all.take();
    BOOST_TEST(settled(all) == "a=10 b=20 ");
    BOOST_TEST(!all.any_doubt());
    BOOST_TEST(settled(all).empty());
}

BOOST_AUTO_TEST_CASE(an_error_after_which_no_reply_is_expected_needs_a_check) {
    matcher all;
    all.on_sent("a", 1);
    all.put_in_doubt(all.take(), 10);
    BOOST_TEST(all.needs_check(false));
    all.on_sent("ping", 2, true);
    BOOST_TEST(!all.needs_check(false));
    BOOST_TEST(all.next_is_check());
    BOOST_TEST(all.next_is(2));
}

BOOST_AUTO_TEST_CASE(an_error_for_a_request_that_was_given_up_needs_a_check_behind_the_last_one) {
    matcher all;
    all.on_sent("given up", 1);
    all.on_sent("b", 2);
    all.put_in_doubt(all.take(), 10);
    BOOST_TEST(!all.needs_check(false));
    BOOST_TEST(all.needs_check(true));
    BOOST_TEST(!all.next_is_check());
    all.on_sent("ping", 3, true);
    BOOST_TEST(!all.needs_check(true));
    // Requests that follow the check are not proven by it.
    all.on_sent("c", 4);
    BOOST_TEST(all.needs_check(true));
}

BOOST_AUTO_TEST_CASE(the_end_gives_back_what_no_reply_will_come_for) {
    matcher all;
    all.on_sent("a", 1);
    all.on_sent("b", 2);
    all.on_sent("c", 3);
    all.put_in_doubt(all.take(), 10);
    BOOST_TEST((all.end() == std::vector{"b"s, "c"s}));
    BOOST_TEST(all.empty());
    BOOST_TEST(all.end().empty());
    // The doubt stays for the caller to settle.
    BOOST_TEST(settled(all) == "a=10 ");
}

BOOST_AUTO_TEST_CASE(what_waits_can_be_looked_at) {
    matcher all;
    for (auto const* one : {"a", "b", "c"}) {
        all.on_sent(one, 1);
    }
    all.put_in_doubt(all.take(), 10);
    std::string seen;
    all.for_each_in_flight([&](std::string& one) { seen += one; });
    seen += "|";
    all.for_each_in_doubt([&](std::string& one) { seen += one; });
    BOOST_TEST(seen == "bc|a");
}

BOOST_AUTO_TEST_SUITE_END()
