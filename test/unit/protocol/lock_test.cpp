// How the library speaks of a lock: the golden names of Redisson, which script gets which keys and
// arguments, and what each reply means, also one that no script of ours sends.

#include "protocol/lock.hpp"

#include "core/lease_terms.hpp"
#include "unit/calls.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace std::string_view_literals;
using holdfast::fencing_token;
using holdfast::detail::attempt_reply;
using holdfast::detail::holder_id;
using holdfast::detail::lock_protocol;
using holdfast::detail::make_lock_target;
using holdfast::detail::primitive;
using holdfast::detail::script_reply;
using holdfast::test::reply_of;
using holdfast::test::typed;

namespace {

auto const on = make_lock_target("", "foo");
holder_id const id{"0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", 84};
std::string const holder{id.view()};

constexpr auto lowest = std::numeric_limits<std::int64_t>::min();

// Replies with too few words, and with others.
script_reply const strange[] = {
    {},
    reply_of(),
    reply_of("one"s),
    reply_of("1x"s),
    reply_of(""s, ""s),
    reply_of(lowest),
    reply_of(99, 1),
};

}  // namespace

BOOST_AUTO_TEST_SUITE(lock_test)

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
        auto const keys = make_lock_target("", row.name);
        BOOST_TEST(keys.valid());
        BOOST_TEST(keys.lock == row.name);
        BOOST_TEST(keys.counter() == row.counter);
        BOOST_TEST(keys.channel() == row.channel);
    }
}

BOOST_AUTO_TEST_CASE(a_prefix_is_part_of_the_name) {
    auto const keys = make_lock_target("app:", "foo");
    BOOST_TEST(keys.lock == "app:foo");
    BOOST_TEST(keys.counter() == "redisson_lock_token:{app:foo}");
    BOOST_TEST(make_lock_target("{app}:", "foo").channel() == "redisson_lock__channel:{app}:foo");
}

BOOST_AUTO_TEST_CASE(an_attempt_names_lock_and_counter_and_what_it_asks_for) {
    auto const sent = lock_protocol().acquire(
        {.on = on, .id = id, .lease = 30s, .counter_ttl = 24h, .preflight = false, .timeout = 3s}
    );
    BOOST_TEST(
        typed(sent) ==
        "lock.acquire 2 foo redisson_lock_token:{foo} 30000 " + holder + " 86400000 1 0 0 0 0 0"
    );
    BOOST_TEST((sent.timeout() == 3s));
}

BOOST_AUTO_TEST_CASE(a_preflight_names_the_channel_as_well) {
    auto const sent = lock_protocol().acquire(
        {.on = on, .id = id, .lease = 1s, .counter_ttl = 0ms, .preflight = true, .timeout = 1s}
    );
    BOOST_TEST(
        typed(sent) ==
        "lock.acquire 3 foo redisson_lock_token:{foo} redisson_lock__channel:{foo} 1000 " + holder +
            " 0 1 0 0 1 0 0"
    );
}

BOOST_AUTO_TEST_CASE(the_other_calls_name_what_they_touch) {
    auto const& speaks = lock_protocol();
    BOOST_TEST(
        typed(speaks.renew({.on = on, .id = id, .lease = 30s, .timeout = 3s})) ==
        "lock.renew 1 foo 30000 " + holder + " 0 0 0 0 0 0"
    );
    BOOST_TEST(
        typed(speaks.release({.on = on, .id = id, .timeout = 3s})) ==
        "lock.release 2 foo redisson_lock__channel:{foo} " + holder + "   0 0 0 0"
    );
    BOOST_TEST(
        typed(speaks.inspect(on, 3s, false)) == "lock.inspect 2 foo redisson_lock_token:{foo}"
    );
    BOOST_TEST(
        typed(speaks.force_release(on, 3s, 2s)) ==
        "lock.force_release 2 foo redisson_lock__channel:{foo}"
    );
    BOOST_TEST((speaks.renew({.on = on, .id = id, .lease = 30s, .timeout = 5s}).timeout() == 5s));
    BOOST_TEST((speaks.release({.on = on, .id = id, .timeout = 6s}).timeout() == 6s));
    BOOST_TEST((speaks.inspect(on, 7s, false).timeout() == 7s));
    BOOST_TEST((speaks.force_release(on, 8s, 2s).timeout() == 8s));
}

BOOST_AUTO_TEST_CASE(the_answers_to_an_attempt) {
    auto const& speaks = lock_protocol();
    auto const granted = speaks.read_acquire(reply_of(1, 1'234));
    BOOST_TEST((granted.what == attempt_reply::kind::granted));
    BOOST_TEST((granted.token == fencing_token{1'234}));

    auto const busy = speaks.read_acquire(reply_of(0, 250));
    BOOST_TEST((busy.what == attempt_reply::kind::busy));
    BOOST_TEST((busy.remaining == 250ms));
    // A key without an end.
    auto const endless = speaks.read_acquire(reply_of(0, -1));
    BOOST_TEST((endless.what == attempt_reply::kind::busy));
    BOOST_TEST(!endless.remaining.has_value());
    BOOST_TEST(!speaks.read_acquire(reply_of(0)).remaining.has_value());

    auto const corrupt = speaks.read_acquire(reply_of(2));
    BOOST_TEST((corrupt.what == attempt_reply::kind::corrupt));
    for (auto const& reply : strange) {
        BOOST_TEST((speaks.read_acquire(reply).what == attempt_reply::kind::corrupt));
    }
}

BOOST_AUTO_TEST_SUITE_END()
