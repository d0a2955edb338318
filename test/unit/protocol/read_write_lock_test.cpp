// How the library speaks of a read/write lock: the names of Redisson, and which script gets which
// keys and arguments.

#include "protocol/read_write_lock.hpp"

#include "unit/calls.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using holdfast::fencing_token;
using holdfast::loss_reason;
using holdfast::detail::attempt_reply;
using holdfast::detail::holder_id;
using holdfast::detail::lock_reading;
using holdfast::detail::make_read_lock_target;
using holdfast::detail::make_write_lock_target;
using holdfast::detail::may_share_a_call;
using holdfast::detail::orphan;
using holdfast::detail::primitive;
using holdfast::detail::read_lock_protocol;
using holdfast::detail::target;
using holdfast::detail::target_key;
using holdfast::detail::target_kind;
using holdfast::detail::write_lock_protocol;
using holdfast::test::reply_of;
using holdfast::test::typed;

namespace {

auto const reading = make_read_lock_target("", "foo");
auto const writing = make_write_lock_target("", "foo");
holder_id const id{"0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", 84};
std::string const holder{id.view()};

std::string const queue_keys = "holdfast_rwlock_queue:{foo} holdfast_rwlock_heard:{foo}";
std::string const hold_key = "{foo}:" + holder + ":rwlock_timeout:1";
std::string const attempt_keys =
    "foo redisson_lock_token:{foo} " + queue_keys + " redisson_rwlock:{foo}";
std::string const release_keys = "foo redisson_rwlock:{foo} " + queue_keys;

primitive::attempt attempt(target const& on, std::chrono::milliseconds window) {
    return {
        .on = on,
        .id = id,
        .lease = 30s,
        .counter_ttl = 1h,
        .timeout = 3s,
        .window = window,
        .patience = 2s,
    };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(read_write_lock_test)

BOOST_AUTO_TEST_CASE(names_are_those_of_redisson) {
    BOOST_TEST((reading.kind == target_kind::read_lock));
    BOOST_TEST((writing.kind == target_kind::write_lock));
    BOOST_TEST(reading.lock == "foo");
    BOOST_TEST(reading.channel() == "redisson_rwlock:{foo}");
    BOOST_TEST(writing.channel() == reading.channel());
    auto const tagged = make_read_lock_target("p:", "a{b}c");
    BOOST_TEST(tagged.lock == "p:a{b}c");
    BOOST_TEST(tagged.channel() == "redisson_rwlock:p:a{b}c");
    BOOST_TEST(
        typed(read_lock_protocol().renew({.on = tagged, .id = id, .lease = 1s, .timeout = 3s})) ==
        "read_lock.renew 2 p:a{b}c p:a{b}c:" + holder + ":rwlock_timeout:1 1000 " + holder
    );
    BOOST_TEST(!make_read_lock_target("", "").valid());
    BOOST_TEST(!make_write_lock_target("", "").valid());
}

BOOST_AUTO_TEST_CASE(many_may_read_and_one_may_write) {
    auto const& read = read_lock_protocol();
    auto const& write = write_lock_protocol();
    for (auto const* const each : {&read, &write}) {
        BOOST_TEST(each->keeps_places());
        BOOST_TEST(!each->queues_each());
        BOOST_TEST(!each->hands_over());
    }
    BOOST_TEST(read.is_shared());
    BOOST_TEST(!write.is_shared());
    BOOST_TEST(read.shares_holds());
    BOOST_TEST(!write.shares_holds());
    BOOST_TEST((read.other_side() == target_kind::write_lock));
    BOOST_TEST((write.other_side() == target_kind::read_lock));
    BOOST_TEST((target_key{reading, *read.other_side()} == target_key{writing}));
    BOOST_TEST(!may_share_a_call(reading, writing));
    // A Java reader's watchdog may make the lock's life 30 s long.
    BOOST_TEST((read.renewed_within() <= 10s));
}

BOOST_AUTO_TEST_CASE(the_calls_of_a_reader_name_what_they_touch) {
    auto const& speaks = read_lock_protocol();
    BOOST_TEST(
        typed(speaks.acquire(attempt(reading, 0ms))) == "read_lock.acquire 6 " + attempt_keys +
                                                            " " + hold_key + " 30000 " + holder +
                                                            " 3600000 0 2000 0  0 0"
    );
    auto waits = attempt(reading, 2s);
    waits.preflight = true;
    waits.learned = primitive::learning{1s, 20};
    holder_id const writer{"0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", 86};
    waits.beside = &writer;
    BOOST_TEST(
        typed(speaks.acquire(waits)) == "read_lock.acquire 7 " + attempt_keys + " " + hold_key +
                                            " holdfast_read_hold:{foo} 30000 " + holder +
                                            " 3600000 1 2000 1 " + std::string{writer.view()} +
                                            " 1000 20"
    );
    // It is not taken over.
    BOOST_TEST(
        typed(speaks.take_over(attempt(reading, 2s), orphan{"somebody:1:write", "3"})) ==
        typed(speaks.acquire(attempt(reading, 2s)))
    );
    BOOST_TEST(
        typed(speaks.release({.on = reading, .id = id, .timeout = 3s})) ==
        "read_lock.release 5 " + release_keys + " " + hold_key + " " + holder + " 0 0 0"
    );
    BOOST_TEST(
        typed(speaks.release(
            {.on = reading, .id = id, .timeout = 3s, .window = 2s, .held = {3, 50us}}
        )) == "read_lock.release 6 " + release_keys + " " + hold_key +
                  " holdfast_read_hold:{foo} " + holder + " 1 3 50"
    );
    auto const other = make_read_lock_target("", "bar");
    std::vector<primitive::member> const members{{&reading, id, 30s}, {&other, id, 5s}};
    BOOST_TEST(
        typed(speaks.renew_many(members, 3s)) ==
        "read_lock.renew_many 4 foo " + hold_key + " bar {bar}:" + holder +
            ":rwlock_timeout:1 30000 " + holder + " 5000 " + holder
    );
    BOOST_TEST(
        typed(speaks.inspect(reading, 3s, false)) ==
        "read_write_lock.inspect 3 foo redisson_lock_token:{foo} holdfast_rwlock_queue:{foo} r"
    );
    BOOST_TEST(
        typed(speaks.force_release(reading, 3s, 2s)) ==
        "read_write_lock.force_release 2 foo redisson_rwlock:{foo} r"
    );
}

BOOST_AUTO_TEST_CASE(the_calls_of_a_writer_name_what_they_touch) {
    auto const& speaks = write_lock_protocol();
    BOOST_TEST(
        typed(speaks.acquire(attempt(writing, 0ms))) ==
        "write_lock.acquire 5 " + attempt_keys + " 30000 " + holder + " 3600000 0 2000 0 0 0"
    );
    auto learned = attempt(writing, 2s);
    learned.learned = primitive::learning{1s, 20};
    BOOST_TEST(
        typed(speaks.acquire(learned)) == "write_lock.acquire 6 " + attempt_keys +
                                              " holdfast_write_hold:{foo} 30000 " + holder +
                                              " 3600000 1 2000 0 1000 20"
    );
    // The script asks for the field of a holder, whatever it is called.
    BOOST_TEST(
        typed(speaks.renew({.on = writing, .id = id, .lease = 30s, .timeout = 3s})) ==
        "lock.renew 1 foo 30000 " + holder + ":write 0 0 0 0 0 0"
    );
    std::vector<primitive::member> const members{{&writing, id, 30s}};
    BOOST_TEST(
        typed(speaks.renew_many(members, 3s)) == "lock.renew_many 1 foo 30000 " + holder + ":write"
    );
    BOOST_TEST(
        typed(speaks.release({.on = writing, .id = id, .timeout = 3s, .window = 2s})) ==
        "write_lock.release 4 " + release_keys + " " + holder + " 1 0 0"
    );
    BOOST_TEST(
        typed(speaks.release({.on = writing, .id = id, .timeout = 3s, .held = {3, 50us}})) ==
        "write_lock.release 5 " + release_keys + " holdfast_write_hold:{foo} " + holder + " 0 3 50"
    );
    BOOST_TEST(
        typed(speaks.force_release(writing, 3s, 2s)) ==
        "read_write_lock.force_release 2 foo redisson_rwlock:{foo} w"
    );
}

BOOST_AUTO_TEST_CASE(the_answers_to_an_attempt) {
    auto const& speaks = read_lock_protocol();
    auto const alone = speaks.read_acquire(reply_of(1, 1'234, 1, 0, 0, 0));
    BOOST_TEST((alone.what == attempt_reply::kind::granted));
    BOOST_TEST((alone.token == fencing_token{1'234}));
    BOOST_TEST((alone.learned.lease == 0ms));
    BOOST_TEST(alone.learned.allowed);
    BOOST_TEST(!alone.others_wait);
    auto const wanted = speaks.read_acquire(reply_of(1, 1'234, 1, 5'000, 250, 1));
    BOOST_TEST((wanted.learned.lease == 5s));
    BOOST_TEST((wanted.learned.usual_hold == 250us));
    BOOST_TEST(wanted.others_wait);
    // One that does not say so may be of another make: somebody may wait.
    BOOST_TEST(speaks.read_acquire(reply_of(1, 1'234)).others_wait);

    for (auto const* const side : {&read_lock_protocol(), &write_lock_protocol()}) {
        auto const refused = side->read_acquire(reply_of(0, 500, 0, 17, 1'700'000, 0));
        BOOST_TEST((refused.what == attempt_reply::kind::busy));
        BOOST_TEST((refused.remaining == 500ms));
        BOOST_TEST(!refused.others_wait);
        BOOST_REQUIRE(refused.place.has_value());
        BOOST_TEST(refused.place->score == 17U);
        auto const endless = side->read_acquire(reply_of(0, 500, 1, 0, 0, 0));
        BOOST_TEST(endless.endless);
        BOOST_TEST(!endless.orphan.has_value());
        BOOST_TEST((side->read_acquire(reply_of(2)).what == attempt_reply::kind::corrupt));
    }
}

BOOST_AUTO_TEST_CASE(the_answers_to_an_inspection) {
    auto const& speaks = read_lock_protocol();
    auto const read = speaks.read_inspect(reply_of(1'500, 77, 2, 1, 3, "some body:1"));
    BOOST_TEST((read.what == lock_reading::kind::held));
    BOOST_TEST((read.remaining == 1500ms));
    BOOST_TEST(read.last_token == 77U);
    BOOST_TEST(read.waiting == 2U);
    BOOST_TEST(read.hold_count == 1U);
    BOOST_TEST(read.readers == 3U);
    BOOST_TEST(read.holder == "some body:1");
    auto const written = write_lock_protocol().read_inspect(reply_of(-2, 77, 0, 0, 3, ""));
    BOOST_TEST((written.what == lock_reading::kind::free));
    BOOST_TEST(written.readers == 3U);
    BOOST_TEST(written.holder.empty());
    BOOST_TEST((speaks.read_inspect(reply_of(-3)).what == lock_reading::kind::corrupt));
}

BOOST_AUTO_TEST_CASE(what_is_said_of_each_of_several) {
    auto const reply = reply_of("1029");
    auto const& speaks = read_lock_protocol();
    BOOST_TEST((speaks.read_renew_many(reply, 0) == loss_reason::none));
    BOOST_TEST((speaks.read_renew_many(reply, 1) == loss_reason::deleted));
    BOOST_TEST((speaks.read_renew_many(reply, 2) == loss_reason::taken));
    BOOST_TEST(!speaks.read_renew_many(reply, 3).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
