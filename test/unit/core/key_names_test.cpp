// The names of a lock's keys and channel: the golden names of Redisson, which names are refused,
// and that no two names share a lock key.

#include "core/key_names.hpp"

#include "core/lease_terms.hpp"

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>
#include <string_view>

using holdfast::detail::escaped;
using holdfast::detail::make_key_names;
using holdfast::detail::max_name_length;
using namespace std::string_view_literals;

BOOST_AUTO_TEST_SUITE(key_names_test)

BOOST_AUTO_TEST_CASE(names_are_those_of_redisson) {
    struct {
        std::string_view name, counter, channel;
    } const table[] = {
        {"foo", "redisson_lock_token:{foo}", "redisson_lock__channel:{foo}"},
        {"a{b}", "redisson_lock_token:a{b}", "redisson_lock__channel:a{b}"},
        {"a{b}c", "redisson_lock_token:a{b}c", "redisson_lock__channel:a{b}c"},
        {"a{b", "redisson_lock_token:a{b", "redisson_lock__channel:a{b"},
        {"{a", "redisson_lock_token:{a", "redisson_lock__channel:{a"},
        {"{}foo", "redisson_lock_token:{}foo", "redisson_lock__channel:{}foo"},
        {"}{", "redisson_lock_token:}{", "redisson_lock__channel:}{"},
        // Only an opening brace makes a tag.
        {"a}", "redisson_lock_token:{a}}", "redisson_lock__channel:{a}}"},
        {"a}b", "redisson_lock_token:{a}b}", "redisson_lock__channel:{a}b}"},
        {"stock:7:apple",
         "redisson_lock_token:{stock:7:apple}",
         "redisson_lock__channel:{stock:7:apple}"},
        {"a*?[b]", "redisson_lock_token:{a*?[b]}", "redisson_lock__channel:{a*?[b]}"},
        {"n\0l\r\n\xff"sv,
         "redisson_lock_token:{n\0l\r\n\xff}"sv,
         "redisson_lock__channel:{n\0l\r\n\xff}"sv},
    };
    for (auto const& row : table) {
        auto const keys = make_key_names("", row.name);
        BOOST_TEST(keys.valid());
        BOOST_TEST(keys.lock == row.name);
        BOOST_TEST(keys.counter == row.counter);
        BOOST_TEST(keys.channel == row.channel);
    }
}

BOOST_AUTO_TEST_CASE(a_prefix_is_part_of_the_name) {
    auto const keys = make_key_names("app:", "foo");
    BOOST_TEST(keys.lock == "app:foo");
    BOOST_TEST(keys.counter == "redisson_lock_token:{app:foo}");
    BOOST_TEST(make_key_names("{app}:", "foo").channel == "redisson_lock__channel:{app}:foo");
}

BOOST_AUTO_TEST_CASE(a_name_has_from_1_to_512_bytes_with_its_prefix) {
    BOOST_TEST(!make_key_names("", "").valid());
    BOOST_TEST(!make_key_names("prefix", "").valid());
    BOOST_TEST(make_key_names("", "a").valid());
    BOOST_TEST(make_key_names("", std::string(max_name_length, 'n')).valid());
    BOOST_TEST(!make_key_names("", std::string(max_name_length + 1, 'n')).valid());
    BOOST_TEST(make_key_names("pp", std::string(max_name_length - 2, 'n')).valid());
    BOOST_TEST(!make_key_names("pp", std::string(max_name_length - 1, 'n')).valid());
    BOOST_TEST(!make_key_names(std::string(max_name_length, 'p'), "n").valid());
}

BOOST_AUTO_TEST_CASE(no_two_names_share_a_lock_key) {
    std::set<std::string> locks;
    constexpr std::string_view names[] = {
        "foo",
        "{foo}",
        "foo{",
        "foo}",
        "{}foo",
        "}{",
        "a}b",
        "{a",
        "a}",
        "foo:rw",
        "redisson_lock_token:{foo}",
        "redisson_lock__channel:{foo}",
        " foo",
        "foo ",
        "FOO"
    };
    for (auto const name : names) {
        BOOST_TEST(locks.insert(make_key_names("", name).lock).second);
    }
}

BOOST_AUTO_TEST_CASE(a_name_in_a_log_is_printable_and_short) {
    BOOST_TEST(escaped("plain:name{1}") == "plain:name{1}");
    BOOST_TEST(escaped("a\r\nb\0c\x7f\xc3\\"sv) == "a\\x0d\\x0ab\\x00c\\x7f\\xc3\\x5c");
    BOOST_TEST(escaped(std::string(64, 'n')) == std::string(64, 'n'));
    BOOST_TEST(escaped(std::string(512, 'n')) == std::string(64, 'n') + "…");
}

BOOST_AUTO_TEST_SUITE_END()
