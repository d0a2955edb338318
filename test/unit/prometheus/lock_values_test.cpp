#include "prometheus/lock_values.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::acquisition_result;

namespace {

std::string_view name_of(error_code why) {
    return acquisition_result::name(acquisition_result::of(why));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lock_values_test)

BOOST_AUTO_TEST_CASE(an_acquisition_that_ended_without_a_grant_has_a_name) {
    BOOST_TEST(name_of({}) == "busy");
    BOOST_TEST(name_of(boost::asio::error::operation_aborted) == "cancelled");
    BOOST_TEST(name_of(errc::invalid_name) == "invalid_name");
    BOOST_TEST(name_of(errc::unreachable) == "unreachable");
    BOOST_TEST(name_of(errc::unknown_primary) == "unknown_primary");
    BOOST_TEST(name_of(boost::asio::error::eof) == "error");
    BOOST_TEST(name_of({4711, holdfast::error_category()}) == "error");
    BOOST_TEST(name_of({-1, holdfast::error_category()}) == "error");
    BOOST_TEST(acquisition_result::name(acquisition_result::granted) == "granted");
    BOOST_TEST(acquisition_result::name(acquisition_result::joined) == "joined");
}

BOOST_AUTO_TEST_CASE(what_alerts_ask_for_is_there_before_it_happens) {
    BOOST_TEST(acquisition_result::always_shown(acquisition_result::granted));
    BOOST_TEST(acquisition_result::always_shown(acquisition_result::of(errc::unreachable)));
    BOOST_TEST(!acquisition_result::always_shown(acquisition_result::of(errc::limit_mismatch)));
}

BOOST_AUTO_TEST_SUITE_END()
