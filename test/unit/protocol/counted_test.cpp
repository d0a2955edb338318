// What a latch and a counting semaphore have in common: a number, and the marks of the requests
// that have changed it.

#include "protocol/counted.hpp"

#include "unit/calls.hpp"
#include "unit/protocol/on_model.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using holdfast::detail::holder_id;
using holdfast::detail::make_counting_semaphore_target;
using holdfast::test::on_model;
using holdfast::test::reply_of;
using holdfast::test::typed;

namespace counted = holdfast::detail::counted;

namespace {

auto const on = make_counting_semaphore_target("", "foo");
holder_id const id{"0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", 84};
holder_id const other_id{"0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", 86};
std::string const mark = "holdfast_done:{foo}:" + std::string{id.view()};

counted::request request(std::int64_t number, holder_id const& by = id) {
    return {on, by, number, 1min, 3s};
}

std::vector<counted::answered> answered() {
    auto const shared = std::make_shared<holdfast::detail::target const>(on);
    return {{shared, id}, {shared, other_id}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(counted_test)

BOOST_AUTO_TEST_CASE(the_calls_name_what_they_touch) {
    BOOST_TEST(
        typed(counted::try_set(request(3))) ==
        "counted.try_set 3 foo redisson_sc:{foo} " + mark + " 3 3 60000"
    );
    BOOST_TEST(typed(counted::read(on, 3s)) == "counted.read 1 foo");
    BOOST_TEST(
        typed(counted::forget(answered(), 3s)) ==
        "counted.forget 2 " + mark + " holdfast_done:{foo}:" + std::string{other_id.view()}
    );
}

BOOST_AUTO_TEST_CASE(what_the_answers_mean) {
    BOOST_TEST(!counted::read_request(reply_of()).valid);
    BOOST_TEST(!counted::read_request(reply_of(2)).valid);
    auto const refused = counted::read_request(reply_of(1, 0, 1));
    BOOST_TEST(refused.valid);
    BOOST_TEST(!refused.done);
    auto const done = counted::read_request(reply_of(1, 1, 0));
    BOOST_TEST(done.done);
    BOOST_TEST(!done.notified);
    BOOST_TEST((counted::read_number(on, reply_of(1, -4)) == -4));
    BOOST_TEST(!counted::read_number(on, reply_of(2)).has_value());
    BOOST_TEST(!counted::read_number(on, reply_of()).has_value());
}

BOOST_AUTO_TEST_CASE(a_number_is_set_once_and_a_repeated_request_is_told_so) {
    on_model server{on.channel()};
    auto const first = counted::read_request(server.run(counted::try_set(request(3))));
    BOOST_TEST(first.done);
    BOOST_TEST(server.value_of("foo") == "3");
    BOOST_TEST(server.heard() == "3");
    // The answer was lost.
    BOOST_TEST(counted::read_request(server.run(counted::try_set(request(3)))).done);
    BOOST_TEST(server.heard() == "");
    auto const second = counted::read_request(server.run(counted::try_set(request(5, other_id))));
    BOOST_TEST(second.valid);
    BOOST_TEST(!second.done);
    BOOST_TEST(server.value_of("foo") == "3");
    BOOST_TEST(server.heard() == "");
    BOOST_TEST(server.ask({"PTTL", "foo"}).number == -1);
    BOOST_TEST(server.ask({"PTTL", mark}).number == 60'000);
}

BOOST_AUTO_TEST_CASE(what_is_no_number_is_found_to_be_none) {
    on_model server{on.channel()};
    for (auto const* const wrong :
         {"a", "", "1.5", "007", "+1", " 1", "-0", "--1", "10000000000000000000"}) {
        server.ask({"SET", "foo", wrong});
        BOOST_TEST(!counted::read_number(on, server.run(counted::read(on, 3s))).has_value(), wrong);
        BOOST_TEST(!counted::read_request(server.run(counted::try_set(request(3)))).valid, wrong);
        BOOST_TEST(server.value_of("foo") == wrong);
    }
    for (auto const right : {0LL, 7LL, -7LL, 9'223'372'036'854'775'807LL}) {
        server.ask({"SET", "foo", std::to_string(right)});
        BOOST_TEST((counted::read_number(on, server.run(counted::read(on, 3s))) == right));
    }
    server.ask({"DEL", "foo"});
    BOOST_TEST((counted::read_number(on, server.run(counted::read(on, 3s))) == 0));
    server.ask({"HSET", "foo", "a", "b"});
    server.run(counted::read(on, 3s));
    BOOST_TEST(server.error.starts_with("WRONGTYPE"));
    server.run(counted::try_set(request(3)));
    BOOST_TEST(server.error.starts_with("WRONGTYPE"));
}

BOOST_AUTO_TEST_CASE(marks_that_are_not_needed_are_removed) {
    on_model server{on.channel()};
    server.run(counted::try_set(request(3)));
    server.run(counted::forget(answered(), 3s));
    BOOST_TEST(server.value_of(mark) == "-");
    BOOST_TEST(server.value_of("foo") == "3");
}

BOOST_AUTO_TEST_SUITE_END()
