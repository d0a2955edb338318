// Colours are for terminals.

#include "cli/style.hpp"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

using holdfast::cli::colour_mode;
using holdfast::cli::style;

BOOST_AUTO_TEST_SUITE(cli_style_test)

BOOST_AUTO_TEST_CASE(text_has_colours_where_they_are_wanted) {
    BOOST_TEST(style{}.bad("x") == "x");
    BOOST_TEST(style{true}.bad("x") == "\x1b[31mx\x1b[0m");
    BOOST_TEST(style{true}.strong("x") == "\x1b[1mx\x1b[0m");
}

BOOST_AUTO_TEST_CASE(only_a_terminal_has_them_by_itself) {
    std::array<int, 2> ends{};
    BOOST_REQUIRE(::pipe(ends.data()) == 0);
    BOOST_TEST(!style::of(ends[1], colour_mode::automatic).coloured());
    BOOST_TEST(style::of(ends[1], colour_mode::always).coloured());
    ::close(ends[0]);
    ::close(ends[1]);
}

BOOST_AUTO_TEST_CASE(the_environment_can_refuse_them_on_a_terminal) {
    int const keyboard = ::posix_openpt(O_RDWR | O_NOCTTY);
    BOOST_REQUIRE(keyboard >= 0);
    BOOST_REQUIRE(::grantpt(keyboard) == 0);
    BOOST_REQUIRE(::unlockpt(keyboard) == 0);
    int const screen = ::open(::ptsname(keyboard), O_RDWR | O_NOCTTY);
    BOOST_REQUIRE(screen >= 0);
    ::setenv("TERM", "xterm", 1);
    ::unsetenv("NO_COLOR");
    BOOST_TEST(style::of(screen, colour_mode::automatic).coloured());
    BOOST_TEST(!style::of(screen, colour_mode::never).coloured());
    ::setenv("NO_COLOR", "1", 1);
    BOOST_TEST(!style::of(screen, colour_mode::automatic).coloured());
    ::setenv("NO_COLOR", "", 1);
    BOOST_TEST(style::of(screen, colour_mode::automatic).coloured());
    ::unsetenv("NO_COLOR");
    ::setenv("TERM", "dumb", 1);
    BOOST_TEST(!style::of(screen, colour_mode::automatic).coloured());
    ::close(screen);
    ::close(keyboard);
}

BOOST_AUTO_TEST_SUITE_END()
