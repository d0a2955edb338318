// The decoder: what it makes of each type, where its limits are, and that neither the pieces in
// which bytes come nor anything in them changes the result.

#include "resp/decoder.hpp"

#include "unit/resp/wire.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace holdfast::test;
using holdfast::detail::resp::decode_status;
using holdfast::detail::resp::decoder;
using holdfast::detail::resp::decoder_limits;
using holdfast::detail::resp::node_type;
using namespace std::string_literals;
using namespace std::string_view_literals;

namespace {

std::string repeat(std::string_view what, std::size_t times) {
    std::string all;
    for (; times > 0; --times) {
        all += what;
    }
    return all;
}

wire_message only(std::string_view bytes) {
    auto const all = decode_whole(bytes);
    BOOST_TEST((all == decode_bytewise(bytes)));
    BOOST_TEST((all.end == decode_status::incomplete));
    BOOST_TEST_REQUIRE(all.messages.size() == 1U);
    return all.messages.front();
}

// How the first message ends, in one piece and in single bytes.
decode_status end_of(std::string_view bytes, decoder_limits limits = {}) {
    auto const all = decode_whole(bytes, limits);
    BOOST_TEST((all == decode_bytewise(bytes, limits)));
    return all.messages.empty() ? all.end : decode_status::complete;
}

void check_single(std::string_view bytes, node_type type, std::string_view text) {
    BOOST_TEST_CONTEXT(bytes) {
        auto const values = only(bytes);
        BOOST_TEST(values.size() == 1U);
        BOOST_TEST((values[0].type == type));
        BOOST_TEST(values[0].text == text);
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(decoder_test)

BOOST_AUTO_TEST_CASE(each_type_is_decoded) {
    check_single("+OK\r\n", node_type::text, "OK");
    check_single("+\r\n", node_type::text, "");
    check_single("$3\r\na\r\n\r\n", node_type::text, "a\r\n");
    check_single("$0\r\n\r\n", node_type::text, "");
    check_single("=7\r\ntxt:a\0b\r\n"sv, node_type::text, "a\0b"sv);
    check_single("=4\r\nmkd:\r\n", node_type::text, "");
    check_single("-ERR no\r\n", node_type::error, "ERR no");
    check_single("!5\r\nERR\r\n\r\n", node_type::error, "ERR\r\n");
    check_single(":-9223372036854775808\r\n", node_type::number, "-9223372036854775808");
    check_single(":+7\r\n", node_type::number, "+7");
    check_single(",inf\r\n", node_type::real, "inf");
    check_single(
        "(-340282366920938463463374607431768211456\r\n",
        node_type::big_number,
        "-340282366920938463463374607431768211456"
    );
    check_single("#t\r\n", node_type::boolean, "t");
    check_single("_\r\n", node_type::null, "");
    check_single("$-1\r\n", node_type::null, "");
    check_single("*-1\r\n", node_type::null, "");
    check_single("*0\r\n", node_type::array, "");
    check_single("%0\r\n", node_type::map, "");
    check_single("~0\r\n", node_type::set, "");
}

BOOST_AUTO_TEST_CASE(a_number_is_read) {
    auto const number_in = [](std::string_view bytes) {
        decoder from{{}};
        BOOST_TEST((from.resume(bytes) == decode_status::complete));
        return from.current(bytes).number();
    };
    BOOST_TEST((number_in(":-12\r\n") == std::optional{-12}));
    BOOST_TEST((number_in(":+12\r\n") == std::optional{12}));
    BOOST_TEST(!number_in("+12\r\n"));
}

BOOST_AUTO_TEST_CASE(elements_follow_their_aggregate) {
    auto const values = only("%2\r\n+a\r\n*2\r\n:1\r\n~0\r\n+b\r\n_\r\n");
    wire_message const expected{
        {node_type::map, "", 4, 0},
        {node_type::text, "a", 1, 1},
        {node_type::array, "", 2, 1},
        {node_type::number, "1", 1, 2},
        {node_type::set, "", 0, 2},
        {node_type::text, "b", 1, 1},
        {node_type::null, "", 0, 1},
    };
    BOOST_TEST((values == expected));
}

BOOST_AUTO_TEST_CASE(an_attribute_is_dropped_and_a_value_follows) {
    check_single("|1\r\n+ttl\r\n:3\r\n+OK\r\n", node_type::text, "OK");
    check_single("|0\r\n|1\r\n|0\r\n*1\r\n+a\r\n%0\r\n:7\r\n", node_type::number, "7");
    BOOST_TEST((end_of("|1\r\n+ttl\r\n:3\r\n") == decode_status::incomplete));
    auto const values = only("*2\r\n+a\r\n|1\r\n+k\r\n+v\r\n+b\r\n");
    BOOST_TEST(values.size() == 3U);
    BOOST_TEST(values[2].text == "b");
    BOOST_TEST(only("|1\r\n+k\r\n+v\r\n>1\r\n|0\r\n+message\r\n").size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_push_begins_with_its_kind_and_stands_alone) {
    auto const values = only(">3\r\n$7\r\nmessage\r\n+c\r\n$1\r\nx\r\n");
    BOOST_TEST(values.size() == 4U);
    BOOST_TEST((values[0].type == node_type::push));
    for (auto const* const wrong :
         {">0\r\n",
          ">1\r\n:1\r\n",
          ">1\r\n*1\r\n+a\r\n",
          ">1\r\n_\r\n",
          ">1\r\n-ERR\r\n",
          "*1\r\n>1\r\n+a\r\n",
          "|1\r\n+a\r\n>1\r\n+a\r\n+b\r\n",
          ">2\r\n+a\r\n>1\r\n+b\r\n"}) {
        BOOST_TEST_CONTEXT(wrong) {
            BOOST_TEST((end_of(wrong) == decode_status::malformed));
        }
    }
}

BOOST_AUTO_TEST_CASE(what_no_server_sends_is_malformed) {
    for (std::string const wrong :
         {"a",
          "\r\n",
          "\n",
          ";4\r\nabcd\r\n",
          ".\r\n",
          "$?\r\n",
          "*?\r\n",
          "%?\r\n",
          ">?\r\n",
          "$\r\n",
          "*\r\n",
          ":\r\n",
          ",\r\n",
          "(\r\n",
          "#\r\n",
          "#true\r\n",
          "_x\r\n",
          "$-2\r\n",
          "$+1\r\na\r\n",
          "$ 1\r\na\r\n",
          "$1 \r\na\r\n",
          "$0x1\r\na\r\n",
          "*-2\r\n",
          "%-1\r\n",
          "~-1\r\n",
          ">-1\r\n",
          "|-1\r\n",
          "!-1\r\n",
          "=-1\r\n",
          "=3\r\nabc\r\n",
          "=4\r\nabcd\r\n",
          ":--1\r\n",
          ":+-1\r\n",
          ":-+1\r\n",
          ":1.5\r\n",
          ":9223372036854775808\r\n",
          ":000000000000000000001\r\n",
          "$000000000000000000001\r\na\r\n",
          "*18446744073709551616\r\n",
          "$1\r\nabc",
          "$1\r\na\rx",
          "$1\r\na\nx",
          "+a\n",
          "+a\rb\r\n",
          "+a\r\r\n",
          "+\n",
          "*1\r\n+a\n",
          "|1\r\n+a\r\n;\r\n"}) {
        BOOST_TEST_CONTEXT(wrong) {
            BOOST_TEST((end_of(wrong) == decode_status::malformed));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_decoder_stays_faulty) {
    decoder faulty{{}};
    BOOST_TEST((faulty.resume("?") == decode_status::malformed));
    BOOST_TEST((faulty.resume("+OK\r\n") == decode_status::malformed));
}

BOOST_AUTO_TEST_CASE(a_line_has_a_limit) {
    decoder_limits const limits{.line = 5, .bulk = 100, .message = 1000, .elements = 10};
    BOOST_TEST((end_of("+12345\r\n", limits) == decode_status::complete));
    BOOST_TEST((end_of("+123456\r\n", limits) == decode_status::too_large));
    BOOST_TEST((end_of("+1234567", limits) == decode_status::too_large));
    BOOST_TEST((end_of("+1\r345678\n", limits) == decode_status::too_large));
}

BOOST_AUTO_TEST_CASE(a_string_has_a_limit) {
    decoder_limits const limits{.line = 50, .bulk = 5, .message = 1000, .elements = 10};
    BOOST_TEST((end_of("$5\r\n12345\r\n", limits) == decode_status::complete));
    BOOST_TEST((end_of("$6\r\n", limits) == decode_status::too_large));
    BOOST_TEST((end_of("!6\r\n", limits) == decode_status::too_large));
    BOOST_TEST((end_of("=6\r\n", limits) == decode_status::too_large));
    BOOST_TEST((end_of("$18446744073709551615\r\n", limits) == decode_status::too_large));
}

BOOST_AUTO_TEST_CASE(a_message_has_a_limit) {
    decoder_limits const limits{.line = 50, .bulk = 50, .message = 18, .elements = 10};
    BOOST_TEST((end_of("*2\r\n+12\r\n+1234567\r\n", limits) == decode_status::too_large));
    BOOST_TEST((end_of("*2\r\n+12\r\n+1234567", limits) == decode_status::incomplete));
    BOOST_TEST((end_of("*2\r\n+12\r\n+123456\r\n", limits) == decode_status::complete));
    BOOST_TEST((end_of("*2\r\n+12\r\n$6\r\n", limits) == decode_status::too_large));
    BOOST_TEST((end_of("*2\r\n+1\r\n$4\r\nabcd\r\n", limits) == decode_status::complete));
    // What is dropped counts.
    BOOST_TEST((end_of("|1\r\n+123\r\n+456\r\n+1\r\n", limits) == decode_status::too_large));
}

BOOST_AUTO_TEST_CASE(values_have_a_limit) {
    decoder_limits const limits{.line = 50, .bulk = 50, .message = 1000, .elements = 5};
    BOOST_TEST((end_of("*4\r\n" + repeat("+a\r\n", 4), limits) == decode_status::complete));
    BOOST_TEST((end_of("*5\r\n", limits) == decode_status::too_large));
    BOOST_TEST((end_of("%3\r\n", limits) == decode_status::too_large));
    BOOST_TEST((end_of("*3\r\n*2\r\n", limits) == decode_status::too_large));
    BOOST_TEST((end_of(repeat("|0\r\n", 4) + "+a\r\n", limits) == decode_status::complete));
    BOOST_TEST((end_of(repeat("|0\r\n", 5), limits) == decode_status::too_large));
    BOOST_TEST((end_of("%9223372036854775808\r\n", limits) == decode_status::too_large));
    BOOST_TEST((end_of("%18446744073709551615\r\n", limits) == decode_status::too_large));
}

BOOST_AUTO_TEST_CASE(nesting_has_a_limit) {
    BOOST_TEST((end_of(repeat("*1\r\n", 8) + "+a\r\n") == decode_status::complete));
    BOOST_TEST((end_of(repeat("*1\r\n", 9)) == decode_status::too_large));
    BOOST_TEST((end_of(repeat("|1\r\n", 9)) == decode_status::too_large));
}

BOOST_AUTO_TEST_CASE(limits_can_be_raised_between_messages) {
    decoder one{decoder_limits::before_hello()};
    BOOST_TEST((one.resume("+OK\r\n") == decode_status::complete));
    one.set_limits({});
    one.next();
    BOOST_TEST((one.resume("$100000\r\n") == decode_status::incomplete));
    BOOST_TEST((
        decode_whole("$100000\r\n", decoder_limits::before_hello()).end == decode_status::too_large
    ));
}

BOOST_AUTO_TEST_CASE(random_messages_are_decoded_as_they_were_made) {
    random_messages random{1};
    for (int i = 0; i < 3000; ++i) {
        auto const one = random.next();
        auto const all = decode_whole(one.bytes);
        BOOST_REQUIRE((all.end == decode_status::incomplete));
        BOOST_REQUIRE(all.messages.size() == 1U);
        BOOST_REQUIRE((all.messages.front() == one.values));
    }
}

BOOST_AUTO_TEST_CASE(pieces_do_not_change_the_result) {
    random_messages random{2};
    for (int i = 0; i < 200; ++i) {
        auto bytes = random.next().bytes + random.next().bytes + random.next().bytes;
        // Half of them are damaged.
        if (i % 2 == 0) {
            static constexpr auto some = "\r\n$*+-:0123456789?>|"sv;
            bytes[random.below(bytes.size())] = some[random.below(some.size())];
        }
        decoder_limits const limits{
            .line = 3 + random.below(20),
            .bulk = 3 + random.below(20),
            .message = 20 + random.below(200),
            .elements = 3 + random.below(20)
        };
        auto const whole = decode_whole(bytes, limits);
        BOOST_REQUIRE((whole == decode_bytewise(bytes, limits)));
        for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
            auto const split = decode_in_pieces(
                bytes,
                [&](std::size_t at) { return at < cut ? cut : bytes.size(); },
                limits
            );
            BOOST_REQUIRE((whole == split));
        }
    }
}

BOOST_AUTO_TEST_CASE(each_byte_is_scanned_three_times_at_most) {
    random_messages random{3};
    for (int i = 0; i < 500; ++i) {
        auto const bytes = random.next().bytes;
        BOOST_REQUIRE(decode_whole(bytes).scanned <= 3 * bytes.size());
        BOOST_REQUIRE(decode_bytewise(bytes).scanned <= 3 * bytes.size());
    }
    auto const long_line = "+" + std::string(60000, 'x') + "\r\n";
    BOOST_TEST(decode_bytewise(long_line.substr(0, 3000)).scanned <= 3U * 3000);
    auto const in_pieces = decode_in_pieces(long_line, [&](std::size_t at) {
        return std::min(at + 100, long_line.size());
    });
    BOOST_TEST(in_pieces.scanned <= 3 * long_line.size());
}

BOOST_AUTO_TEST_SUITE_END()
