// The first line of a script.

#include "memory_server/script_text.hpp"

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_script_text_test)

BOOST_AUTO_TEST_CASE(flags_are_read) {
    script_flags flags;
    BOOST_TEST(flags.compatible);
    BOOST_TEST(!read_shebang("#!lua flags=no-writes,allow-oom", flags));
    BOOST_TEST((!flags.compatible && flags.no_writes && flags.allow_oom && !flags.allow_stale));
}

BOOST_AUTO_TEST_CASE(what_the_server_does_not_know_is_an_error) {
    script_flags flags;
    BOOST_TEST(read_shebang("#!js", flags).value_or("").starts_with("Unexpected engine"));
    BOOST_TEST(read_shebang("#!lua x=1", flags).value_or("").starts_with("Unknown lua shebang"));
    BOOST_TEST(read_shebang("#!lua flags=x", flags).value_or("").starts_with("Unexpected flag"));
}

BOOST_AUTO_TEST_CASE(the_line_feed_of_the_first_line_counts) {
    BOOST_TEST(shebang_size("return 1") == 0U);
    BOOST_TEST(shebang_size("#!lua\nreturn 1") == 5U);
}

BOOST_AUTO_TEST_SUITE_END()
