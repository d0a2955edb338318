// A reply that does not look as expected gives the neutral value.

#include "protocol/reply.hpp"

#include "unit/calls.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>

using namespace std::string_literals;
using holdfast::detail::exec_result;
using holdfast::detail::exec_status;
using holdfast::test::reply_of;

BOOST_AUTO_TEST_SUITE(reply_test)

BOOST_AUTO_TEST_CASE(values_are_read_by_place_and_type) {
    auto const reply = reply_of({std::int64_t{7}, "seven"s});
    BOOST_TEST(reply.integer(0, -1) == 7);
    BOOST_TEST(reply.text(1) == "seven");
    // Of the wrong type.
    BOOST_TEST(reply.integer(1, -1) == -1);
    BOOST_TEST(reply.text(0) == "");
    // Out of range.
    BOOST_TEST(reply.integer(2) == 0);
    BOOST_TEST(reply.text(2) == "");
}

BOOST_AUTO_TEST_CASE(a_result_that_says_nothing_is_unknown) {
    BOOST_TEST((exec_result{}.status == exec_status::unknown));
    BOOST_TEST(!exec_result{}.sent_again);
}

BOOST_AUTO_TEST_SUITE_END()
