#include "redis/texts_in_flight.hpp"

#include <boost/test/unit_test.hpp>

using holdfast::detail::script;
using holdfast::detail::texts_in_flight;

namespace {
constexpr script one{"one", "return 1", ""};
constexpr script other{"other", "return 2", ""};
}  // namespace

BOOST_AUTO_TEST_SUITE(texts_in_flight_test)

BOOST_AUTO_TEST_CASE(a_text_is_in_flight_until_each_that_was_sent_is_answered) {
    texts_in_flight texts;
    BOOST_TEST(!texts.has(one));
    texts.add(one);
    texts.add(one);
    BOOST_TEST(texts.has(one));
    BOOST_TEST(!texts.has(other));
    texts.remove(one);
    BOOST_TEST(texts.has(one));
    texts.remove(one);
    BOOST_TEST(!texts.has(one));
}

BOOST_AUTO_TEST_CASE(none_is_when_the_connection_has_ended) {
    texts_in_flight texts;
    texts.add(one);
    texts.clear();
    BOOST_TEST(!texts.has(one));
    texts.remove(one);
    BOOST_TEST(!texts.has(one));
}

BOOST_AUTO_TEST_SUITE_END()
