// Since when a server is known.

#include "protocol/server.hpp"

#include "unit/calls.hpp"
#include "unit/protocol/on_model.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>

using namespace std::chrono_literals;
using holdfast::detail::meet_server;
using holdfast::detail::read_meeting;
using holdfast::detail::server_key;
using holdfast::test::on_model;
using holdfast::test::reply_of;
using holdfast::test::typed;

namespace {

std::optional<std::chrono::milliseconds> known_for(on_model& all, std::string_view run_id) {
    auto const met = read_meeting(all.run(meet_server(server_key(""), run_id, 3s)));
    return met ? std::optional{met->known_for} : std::nullopt;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(server_test)

BOOST_AUTO_TEST_CASE(the_call_names_one_key_of_the_server) {
    BOOST_TEST(
        typed(meet_server(server_key(""), "0123abcd", 3s)) ==
        "server.meet 1 holdfast_server 0123abcd"
    );
    BOOST_TEST(
        typed(meet_server(server_key("shop:"), "x", 3s)) == "server.meet 1 shop:holdfast_server x"
    );
    BOOST_TEST(server_key("shop:", 0) == "shop:holdfast_server:{3560}");
}

BOOST_AUTO_TEST_CASE(what_the_answer_means) {
    auto const met = read_meeting(reply_of(1'500, 1'700'000'000'000'000));
    BOOST_TEST((met->known_for == 1'500ms));
    BOOST_TEST(met->server_time == 1'700'000'000'000'000U);
    BOOST_TEST(!read_meeting(reply_of()).has_value());
    BOOST_TEST(!read_meeting(reply_of(5)).has_value());
    BOOST_TEST(!read_meeting(reply_of(-5, 7)).has_value());
    BOOST_TEST(!read_meeting(reply_of("x", 7)).has_value());
}

BOOST_AUTO_TEST_CASE(the_first_who_meets_a_server_writes_it_down_for_the_others) {
    on_model all{"c"};
    BOOST_TEST((known_for(all, "a") == 0ms));
    all.later(1'500ms);
    BOOST_TEST((known_for(all, "a") == 1'500ms));
    // A promoted replica has the key of the former primary.
    BOOST_TEST((known_for(all, "b") == 0ms));
    all.later(2s);
    BOOST_TEST((known_for(all, "b") == 2s));
    // A meeting puts off the end of the key.
    BOOST_TEST(all.ask({"PTTL", "holdfast_server"}).number == 2'592'000'000);
    BOOST_TEST((known_for(all, "a") == 0ms));
    // Its data are gone.
    all.ask({"DEL", "holdfast_server"});
    all.later(1s);
    BOOST_TEST((known_for(all, "a") == 0ms));
}

BOOST_AUTO_TEST_CASE(a_clock_that_was_set_back_begins_again) {
    on_model all{"c"};
    BOOST_TEST((known_for(all, "a") == 0ms));
    all.later(-10s);
    BOOST_TEST((known_for(all, "a") == 0ms));
    all.later(1s);
    BOOST_TEST((known_for(all, "a") == 1s));
}

BOOST_AUTO_TEST_CASE(a_foreign_value_is_an_error_and_stays) {
    on_model all{"c"};
    all.ask({"SET", "holdfast_server", "mine"});
    BOOST_TEST(!known_for(all, "a").has_value());
    BOOST_TEST(all.error.starts_with("WRONGTYPE"), all.error);
    BOOST_TEST(all.value_of("holdfast_server") == "mine");
}

BOOST_AUTO_TEST_SUITE_END()
