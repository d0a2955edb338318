// Messages of RESP3.

#include "memory_server/value.hpp"

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_value_test)

BOOST_AUTO_TEST_CASE(a_message_is_shown_in_one_line) {
    BOOST_TEST(
        value::array({number(7), text("a\n\""), none}).describe() == R"([7, "a\x0a\"", nil])"
    );
}

BOOST_AUTO_TEST_CASE(resp2_knows_no_maps_sets_and_booleans) {
    BOOST_TEST(
        to_resp2(value::map({text("a"), value::boolean(true)})) ==
        value::array({text("a"), number(1)})
    );
    BOOST_TEST(to_resp2(value::real("1.5")) == text("1.5"));
    BOOST_TEST(to_resp2(value::set({text("a")})) == texts({"a"}));
}

BOOST_AUTO_TEST_SUITE_END()
