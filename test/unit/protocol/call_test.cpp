// One execution of a script: its words stay what they were, also after a copy.

#include "protocol/call.hpp"

#include "protocol/lock.hpp"
#include "unit/calls.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using holdfast::detail::call;
using holdfast::detail::make_lock_target;
using holdfast::detail::script;
using holdfast::detail::slot_of;
using holdfast::test::typed;

namespace {
constexpr script example{"example", "return 1", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"};
}

BOOST_AUTO_TEST_SUITE(call_test)

BOOST_AUTO_TEST_CASE(keys_are_counted_and_arguments_follow_them) {
    call sent{example, 3s};
    BOOST_TEST(typed(sent) == "example 0");
    sent.key("a").key("b").arg("c").arg(std::int64_t{-7});
    BOOST_TEST(typed(sent) == "example 2 a b c -7");
    BOOST_TEST(sent.keys() == 2U);
    BOOST_TEST(sent.size() == 4U);
    BOOST_TEST((sent.timeout() == 3s));
    BOOST_TEST(sent.what().sha1 == example.sha1);
}

BOOST_AUTO_TEST_CASE(its_slot_is_that_of_its_keys) {
    auto const on = make_lock_target("", "foo");
    call by_target{example, 3s};
    by_target.key_of(on).key("{foo}:counter");
    BOOST_TEST(typed(by_target) == "example 2 foo {foo}:counter");
    BOOST_TEST(by_target.slot() == slot_of("foo"));
    call by_name{example, 3s};
    by_name.key("bar").key("{bar}:counter");
    BOOST_TEST(by_name.slot() == slot_of("bar"));
}

BOOST_AUTO_TEST_CASE(room_that_was_made_changes_nothing) {
    call sent{example, 3s};
    sent.reserve(300, 10'000);
    BOOST_TEST(typed(sent) == "example 0");
    sent.key("a").arg("b");
    BOOST_TEST(typed(sent) == "example 1 a b");
}

BOOST_AUTO_TEST_CASE(words_may_be_empty_or_hold_any_bytes) {
    call sent{example, 1s};
    sent.key(""sv).key("n\0l"sv).arg(""sv).arg("\r\n"sv);
    BOOST_TEST(sent.size() == 4U);
    BOOST_TEST(sent.word(0) == ""sv);
    BOOST_TEST(sent.word(1) == "n\0l"sv);
    BOOST_TEST(sent.word(2) == ""sv);
    BOOST_TEST(sent.word(3) == "\r\n"sv);
}

BOOST_AUTO_TEST_CASE(numbers_of_any_size_fit) {
    call sent{example, 1s};
    sent.arg(std::numeric_limits<std::int64_t>::min())
        .arg(std::numeric_limits<std::int64_t>::max());
    BOOST_TEST(typed(sent) == "example 0 -9223372036854775808 9223372036854775807");
}

BOOST_AUTO_TEST_CASE(a_copy_has_words_of_its_own) {
    call first{example, 1s};
    for (std::size_t i = 0; i < 20; ++i) {
        first.arg(static_cast<std::int64_t>(i));
    }
    auto second = first;
    second.arg("more");
    BOOST_TEST(first.size() == 20U);
    BOOST_TEST(first.word(19) == "19");
    BOOST_TEST(second.word(20) == "more");
}

BOOST_AUTO_TEST_SUITE_END()
