// The errors of the library: one category, a line of text for each, and which are worth another
// try.

#include <holdfast/error.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <set>
#include <string>

using holdfast::errc;
using holdfast::error_code;

namespace {

constexpr errc all[] = {
    errc::invalid_name,     errc::invalid_lease,      errc::invalid_options,
    errc::too_many_waiters, errc::lease_lost,         errc::release_unknown,
    errc::not_held,         errc::not_replicated,     errc::quorum_not_reached,
    errc::corrupt_state,    errc::auth_failed,        errc::no_permission,
    errc::tls_failed,       errc::unsupported_server, errc::server_refused,
    errc::client_stopped,   errc::unreachable,        errc::limit_mismatch,
    errc::unknown_primary,  errc::permits_not_set,
};

}  // namespace

BOOST_AUTO_TEST_SUITE(error_test)

BOOST_AUTO_TEST_CASE(every_value_is_an_error_with_a_line_of_its_own) {
    std::set<std::string> lines;
    for (auto const value : all) {
        error_code const ec = value;
        BOOST_TEST(ec.failed());
        BOOST_TEST((ec.category() == holdfast::error_category()));
        BOOST_TEST(ec.message() != "unknown error");
        BOOST_TEST(ec.message().find('\n') == std::string::npos);
        BOOST_TEST(lines.insert(ec.message()).second);
    }
}

BOOST_AUTO_TEST_CASE(the_category_is_named_after_the_library) {
    BOOST_TEST(holdfast::error_category().name() == std::string{"holdfast"});
    BOOST_TEST(holdfast::error_category().message(9999) == "unknown error");
    BOOST_TEST(holdfast::error_category().message(0) == "unknown error");
}

// Two shared objects in one program may each have a copy of the library.
BOOST_AUTO_TEST_CASE(the_category_of_another_copy_of_the_library_is_the_same) {
    struct copy final : boost::system::error_category {
        copy() : error_category{0xe638'2f41'b95c'd017} {}
        char const* name() const noexcept override { return "holdfast"; }
        std::string message(int) const override { return ""; }
    };
    copy const other;
    BOOST_TEST((holdfast::error_category() == other));
    BOOST_TEST(
        (error_code{errc::lease_lost} == error_code{static_cast<int>(errc::lease_lost), other})
    );
}

BOOST_AUTO_TEST_CASE(an_error_compares_with_its_value_and_travels_in_an_exception) {
    error_code const ec = errc::unreachable;
    BOOST_TEST((ec == errc::unreachable));
    BOOST_TEST((ec != errc::server_refused));
    boost::system::system_error const thrown{errc::lease_lost};
    BOOST_TEST((thrown.code() == errc::lease_lost));
}

BOOST_AUTO_TEST_CASE(what_passes_by_itself_is_worth_another_try) {
    for (auto const value :
         {errc::unreachable,
          errc::server_refused,
          errc::too_many_waiters,
          errc::not_replicated,
          errc::quorum_not_reached}) {
        BOOST_TEST(holdfast::is_retryable(value));
    }
    // The lock was busy.
    BOOST_TEST(holdfast::is_retryable(boost::asio::error::try_again));
}

BOOST_AUTO_TEST_CASE(what_somebody_has_to_mend_is_not) {
    for (auto const value :
         {errc::invalid_name,
          errc::invalid_lease,
          errc::invalid_options,
          errc::not_held,
          errc::corrupt_state,
          errc::auth_failed,
          errc::no_permission,
          errc::tls_failed,
          errc::unsupported_server,
          errc::client_stopped,
          errc::lease_lost,
          errc::release_unknown}) {
        BOOST_TEST(!holdfast::is_retryable(value));
    }
    BOOST_TEST(!holdfast::is_retryable(error_code{}));
    BOOST_TEST(!holdfast::is_retryable(boost::asio::error::operation_aborted));
    // The same number in another category.
    BOOST_TEST(!holdfast::is_retryable(
        {static_cast<int>(errc::unreachable), boost::system::generic_category()}
    ));
}

BOOST_AUTO_TEST_SUITE_END()
