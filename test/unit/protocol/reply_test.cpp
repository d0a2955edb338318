// A reply that does not look as expected gives the neutral value.

#include "protocol/reply.hpp"

#include <boost/test/unit_test.hpp>

using holdfast::detail::exec_result;
using holdfast::detail::exec_status;
using holdfast::detail::script_reply;

BOOST_AUTO_TEST_SUITE(reply_test)

BOOST_AUTO_TEST_CASE(words_are_counted_behind_the_nonce) {
    script_reply const reply{"1234 7 seven -1"};
    BOOST_TEST(reply.nonce() == "1234");
    BOOST_TEST(reply.integer(0, -1) == 7);
    BOOST_TEST(reply.text(0) == "7");
    BOOST_TEST(reply.text(1) == "seven");
    BOOST_TEST(reply.integer(2) == -1);
    // No number.
    BOOST_TEST(reply.integer(1, -5) == -5);
    // Out of range.
    BOOST_TEST(reply.integer(3, -5) == -5);
    BOOST_TEST(reply.text(3) == "");
    BOOST_TEST(reply.rest(3) == "");
    BOOST_TEST(reply.has(2));
    BOOST_TEST(!reply.has(3));
}

BOOST_AUTO_TEST_CASE(the_last_value_may_have_spaces_in_it) {
    script_reply const reply{"n 1 a b  c"};
    BOOST_TEST(reply.rest(1) == "a b  c");
    BOOST_TEST(reply.rest(0) == "1 a b  c");
}

BOOST_AUTO_TEST_CASE(a_number_fills_its_word) {
    for (auto const* const line :
         {"n 7x", "n +7", "n ", "n", "", "n 99999999999999999999", "n  7"}) {
        BOOST_TEST(script_reply{line}.integer(0, -5) == -5, line);
    }
    BOOST_TEST(script_reply{}.nonce() == "");
    BOOST_TEST(script_reply{"9"}.nonce() == "9");
}

BOOST_AUTO_TEST_CASE(a_result_that_says_nothing_is_unknown) {
    BOOST_TEST((exec_result{}.status == exec_status::unknown));
}

BOOST_AUTO_TEST_SUITE_END()
