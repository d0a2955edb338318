// Names of locks: which literals look like a format string without its arguments, and that every
// kind of text can be a name.

#include <holdfast/lock_name.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>

using holdfast::lock_name;
using holdfast::detail::needs_argument;

BOOST_AUTO_TEST_SUITE(lock_name_test)

BOOST_AUTO_TEST_CASE(fields_that_only_an_argument_can_fill_are_found) {
    for (char const* const text :
         {"{}",
          "stock:{}",
          "stock:{}:apple",
          "{0}",
          "a{12}b",
          "{:>5}",
          "{0:x}",
          "{:}",
          "{tag}:{}",
          "{tag:{}}",
          "{{{}}}",
          "}{}",
          "{{}{}"}) {
        BOOST_TEST_CONTEXT(text) {
            BOOST_TEST(needs_argument(text));
        }
    }
}

BOOST_AUTO_TEST_CASE(hash_tags_and_single_braces_are_parts_of_a_name) {
    for (char const* const text :
         {"",
          "stock",
          "{tag}",
          "a{b}",
          "{user1000}.following",
          "{user:1000}",
          "{1000x}",
          "{-1}",
          "{ }",
          "{",
          "}",
          "}{",
          "a{",
          "{0",
          "{:",
          "{:>5",
          "{{}}",
          "{{0}}",
          "{{",
          "}}"}) {
        BOOST_TEST_CONTEXT(text) {
            BOOST_TEST(!needs_argument(text));
        }
    }
}

BOOST_AUTO_TEST_CASE(every_kind_of_text_is_a_name) {
    std::string const string = "string {}";
    BOOST_TEST(lock_name{string}.view() == string);
    BOOST_TEST(lock_name{string.c_str()}.view() == string);
    BOOST_TEST(lock_name{std::string_view{"view {}"}}.view() == "view {}");
    BOOST_TEST(lock_name{"literal {tag}"}.view() == "literal {tag}");
    char buffer[16] = "buffer {}";
    BOOST_TEST(lock_name{buffer}.view() == "buffer {}");
    static constexpr char constant[] = "constant";
    BOOST_TEST(lock_name{constant}.view() == "constant");
    std::string with_zero{"a\0b", 3};
    BOOST_TEST(lock_name{with_zero}.view().size() == 3U);
}

BOOST_AUTO_TEST_SUITE_END()
