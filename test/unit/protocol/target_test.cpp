// When two targets are the same lock, and how a name is shown.

#include "protocol/target.hpp"

#include "protocol/lock.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>

using holdfast::detail::escaped;
using holdfast::detail::make_lock_target;
using holdfast::detail::may_share_a_call;
using holdfast::detail::slot_of;
using holdfast::detail::target;
using holdfast::detail::target_key;
using holdfast::detail::target_key_hash;
using holdfast::detail::target_kind;
using namespace std::string_view_literals;

BOOST_AUTO_TEST_SUITE(target_test)

BOOST_AUTO_TEST_CASE(targets_of_one_name_are_equal_whichever_object_names_it) {
    auto const one = make_lock_target("app:", "foo");
    auto const same = make_lock_target("", "app:foo");
    auto const other = make_lock_target("", "foo");
    BOOST_TEST((target_key{one} == target_key{same}));
    BOOST_TEST(target_key_hash{}(target_key{one}) == target_key_hash{}(target_key{same}));
    BOOST_TEST(!(target_key{one} == target_key{other}));
    target_key const of_name{target_kind::lock, "app:foo"};
    BOOST_TEST((target_key{one} == of_name));
    BOOST_TEST(target_key_hash{}(target_key{one}) == target_key_hash{}(of_name));
}

BOOST_AUTO_TEST_CASE(a_target_knows_its_slot) {
    BOOST_TEST(make_lock_target("app:", "foo").slot == slot_of("app:foo"));
    BOOST_TEST(make_lock_target("app:", "{foo}bar").slot == slot_of("foo"));
}

BOOST_AUTO_TEST_CASE(locks_of_one_protocol_may_share_a_call) {
    auto const one = make_lock_target("", "foo");
    auto other = make_lock_target("", "bar");
    BOOST_TEST(may_share_a_call(one, other));
    other.speaks = nullptr;
    BOOST_TEST(!may_share_a_call(one, other));
}

BOOST_AUTO_TEST_CASE(a_target_without_a_name_is_not_valid) {
    BOOST_TEST(!target{}.valid());
    BOOST_TEST(make_lock_target("", "foo").valid());
}

BOOST_AUTO_TEST_CASE(a_name_in_a_log_is_printable_and_short) {
    BOOST_TEST(escaped("plain:name{1}") == "plain:name{1}");
    BOOST_TEST(escaped("a\r\nb\0c\x7f\xc3\\"sv) == "a\\x0d\\x0ab\\x00c\\x7f\\xc3\\x5c");
    BOOST_TEST(escaped(std::string(64, 'n')) == std::string(64, 'n'));
    BOOST_TEST(escaped(std::string(512, 'n')) == std::string(64, 'n') + "…");
}

BOOST_AUTO_TEST_SUITE_END()
