// How the program ends: no two causes that a script has to tell apart share a code.

#include "cli/exit_code.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <csignal>

using holdfast::errc;
using holdfast::make_error_code;
using namespace holdfast::cli;

namespace {

int code_of(errc value) {
    return to_int(exit_code_of(make_error_code(value)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli_exit_code_test)

BOOST_AUTO_TEST_CASE(each_kind_of_error_has_a_code) {
    BOOST_TEST(to_int(exit_code_of(holdfast::error_code{})) == 0);
    BOOST_TEST(code_of(errc::invalid_lease) == 64);
    BOOST_TEST(code_of(errc::permits_not_set) == 64);
    BOOST_TEST(code_of(errc::corrupt_state) == 65);
    BOOST_TEST(code_of(errc::unreachable) == 69);
    BOOST_TEST(code_of(errc::server_refused) == 69);
    BOOST_TEST(code_of(errc::lease_lost) == 73);
    BOOST_TEST(code_of(errc::auth_failed) == 77);
    BOOST_TEST(code_of(errc::no_permission) == 77);
    BOOST_TEST(code_of(errc::tls_failed) == 78);
    BOOST_TEST(code_of(errc::would_deadlock) == 70);
    BOOST_TEST(to_int(exit_code_of(boost::asio::error::host_not_found)) == 69);
    BOOST_TEST(to_int(exit_code::busy) == 75);
}

BOOST_AUTO_TEST_CASE(the_code_of_a_child_is_a_shells) {
    BOOST_TEST(exit_code_of_child(7 << 8) == 7);
    BOOST_TEST(exit_code_of_child(0) == 0);
    BOOST_TEST(exit_code_of_child(SIGKILL) == 137);
    BOOST_TEST(to_int(exit_code_of_exec(ENOENT)) == 127);
    BOOST_TEST(to_int(exit_code_of_exec(EACCES)) == 126);
    BOOST_TEST(to_int(exit_code_of_exec(EAGAIN)) == 71);
}

BOOST_AUTO_TEST_SUITE_END()
