// What the kinds of locks have in common that are a hash with the holder as its only field:
// renewals, and what the replies mean.

#include "protocol/hash_lock.hpp"

#include "protocol/fair_lock.hpp"
#include "protocol/lock.hpp"
#include "unit/calls.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <string>

using namespace std::chrono_literals;
using namespace std::string_literals;
using holdfast::fencing_token;
using holdfast::loss_reason;
using holdfast::detail::fair_lock_protocol;
using holdfast::detail::force_release_reply;
using holdfast::detail::holder_id;
using holdfast::detail::lock_protocol;
using holdfast::detail::lock_reading;
using holdfast::detail::make_fair_lock_target;
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

BOOST_AUTO_TEST_SUITE(hash_lock_test)

BOOST_AUTO_TEST_CASE(a_renewal_is_the_same_for_each_kind) {
    auto const fair = make_fair_lock_target("", "foo");
    auto const expected = "lock.renew 1 foo 30000 " + holder + " 0 0 0 0 0 0";
    primitive::renewal const plain{.on = on, .id = id, .lease = 30s, .timeout = 3s};
    primitive::renewal const in_turn{.on = fair, .id = id, .lease = 30s, .timeout = 3s};
    BOOST_TEST(typed(lock_protocol().renew(plain)) == expected);
    BOOST_TEST(typed(fair_lock_protocol().renew(in_turn)) == expected);
}

BOOST_AUTO_TEST_CASE(the_answers_to_a_renewal_and_to_a_release) {
    auto const& speaks = lock_protocol();
    struct {
        script_reply reply;
        loss_reason lost;
    } const table[] = {
        {reply_of(1), loss_reason::none},
        {reply_of(0, 1), loss_reason::taken},
        {reply_of(0, 0), loss_reason::deleted},
    };
    for (auto const& row : table) {
        auto const renewed = speaks.read_renew(row.reply);
        BOOST_TEST(renewed.lost == row.lost);
        // That another holder has it is no number of tokens.
        BOOST_TEST((row.lost == loss_reason::none || renewed.token == fencing_token{}));
        BOOST_TEST(speaks.read_release(row.reply).lost == row.lost);
    }
    BOOST_TEST(speaks.read_release(reply_of(1, 1)).notified);
    BOOST_TEST(!speaks.read_release(reply_of(1, 0)).notified);
    // Nothing but `1` says that the lock is ours.
    for (auto const& reply : strange) {
        BOOST_TEST(speaks.read_renew(reply).lost != loss_reason::none);
        BOOST_TEST(speaks.read_release(reply).lost != loss_reason::none);
    }
}

BOOST_AUTO_TEST_CASE(several_renewals_name_their_locks_first) {
    auto const other = make_lock_target("", "bar");
    holder_id const second{"0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", 85};
    std::array const all{
        primitive::member{&on, id, 30s},
        primitive::member{&other, second, 7s},
    };
    auto const sent = lock_protocol().renew_many(all, 3s);
    BOOST_TEST(
        typed(sent) ==
        "lock.renew_many 2 foo bar 30000 " + holder + " 7000 " + std::string{second.view()}
    );
    BOOST_TEST((sent.timeout() == 3s));
}

BOOST_AUTO_TEST_CASE(the_answers_to_several_renewals) {
    auto const& speaks = lock_protocol();
    auto const reply = reply_of("1029");
    BOOST_TEST(speaks.read_renew_many(reply, 0).value() == loss_reason::none);
    BOOST_TEST(speaks.read_renew_many(reply, 1).value() == loss_reason::deleted);
    BOOST_TEST(speaks.read_renew_many(reply, 2).value() == loss_reason::taken);
    BOOST_TEST(!speaks.read_renew_many(reply, 3).has_value());
    // One that is too short.
    BOOST_TEST(!speaks.read_renew_many(reply, 4).has_value());
    for (auto const& other : {script_reply{}, reply_of(), reply_of("x1"s), reply_of(lowest)}) {
        BOOST_TEST(!speaks.read_renew_many(other, 0).has_value());
    }
}

BOOST_AUTO_TEST_CASE(the_answers_to_an_inspection) {
    auto const held = lock_protocol().read_inspect(reply_of(9'000, 41, 3, 2, holder));
    BOOST_TEST((held.what == lock_reading::kind::held));
    BOOST_TEST((held.remaining == 9s));
    BOOST_TEST(held.holder == holder);
    BOOST_TEST(held.hold_count == 2U);
    BOOST_TEST(held.last_token == 41U);
    BOOST_TEST(held.waiting == 3U);

    auto const endless = lock_protocol().read_inspect(reply_of(-1, 0, 0, 1, holder));
    BOOST_TEST((endless.what == lock_reading::kind::held));
    BOOST_TEST(!endless.remaining.has_value());
    BOOST_TEST(endless.last_token == 0U);

    auto const free = lock_protocol().read_inspect(reply_of(-2, 7));
    BOOST_TEST((free.what == lock_reading::kind::free));
    BOOST_TEST(free.last_token == 7U);
    BOOST_TEST(free.holder.empty());

    for (auto const& reply : {reply_of(-3), reply_of(), reply_of("many"s)}) {
        BOOST_TEST((lock_protocol().read_inspect(reply).what == lock_reading::kind::corrupt));
    }
    // What is no number counts as none.
    auto const odd = lock_protocol().read_inspect(reply_of(1, "many", "-1"));
    BOOST_TEST(odd.last_token == 0U);
    BOOST_TEST(odd.hold_count == 0U);
}

BOOST_AUTO_TEST_CASE(the_answers_to_a_forced_release) {
    using kind = force_release_reply::kind;
    BOOST_TEST((lock_protocol().read_force_release(reply_of(0)).what == kind::was_free));
    auto const freed = lock_protocol().read_force_release(reply_of(1, 1));
    BOOST_TEST((freed.what == kind::freed));
    BOOST_TEST(freed.notified);
    BOOST_TEST(!lock_protocol().read_force_release(reply_of(1, 0)).notified);
    BOOST_TEST((lock_protocol().read_force_release(reply_of(2)).what == kind::corrupt));
    for (auto const& reply : strange) {
        BOOST_TEST((lock_protocol().read_force_release(reply).what == kind::corrupt));
    }
}

BOOST_AUTO_TEST_SUITE_END()
