// What programs read: one value a line, always UTF-8.

#include "cli/json.hpp"

#include <boost/json/object.hpp>
#include <boost/test/unit_test.hpp>

#include <sstream>

using namespace std::string_literals;
using holdfast::cli::json_text;
using holdfast::cli::print_json;

BOOST_AUTO_TEST_SUITE(cli_json_test)

BOOST_AUTO_TEST_CASE(a_value_is_a_line) {
    std::ostringstream out;
    print_json(out, boost::json::object{{"name", "a\nb"}, {"held", true}});
    print_json(out, 7);
    BOOST_TEST(out.str() == "{\"name\":\"a\\nb\",\"held\":true}\n7\n");
}

BOOST_AUTO_TEST_CASE(names_of_any_bytes_become_utf_8) {
    std::string const characters = "\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\x92\"\\\n";
    BOOST_TEST(json_text("stock:7") == "stock:7");
    BOOST_TEST(json_text("").empty());
    BOOST_TEST(json_text(characters) == characters);
    BOOST_TEST(json_text("a\xff"s + "b") == "a\\xffb");
    // Cut off, longer than need be, a surrogate, and beyond the last character.
    BOOST_TEST(json_text("\xc3") == "\\xc3");
    BOOST_TEST(json_text("\xc0\x80") == "\\xc0\\x80");
    BOOST_TEST(json_text("\xe0\x80\x80") == "\\xe0\\x80\\x80");
    BOOST_TEST(json_text("\xed\xa0\x80") == "\\xed\\xa0\\x80");
    BOOST_TEST(json_text("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
}

BOOST_AUTO_TEST_SUITE_END()
