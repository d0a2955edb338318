// Words and the form in which they are sent.

#include "protocol/bulk_strings.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

using holdfast::detail::bulk_strings;
using namespace std::string_view_literals;

BOOST_AUTO_TEST_SUITE(bulk_strings_test)

BOOST_AUTO_TEST_CASE(each_word_is_a_bulk_string) {
    bulk_strings words;
    words.add("ab");
    words.add(""sv);
    words.add("\r\n\0"sv);
    BOOST_TEST(words.size() == 3U);
    BOOST_TEST(words.word(0) == "ab");
    BOOST_TEST(words.bulk_string(0) == "$2\r\nab\r\n");
    BOOST_TEST(words.word(1) == "");
    BOOST_TEST(words.bulk_string(1) == "$0\r\n\r\n");
    BOOST_TEST(words.word(2) == "\r\n\0"sv);
    BOOST_TEST(words.bulk_string(2) == "$3\r\n\r\n\0\r\n"sv);
    BOOST_TEST(words.bytes() == "$2\r\nab\r\n$0\r\n\r\n$3\r\n\r\n\0\r\n"sv);
}

BOOST_AUTO_TEST_CASE(words_may_be_long_and_many) {
    bulk_strings words;
    words.reserve(20, 10);
    for (std::size_t i = 0; i < 200; ++i) {
        words.add(std::string(i, 'x'));
    }
    for (std::size_t i = 0; i < 200; ++i) {
        std::string const word(i, 'x');
        BOOST_REQUIRE(words.word(i) == word);
        BOOST_REQUIRE(words.bulk_string(i) == "$" + std::to_string(i) + "\r\n" + word + "\r\n");
    }
}

BOOST_AUTO_TEST_CASE(numbers_are_words) {
    bulk_strings words;
    words.add(std::numeric_limits<std::int64_t>::min());
    words.add(std::numeric_limits<std::uint64_t>::max());
    BOOST_TEST(words.bulk_string(0) == "$20\r\n-9223372036854775808\r\n");
    BOOST_TEST(words.bulk_string(1) == "$20\r\n18446744073709551615\r\n");
}

BOOST_AUTO_TEST_CASE(it_can_be_used_again) {
    bulk_strings words;
    words.add("first");
    words.clear();
    BOOST_TEST(words.size() == 0U);
    words.add("b");
    BOOST_TEST(words.bulk_string(0) == "$1\r\nb\r\n");
}

BOOST_AUTO_TEST_SUITE_END()
