#include "cli/server_texts.hpp"

#include "unit/cli/replies.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>

using namespace holdfast::cli;
using namespace holdfast::test;

BOOST_AUTO_TEST_CASE(info_is_read_line_by_line) {
    auto const info =
        read_info("txt:# Server\r\nredis_version:7.0.15\r\n\r\n# Memory\r\na:b:c\r\nx\n");
    BOOST_TEST(text_in(info, "redis_version") == "7.0.15");
    BOOST_TEST(text_in(info, "a") == "b:c");
    BOOST_TEST(text_in(info, "x", "none") == "none");
    BOOST_TEST(read_info("").empty());
}

BOOST_AUTO_TEST_CASE(a_client_list_has_a_client_a_line) {
    auto const all = read_client_list(
        "txt:id=3 addr=10.0.0.1:5000 name=shop:1 lib-name= cmd=client|list\n"
        "id=4 addr=[::1]:5000 name=\n"
    );
    BOOST_REQUIRE(all.size() == 2U);
    BOOST_TEST(text_in(all[0], "id") == "3");
    BOOST_TEST(text_in(all[0], "name") == "shop:1");
    BOOST_TEST(text_in(all[0], "cmd") == "client|list");
    BOOST_TEST(text_in(all[1], "addr") == "[::1]:5000");
    BOOST_TEST(text_in(all[1], "name", "none").empty());
    BOOST_TEST(read_client_list("").empty());
}

BOOST_AUTO_TEST_CASE(a_client_at_a_unix_socket_has_its_path_as_address) {
    for (std::string const said : {"/run/redis.sock:0", "[/run/redis.sock:0]:0"}) {
        auto const all = read_client_list("addr=" + said + " laddr=" + said + "\n");
        BOOST_REQUIRE(all.size() == 1U);
        BOOST_TEST(text_in(all[0], "addr") == "/run/redis.sock");
    }
}

BOOST_AUTO_TEST_CASE(pairs_are_read_whatever_they_came_as) {
    auto reply = words({"save", "900 1", "timeout"});
    reply.values.emplace_back(std::int64_t{30});
    reply.values.emplace_back(std::string{"without a value"});
    auto const read = read_pairs(reply);
    BOOST_TEST(read.size() == 2U);
    BOOST_TEST(text_in(read, "save") == "900 1");
    BOOST_TEST(count_of(read, "timeout") == 30U);
    BOOST_TEST(count_of(read, "save") == 0U);
}

BOOST_AUTO_TEST_CASE(a_number_is_a_number_and_nothing_else) {
    BOOST_TEST(whole_number<int>("12").value() == 12);
    BOOST_TEST(!whole_number<int>("12a"));
    BOOST_TEST(!whole_number<int>(""));
    BOOST_TEST(!whole_number<unsigned>("-1"));
    BOOST_TEST(number_of(number(-2)).value() == -2);
    BOOST_TEST(number_of(words({"-2"})).value() == -2);
    BOOST_TEST(!number_of(words({"1", "2"})));
    BOOST_TEST(!number_of(nil()));
    BOOST_TEST(!number_of(refusal("WRONGTYPE")));
}
