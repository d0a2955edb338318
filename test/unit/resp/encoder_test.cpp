// Commands as they are sent.

#include "resp/encoder.hpp"

#include "protocol/bulk_strings.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

using namespace holdfast::detail::resp;
using namespace std::string_view_literals;

namespace {

std::string text_of(byte_buffer const& from) {
    return {from.begin(), from.end()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(encoder_test)

BOOST_AUTO_TEST_CASE(a_command_is_an_array_of_bulk_strings) {
    byte_buffer to;
    append_command(to, {"SUBSCRIBE", "a\r\n\0"sv});
    append_command(to, {"PING", ""});
    BOOST_TEST(
        text_of(to) == "*2\r\n$9\r\nSUBSCRIBE\r\n$4\r\na\r\n\0\r\n*2\r\n$4\r\nPING\r\n$0\r\n\r\n"sv
    );
}

BOOST_AUTO_TEST_CASE(numbers_are_words) {
    byte_buffer to;
    append_word(to, std::uint64_t{0});
    append_word(to, std::numeric_limits<std::uint64_t>::max());
    BOOST_TEST(text_of(to) == "$1\r\n0\r\n$20\r\n18446744073709551615\r\n");
}

BOOST_AUTO_TEST_CASE(a_script_is_named_or_sent_and_its_tag_comes_last) {
    holdfast::detail::bulk_strings words;
    words.add("key");
    words.add("argument");
    script_call const call{"return 1", "5ca1ab1e", 1, {words.bytes(), words.size()}};
    byte_buffer named;
    append_script(named, call, false, 7);
    BOOST_TEST(
        text_of(named) ==
        "*6\r\n$7\r\nEVALSHA\r\n$8\r\n5ca1ab1e\r\n$1\r\n1\r\n"
        "$3\r\nkey\r\n$8\r\nargument\r\n$1\r\n7\r\n"
    );
    byte_buffer sent;
    append_script(sent, call, true, 4'294'967'295U);
    BOOST_TEST(
        text_of(sent) ==
        "*6\r\n$4\r\nEVAL\r\n$8\r\nreturn 1\r\n$1\r\n1\r\n"
        "$3\r\nkey\r\n$8\r\nargument\r\n$10\r\n4294967295\r\n"
    );
}

BOOST_AUTO_TEST_CASE(a_script_without_words_has_its_tag) {
    byte_buffer to;
    append_script(to, {"return 1", "5ca1ab1e", 0, {}}, false, 1);
    BOOST_TEST(text_of(to) == "*4\r\n$7\r\nEVALSHA\r\n$8\r\n5ca1ab1e\r\n$1\r\n0\r\n$1\r\n1\r\n");
}

BOOST_AUTO_TEST_SUITE_END()
