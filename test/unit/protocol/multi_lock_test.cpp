// One script for several locks: its keys and arguments, and what its reply means for each of them.

#include "protocol/multi_lock.hpp"

#include "protocol/fair_lock.hpp"
#include "protocol/lock.hpp"
#include "unit/calls.hpp"

#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <string>
#include <vector>

using namespace std::chrono_literals;
using holdfast::detail::acquire_together;
using holdfast::detail::attempt_reply;
using holdfast::detail::holder_id;
using holdfast::detail::lock_protocol;
using holdfast::detail::make_fair_lock_target;
using holdfast::detail::make_lock_target;
using holdfast::detail::may_be_taken_together;
using holdfast::detail::primitive;
using holdfast::detail::reply_to;
using holdfast::detail::script_reply;
using holdfast::test::reply_of;
using holdfast::test::typed;

namespace {

std::string const client = "0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123";
auto const a = make_lock_target("", "a");
auto const b = make_lock_target("", "b");
holder_id const first{client, 84};
holder_id const second{client, 96};

std::vector<primitive::attempt> attempts(bool hand_over) {
    auto const attempt = [&](auto const& on, auto const& id) {
        return primitive::attempt{
            .on = on,
            .id = id,
            .lease = 30s,
            .counter_ttl = 1h,
            .timeout = 3s,
            .hand_over = hand_over,
        };
    };
    return {attempt(a, first), attempt(b, second)};
}

attempt_reply read(script_reply const& reply, std::size_t number) {
    return lock_protocol().read_acquire(reply_to(reply, number));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_lock_test)

BOOST_AUTO_TEST_CASE(plain_locks_are_taken_together_and_nothing_else) {
    auto const fair = make_fair_lock_target("", "a");
    BOOST_TEST(may_be_taken_together(a, b));
    BOOST_TEST(!may_be_taken_together(a, fair));
    BOOST_TEST(!may_be_taken_together(fair, a));
    BOOST_TEST(!may_be_taken_together(fair, fair));
}

BOOST_AUTO_TEST_CASE(the_call_has_the_keys_of_each_lock_and_its_holder_id) {
    auto const rest = fmt::format(" 30000 3600000 {} {}", first.view(), second.view());
    BOOST_TEST(
        typed(acquire_together(attempts(true))) ==
        "multi_lock.acquire 6 a redisson_lock_token:{a} holdfast_queue:{a} b "
        "redisson_lock_token:{b} holdfast_queue:{b}" +
            rest
    );
    BOOST_TEST(
        typed(acquire_together(attempts(false))) ==
        "multi_lock.acquire 4 a redisson_lock_token:{a} b redisson_lock_token:{b}" + rest
    );
    BOOST_TEST((acquire_together(attempts(true)).timeout() == 3s));
}

BOOST_AUTO_TEST_CASE(a_grant_has_a_token_for_each) {
    auto const reply = reply_of(1, 41, 57);
    BOOST_TEST((read(reply, 0).what == attempt_reply::kind::granted));
    BOOST_TEST(read(reply, 0).token.value == 41U);
    BOOST_TEST(read(reply, 1).token.value == 57U);
    BOOST_TEST(reply_to(reply, 1).nonce() == "nonce");
}

BOOST_AUTO_TEST_CASE(one_that_is_refused_is_refused_for_all) {
    for (std::size_t const number : {0U, 1U}) {
        auto const said = read(reply_of(0, 1), number);
        BOOST_TEST((said.what == attempt_reply::kind::busy));
        BOOST_TEST(!said.place);
        BOOST_TEST(!said.orphan);
    }
}

BOOST_AUTO_TEST_CASE(the_one_that_is_no_lock_is_told_so) {
    auto const reply = reply_of(2, 1);
    BOOST_TEST((read(reply, 0).what == attempt_reply::kind::busy));
    BOOST_TEST((read(reply, 1).what == attempt_reply::kind::corrupt));
}

BOOST_AUTO_TEST_CASE(a_reply_that_no_script_of_ours_sends_grants_nothing) {
    for (auto const& reply : {script_reply{}, reply_of(), reply_of("x"), reply_of(3, 0)}) {
        BOOST_TEST((read(reply, 0).what != attempt_reply::kind::granted));
    }
}

BOOST_AUTO_TEST_SUITE_END()
