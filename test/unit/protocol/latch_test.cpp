// How the library speaks of a latch: the names of Redisson, which script gets which keys and
// arguments, and what the scripts do.

#include "protocol/counted.hpp"
#include "unit/calls.hpp"
#include "unit/protocol/on_model.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace std::chrono_literals;
using holdfast::detail::holder_id;
using holdfast::detail::make_latch_target;
using holdfast::detail::target_kind;
using holdfast::test::on_model;
using holdfast::test::reply_of;
using holdfast::test::typed;

namespace counted = holdfast::detail::counted;

namespace {

auto const on = make_latch_target("", "L");
std::string const channel = "redisson_countdownlatch__channel__{L}";

holder_id id(std::uint64_t number) {
    return holder_id::of_number("0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", number);
}

struct world : on_model {
    world() : on_model{channel} {}

    counted::request_reply try_set(std::int64_t count, std::uint64_t number) {
        return counted::read_request(run(counted::try_set({on, id(number), count, 1min, 3s})));
    }
    counted::request_reply count_down(std::uint64_t number, std::int64_t times = 1) {
        return counted::read_request(run(counted::count_down({on, id(number), times, 1min, 3s})));
    }
    bool open() { return *counted::read_attempt(on, run(counted::attempt(on, id(99), 3s))); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(latch_test)

BOOST_AUTO_TEST_CASE(names_are_those_of_redisson_and_the_channel_always_has_braces) {
    BOOST_TEST((on.kind == target_kind::latch));
    BOOST_TEST(on.lock == "L");
    BOOST_TEST(on.channel() == channel);
    BOOST_TEST(on.done() == "holdfast_done:{L}");
    auto const tagged = make_latch_target("p:", "a{b}c");
    BOOST_TEST(tagged.lock == "p:a{b}c");
    BOOST_TEST(tagged.channel() == "redisson_countdownlatch__channel__{p:a{b}c}");
    BOOST_TEST(tagged.done() == "holdfast_done:p:a{b}c");
    BOOST_TEST(!make_latch_target("", "").valid());
}

BOOST_AUTO_TEST_CASE(who_passes_takes_nothing) {
    BOOST_TEST(!counted::takes(on));
}

BOOST_AUTO_TEST_CASE(the_calls_name_what_they_touch) {
    auto const mark = "holdfast_done:{L}:" + std::string{id(5).view()};
    BOOST_TEST(
        typed(counted::count_down({on, id(5), 2, 1min, 3s})) ==
        "latch.count_down 3 L " + channel + " " + mark + " 2 60000"
    );
    BOOST_TEST(
        typed(counted::try_set({on, id(5), 7, 1min, 3s})) ==
        "counted.try_set 3 L " + channel + " " + mark + " 7 1 60000"
    );
}

BOOST_AUTO_TEST_CASE(a_look_says_whether_it_is_open) {
    BOOST_TEST((counted::read_attempt(on, reply_of(1, 0)) == true));
    BOOST_TEST((counted::read_attempt(on, reply_of(1, 3)) == false));
    BOOST_TEST(!counted::read_attempt(on, reply_of(1, -1)).has_value());
    BOOST_TEST(!counted::read_attempt(on, reply_of(2)).has_value());
    BOOST_TEST(!counted::read_number(on, reply_of(1, -1)).has_value());
    BOOST_TEST((counted::read_number(on, reply_of(1, 3)) == 3));
}

// Recorded from Redisson.
BOOST_AUTO_TEST_CASE(set_and_counted_down_it_says_what_redisson_says) {
    world all;
    BOOST_TEST(all.try_set(2, 1).done);
    BOOST_TEST(!all.try_set(2, 2).done);
    BOOST_TEST(all.heard() == "1");
    BOOST_TEST(!all.count_down(3).done);
    BOOST_TEST(all.value_of("L") == "1");
    BOOST_TEST(all.heard() == "");
    BOOST_TEST(!all.open());
    BOOST_TEST(all.count_down(4).done);
    BOOST_TEST(all.value_of("L") == "-");
    BOOST_TEST(all.heard() == "0");
    BOOST_TEST(all.open());
    auto const open = all.count_down(5);
    BOOST_TEST(open.valid);
    BOOST_TEST(!open.done);
    BOOST_TEST(all.value_of("L") == "-");
    BOOST_TEST(all.heard() == "");
}

BOOST_AUTO_TEST_CASE(set_to_zero_it_is_open_until_it_is_counted_down) {
    world all;
    BOOST_TEST(all.try_set(0, 1).done);
    BOOST_TEST(all.heard() == "1");
    BOOST_TEST(all.value_of("L") == "0");
    BOOST_TEST(all.open());
    BOOST_TEST(!all.try_set(5, 2).done);
    all.count_down(3);
    BOOST_TEST(all.value_of("L") == "-");
    BOOST_TEST(all.heard() == "");
}

BOOST_AUTO_TEST_CASE(a_repeated_request_counts_once) {
    world all;
    all.try_set(3, 1);
    all.count_down(2);
    all.later(50s);
    BOOST_TEST(all.count_down(2).valid);
    // It is remembered from its last repetition.
    all.later(50s);
    all.count_down(2);
    BOOST_TEST(all.value_of("L") == "2");
    all.count_down(3);
    all.count_down(4);
    all.try_set(9, 5);
    all.count_down(4);
    BOOST_TEST(all.value_of("L") == "9");
}

BOOST_AUTO_TEST_CASE(several_at_once_go_no_further_than_to_zero) {
    world all;
    all.try_set(5, 1);
    all.count_down(2, 3);
    BOOST_TEST(all.value_of("L") == "2");
    all.heard();
    BOOST_TEST(all.count_down(3, 7).done);
    BOOST_TEST(all.value_of("L") == "-");
    BOOST_TEST(all.heard() == "0");
}

BOOST_AUTO_TEST_SUITE_END()
