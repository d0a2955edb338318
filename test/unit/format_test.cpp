// Names of enumerators and values of tokens, as text and through fmt.

#include <holdfast/format.hpp>

#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

using holdfast::errc;
using holdfast::fencing_token;
using holdfast::lease_state;
using holdfast::loss_reason;

BOOST_AUTO_TEST_SUITE(format_test)

BOOST_AUTO_TEST_CASE(enumerators_have_their_names) {
    BOOST_TEST(to_string(lease_state::empty) == "empty");
    BOOST_TEST(to_string(lease_state::in_doubt) == "in_doubt");
    BOOST_TEST(to_string(lease_state::lost) == "lost");
    BOOST_TEST(to_string(static_cast<lease_state>(99)) == "unknown");
    BOOST_TEST(to_string(loss_reason::none) == "none");
    BOOST_TEST(to_string(loss_reason::max_hold) == "max_hold");
    BOOST_TEST(to_string(loss_reason::client_stopped) == "client_stopped");
    BOOST_TEST(to_string(loss_reason::max_renewals) == "max_renewals");
    BOOST_TEST(to_string(loss_reason::failed_over) == "failed_over");
    BOOST_TEST(to_string(static_cast<loss_reason>(99)) == "unknown");
    BOOST_TEST(to_string(errc::invalid_name) == "invalid_name");
    BOOST_TEST(to_string(errc::lease_lost) == "lease_lost");
    BOOST_TEST(to_string(static_cast<errc>(0)) == "unknown");
}

BOOST_AUTO_TEST_CASE(a_token_is_a_number) {
    BOOST_TEST(to_string(fencing_token{}) == "0");
    BOOST_TEST(to_string(fencing_token{1'790'000'000'000'002}) == "1790000000000002");
}

BOOST_AUTO_TEST_CASE(fmt_knows_them_with_its_usual_options) {
    BOOST_TEST(fmt::format("{}", lease_state::held) == "held");
    BOOST_TEST(fmt::format("{:>8}|", loss_reason::taken) == "   taken|");
    BOOST_TEST(fmt::format("{:.5}", errc::unreachable) == "unrea");
    BOOST_TEST(fmt::format("{}", fencing_token{17}) == "17");
    BOOST_TEST(fmt::format("{:06x}", fencing_token{255}) == "0000ff");
}

BOOST_AUTO_TEST_SUITE_END()
