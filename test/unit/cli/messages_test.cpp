// What is written for people, and cannot disturb their terminal.

#include "cli/messages.hpp"

#include <boost/test/unit_test.hpp>

#include <sstream>

using holdfast::cli::context;
using holdfast::cli::quoted_name;
using holdfast::cli::say;

BOOST_AUTO_TEST_SUITE(cli_messages_test)

BOOST_AUTO_TEST_CASE(a_message_says_who_speaks) {
    std::ostringstream out;
    std::ostringstream err;
    context const on{.config = {}, .json = false, .colours = {}, .out = out, .err = err};
    say(on, "it is late");
    BOOST_TEST(err.str() == "holdfast: it is late\n");
    BOOST_TEST(out.str().empty());
}

BOOST_AUTO_TEST_CASE(a_name_is_shown_in_quotes_and_without_control_characters) {
    BOOST_TEST(quoted_name("stock:7") == "'stock:7'");
    BOOST_TEST(quoted_name("a\x1b[31m") == "'a\\x1b[31m'");
}

BOOST_AUTO_TEST_SUITE_END()
