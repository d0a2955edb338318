// How the library speaks of a semaphore: the names of Redisson, which script gets which keys and
// arguments, what the replies mean, and what the scripts leave behind: the golden vectors that were
// recorded of Redisson.

#include "protocol/semaphore.hpp"

#include "memory_server/redis_model.hpp"
#include "unit/calls.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using holdfast::fencing_token;
using holdfast::loss_reason;
using holdfast::test::reply_of;
using holdfast::test::typed;
using namespace holdfast::detail;

namespace {

auto const on = make_semaphore_target("", "foo");
auto const two = with_permits(on, 2);
holder_id const id{"0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", 84};
std::string const holder{id.view()};

std::string const queue_keys = "holdfast_semaphore_queue:{foo} holdfast_semaphore_heard:{foo}";
std::string const turns = "holdfast_semaphore_turns:{foo}";
std::string const acquire_keys =
    "foo {foo}:timeout redisson_sc:{foo} "
    "holdfast_semaphore_token:{foo} " +
    queue_keys + " " + turns + " {foo}:holdfast_limit";
std::string const other_keys =
    "foo {foo}:timeout redisson_sc:{foo} " + queue_keys + " " + turns + " {foo}:holdfast_limit";

std::string permit(std::uint32_t index) {
    return std::string{permit_id{id, index}.view()};
}

primitive::attempt attempt(target const& which, std::chrono::milliseconds window) {
    return {
        .on = which,
        .id = id,
        .lease = 30s,
        .counter_ttl = 1h,
        .timeout = 3s,
        .window = window,
        .patience = 2s,
    };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(semaphore_test)

BOOST_AUTO_TEST_CASE(names_are_those_of_redisson) {
    BOOST_TEST((on.kind == target_kind::semaphore));
    BOOST_TEST(on.lock == "foo");
    BOOST_TEST(on.permits == 1U);
    auto const tagged = make_semaphore_target("p:", "a{b}c");
    BOOST_TEST(tagged.lock == "p:a{b}c");
    BOOST_TEST(tagged.channel() == "redisson_sc:p:a{b}c");
    auto const sent = semaphore_protocol().acquire(attempt(tagged, 0ms));
    BOOST_TEST(sent.word(1) == "p:a{b}c:timeout");
    BOOST_TEST(!make_semaphore_target("", "").valid());
}

BOOST_AUTO_TEST_CASE(those_who_want_different_numbers_wait_apart) {
    BOOST_TEST((target_key{on} != target_key{two}));
    BOOST_TEST(with_permits(on, 0).permits == 0U);
    BOOST_TEST(with_permits(on, -1).permits == 0U);
    BOOST_TEST(with_permits(on, most_permits).permits == 1000U);
    BOOST_TEST(with_permits(on, most_permits + 1).permits == 0U);
    BOOST_TEST(with_limit(on, 5).limit == 5);
    BOOST_TEST(with_limit(on, greatest_limit).limit == greatest_limit);
    for (std::int64_t const wrong : {std::int64_t{0}, std::int64_t{-7}, greatest_limit + 1}) {
        BOOST_TEST(with_limit(on, wrong).limit == target::wrong_limit);
    }
    BOOST_TEST((target_key{on} == target_key{with_limit(on, 5)}));
    BOOST_TEST((semaphore_protocol().queues() == primitive::places::kept));
    BOOST_TEST(semaphore_protocol().is_shared());
    BOOST_TEST(semaphore_protocol().names_turns());
}

BOOST_AUTO_TEST_CASE(the_permits_of_a_holder_have_16_bytes_and_are_always_the_same) {
    std::set<std::string> all;
    for (std::uint64_t number = 0; number < 40; ++number) {
        holder_id const one{"0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", number << 1U};
        holder_id const upper{"0F4B1C5E-7A3D-4E8B-9C21-D5A6F7E80123", number << 1U};
        for (std::uint32_t index : {0U, 1U, 2U, 255U, 256U, 999U}) {
            all.insert(std::string{permit_id{one, index}.view()});
            BOOST_TEST((permit_id{one, index}.view() == permit_id{upper, index}.view()));
        }
    }
    BOOST_TEST(all.size() == 240U);
    BOOST_TEST(permit(0).size() == 16U);
    BOOST_TEST(permit(0) == permit(0));
    holder_id const zero{"0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", 0};
    std::string const client{
        "\x0f\x4b\x1c\x5e\x7a\x3d\x4e\x8b\x9c\x21\xd5\xa6\xf7\xe8\x01\x23",
        16
    };
    BOOST_TEST((permit_id{zero, 0}.view() == client));
}

BOOST_AUTO_TEST_CASE(the_calls_name_what_they_touch) {
    auto const& speaks = semaphore_protocol();
    BOOST_TEST(
        typed(speaks.acquire(attempt(on, 0ms))) == "semaphore.acquire 8 " + acquire_keys + " 1 " +
                                                       holder + " 30000 3600000 0 2000 0 0 0 0 " +
                                                       permit(0)
    );
    auto waits = attempt(two, 2s);
    waits.preflight = true;
    waits.limit = 5;
    waits.learned = primitive::learning{1s, 20};
    auto const learned = "semaphore.acquire 9 " + acquire_keys +
                         " holdfast_semaphore_hold:{foo} 2 " + holder +
                         " 30000 3600000 1 2000 1 5 1000 20 " + permit(0) + " " + permit(1);
    BOOST_TEST(typed(speaks.acquire(waits)) == learned);
    BOOST_TEST(
        typed(speaks.renew({.on = two, .id = id, .lease = 30s, .timeout = 3s})) ==
        "semaphore.renew 7 " + other_keys + " 30000 2 " + permit(0) + " " + permit(1)
    );
    BOOST_TEST(
        typed(speaks.release({.on = on, .id = id, .timeout = 3s})) ==
        "semaphore.release 7 " + other_keys + " 1 " + holder + " 0 0 0 " + permit(0)
    );
    BOOST_TEST(
        typed(speaks.release(
            {.on = on, .id = id, .timeout = 3s, .window = 2s, .held = {3, 50us}, .patience = 2s}
        )) == "semaphore.release 8 " + other_keys + " holdfast_semaphore_hold:{foo} 1 " + holder +
                  " 1 3 50 " + permit(0)
    );
    BOOST_TEST(
        typed(speaks.inspect(on, 3s, true)) ==
        "semaphore.inspect 5 foo {foo}:timeout " + queue_keys + " {foo}:holdfast_limit"
    );
    BOOST_TEST(
        typed(speaks.force_release(on, 3s, 2s)) == "semaphore.force_release 7 " + other_keys
    );
    BOOST_TEST(typed(set_permits(on, 10, 3s)) == "semaphore.set_permits 7 " + other_keys + " 10");

    primitive::member const members[] = {{&on, id, 30s}, {&two, id, 10s}};
    BOOST_TEST(
        typed(speaks.renew_many(members, 3s)) ==
        "semaphore.renew_many 4 {foo}:timeout {foo}:holdfast_limit {foo}:timeout "
        "{foo}:holdfast_limit 30000 1 " +
            permit(0) + " 10000 2 " + permit(0) + " " + permit(1)
    );
}

BOOST_AUTO_TEST_CASE(the_answers_to_an_attempt) {
    using kind = attempt_reply::kind;
    auto const& speaks = semaphore_protocol();
    auto const granted = speaks.read_acquire(reply_of(1, 1'234, 1, 0, 0, 5, 0));
    BOOST_TEST((granted.what == kind::granted));
    BOOST_TEST((granted.token == fencing_token{1'234}));
    BOOST_TEST((granted.learned.lease == 0ms));
    BOOST_TEST((granted.limit == 5));
    BOOST_TEST(granted.found_permits == 0);
    BOOST_TEST(granted.notified);
    BOOST_TEST(!speaks.read_acquire(reply_of(1, 1'234, 1, 0, 0, 5, 0, 0)).notified);
    BOOST_TEST(!speaks.read_acquire(reply_of(1, 1'234, 1, 0, 0, "-", 0)).limit.has_value());

    auto const queued = speaks.read_acquire(reply_of(0, 500, 1'600'000, 1'700'000, 0, -4, 3));
    BOOST_TEST((queued.limit == -4));
    BOOST_TEST(queued.found_permits == 3);
    BOOST_TEST((queued.what == kind::busy));
    BOOST_TEST((queued.remaining == 500ms));
    BOOST_TEST(!queued.endless);
    BOOST_REQUIRE(queued.place.has_value());
    BOOST_TEST(queued.place->server_time == 1'700'000U);
    BOOST_TEST(!speaks.read_acquire(reply_of(0, 500, 0, 0, 0)).place.has_value());

    auto const too_much = speaks.read_acquire(reply_of(3, 0, 0, 0, 0, 2, 0));
    BOOST_TEST((too_much.what == kind::too_much));
    BOOST_TEST((too_much.limit == 2));
    BOOST_TEST((speaks.read_acquire(reply_of(4)).what == kind::no_limit));
    BOOST_TEST(!speaks.read_acquire(reply_of(4)).limit.has_value());
    BOOST_TEST((speaks.read_acquire(reply_of(2)).what == kind::corrupt));
    BOOST_TEST((speaks.read_acquire(reply_of()).what == kind::corrupt));
}

BOOST_AUTO_TEST_CASE(the_other_answers) {
    auto const& speaks = semaphore_protocol();
    BOOST_TEST((speaks.read_renew(reply_of(1)).lost == loss_reason::none));
    BOOST_TEST((speaks.read_renew(reply_of(0, 0)).lost == loss_reason::deleted));
    BOOST_TEST((speaks.read_renew_many(reply_of("19"), 0) == loss_reason::none));
    BOOST_TEST(!speaks.read_renew_many(reply_of("19"), 1).has_value());
    BOOST_TEST((speaks.read_release(reply_of(1, 1)).lost == loss_reason::none));
    BOOST_TEST(speaks.read_release(reply_of(1, 1)).notified);
    BOOST_TEST(!speaks.read_release(reply_of(1, 0)).notified);
    BOOST_TEST(speaks.read_release(reply_of(0, 0)).notified);
    BOOST_TEST(!speaks.read_release(reply_of(0, 0, 0)).notified);
    BOOST_TEST((speaks.read_release(reply_of(0, 0)).lost == loss_reason::deleted));
    BOOST_TEST((speaks.read_force_release(reply_of(1, 1)).what == force_release_reply::kind::freed)
    );

    using kind = semaphore_reading::kind;
    auto const known = read_semaphore(reply_of(1, -2, 5, 3, 4));
    BOOST_TEST(known.limit == 4);
    BOOST_TEST((known.what == kind::set));
    BOOST_TEST(known.available == -2);
    BOOST_TEST(known.acquired == 5);
    BOOST_TEST(known.waiting == 3U);
    BOOST_TEST((read_semaphore(reply_of(0, 0, 0, 1)).what == kind::unset));
    BOOST_TEST((read_semaphore(reply_of(2)).what == kind::corrupt));
    BOOST_TEST((read_semaphore(reply_of()).what == kind::corrupt));
    BOOST_TEST((speaks.read_inspect(reply_of(1, 1, 1, 0)).what == lock_reading::kind::held));
    BOOST_TEST((speaks.read_inspect(reply_of(1, 1, 0, 0)).what == lock_reading::kind::free));
    BOOST_TEST((speaks.read_inspect(reply_of(2)).what == lock_reading::kind::corrupt));

    BOOST_TEST((read_set_permits(reply_of(0)) == set_permits_reply::was_set));
    BOOST_TEST((read_set_permits(reply_of(1, 1)) == set_permits_reply::set_now));
    BOOST_TEST((read_set_permits(reply_of(1, 0)) == set_permits_reply::set_silently));
    BOOST_TEST((read_set_permits(reply_of(3)) == set_permits_reply::other_limit));
    BOOST_TEST((read_set_permits(reply_of()) == set_permits_reply::corrupt));
}

BOOST_AUTO_TEST_SUITE_END()
