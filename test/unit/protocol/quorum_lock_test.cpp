// A node's part of a quorum lock: its calls, what the replies mean, and which token a node gives.

#include "protocol/quorum_lock.hpp"

#include "unit/calls.hpp"
#include "unit/printers.hpp"
#include "unit/protocol/on_model.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>

using namespace std::chrono_literals;
using namespace holdfast::detail;
using holdfast::fencing_token;
using holdfast::memory::asking;
using holdfast::test::on_model;
using holdfast::test::reply_of;
using holdfast::test::typed;

namespace {

std::string const client = "0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123";
auto const on = make_quorum_lock_target("", "foo");
holder_id const first{client, 84};
holder_id const second{client, 96};
std::string const counter = "redisson_lock_token:{foo}";
std::string const channel = "redisson_lock__channel:{foo}";
auto const& speaks = quorum_lock_protocol();

primitive::attempt attempt_of(holder_id const& id, std::uint64_t proposed) {
    return {
        .on = on,
        .id = id,
        .lease = 30s,
        .counter_ttl = 1h,
        .timeout = 3s,
        .proposed = {proposed},
    };
}

struct node : on_model {
    node() : on_model{channel} {}

    attempt_reply acquire(holder_id const& id = first, std::uint64_t proposed = 0) {
        return speaks.read_acquire(run(speaks.acquire(attempt_of(id, proposed))));
    }
    bool granted(holder_id const& id, std::uint64_t proposed = 0) {
        return acquire(id, proposed).what == attempt_reply::kind::granted;
    }
    void release(holder_id const& id = first) {
        run(speaks.release({.on = on, .id = id, .timeout = 3s}));
    }
    bool raise(std::uint64_t token, holder_id const& id = first) {
        return read_raise_token(run(raise_token({
            .on = on,
            .id = id,
            .token = {token},
            .counter_ttl = 1h,
            .timeout = 3s,
        })));
    }
    std::uint64_t now() const { return static_cast<std::uint64_t>(server.time()); }
    void set(std::string const& text) { ask({"SET", counter, text}); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(quorum_lock_test)

BOOST_AUTO_TEST_CASE(it_has_the_keys_of_a_lock_and_no_queue) {
    BOOST_TEST((on.kind == target_kind::quorum_lock));
    BOOST_TEST(on.lock == "foo");
    BOOST_TEST(on.counter() == counter);
    BOOST_TEST(on.channel() == channel);
    BOOST_TEST(!speaks.hands_over());
    BOOST_TEST(!speaks.keeps_places());
    BOOST_TEST(!make_quorum_lock_target("", "").valid());
}

BOOST_AUTO_TEST_CASE(the_calls) {
    auto const id = std::string{first.view()};
    auto asked = attempt_of(first, 17);
    BOOST_TEST(
        typed(speaks.acquire(asked)) ==
        "quorum_lock.acquire 2 foo " + counter + " 30000 " + id + " 3600000 17"
    );
    asked.preflight = true;
    BOOST_TEST(
        typed(speaks.acquire(asked)) ==
        "quorum_lock.acquire 3 foo " + counter + " " + channel + " 30000 " + id + " 3600000 17"
    );
    BOOST_TEST(
        typed(speaks.release({.on = on, .id = first, .timeout = 3s})) ==
        "lock.release 2 foo " + channel + " " + id + "   0 0 0 0"
    );
    auto const raise = raise_token({on, first, {99}, 1h, 3s});
    BOOST_TEST(
        typed(raise) == "quorum_lock.raise_token 2 foo " + counter + " " + id + " 3600000 99"
    );
    BOOST_TEST((raise.timeout() == 3s));
    BOOST_TEST(typed(speaks.inspect(on, 3s, true)) == "lock.inspect 2 foo " + counter);
    BOOST_TEST(typed(speaks.force_release(on, 3s, 0ms)) == "lock.force_release 2 foo " + channel);
}

BOOST_AUTO_TEST_CASE(what_the_replies_mean) {
    using kind = attempt_reply::kind;
    auto const granted = speaks.read_acquire(reply_of(1, 41, 1000));
    BOOST_TEST((granted.what == kind::granted));
    BOOST_TEST(granted.token.value == 41U);
    BOOST_TEST(granted.server_time == 1000U);
    auto const busy = speaks.read_acquire(reply_of(0, 250, 41, 1000));
    BOOST_TEST((busy.what == kind::busy));
    BOOST_TEST((busy.remaining == 250ms));
    BOOST_TEST(busy.last_token.value == 41U);
    BOOST_TEST(busy.token.value == 0U);
    BOOST_TEST(busy.server_time == 1000U);
    BOOST_TEST(speaks.read_acquire(reply_of(0, -1, 0, 1)).endless);
    BOOST_TEST((speaks.read_acquire(reply_of(2)).what == kind::corrupt));
    BOOST_TEST((speaks.read_acquire(reply_of(1)).what == kind::corrupt));
    BOOST_TEST((speaks.read_acquire({}).what == kind::corrupt));
    BOOST_TEST(read_raise_token(reply_of(1)));
    BOOST_TEST(!read_raise_token(reply_of(0)));
    BOOST_TEST(!read_raise_token({}));
}

BOOST_AUTO_TEST_CASE(one_holder_at_a_time_and_a_release_is_told) {
    node server;
    auto const got = server.acquire(first);
    BOOST_TEST((got.what == attempt_reply::kind::granted));
    BOOST_TEST(server.ask({"PTTL", "foo"}).number == 30'000);
    BOOST_TEST(server.ask({"PTTL", counter}).number == 3'600'000);
    auto const refused = server.acquire(second);
    BOOST_TEST((refused.what == attempt_reply::kind::busy));
    BOOST_TEST((refused.remaining == 30s));
    BOOST_TEST((refused.last_token == got.token));
    BOOST_TEST(refused.server_time == server.now());
    server.release(second);
    BOOST_TEST(!server.granted(second));
    // Repeated, with the same id.
    server.later(10s);
    auto const again = server.acquire(first);
    BOOST_TEST((again.what == attempt_reply::kind::granted));
    BOOST_TEST((again.token > got.token));
    BOOST_TEST(server.ask({"PTTL", "foo"}).number == 30'000);
    server.release(first);
    BOOST_TEST(server.heard() == "0");
    BOOST_TEST(server.granted(second));
}

BOOST_AUTO_TEST_CASE(a_lock_of_the_same_name_excludes_it) {
    node server;
    server.ask({"HSET", "foo", client + ":7", "1"});
    auto const refused = server.acquire(first);
    BOOST_TEST((refused.what == attempt_reply::kind::busy));
    BOOST_TEST(refused.endless);
    BOOST_TEST(!refused.remaining);
}

BOOST_AUTO_TEST_CASE(the_token_that_is_proposed_is_taken_if_it_is_ahead) {
    node server;
    auto const proposed = server.now() - 50'000;
    BOOST_TEST(server.acquire(first, proposed).token.value == proposed);
    server.release();
    // What was taken is never taken again.
    BOOST_TEST(server.acquire(first, proposed).token.value == server.now());
    server.release();
    BOOST_TEST(server.acquire(first, server.now() + 7).token.value == server.now() + 7);
    server.release();
    BOOST_TEST(server.acquire(first, server.now() + 6).token.value == server.now() + 8);
}

BOOST_AUTO_TEST_CASE(a_node_does_not_go_far_behind_its_clock) {
    node server;
    BOOST_TEST(server.acquire(first, server.now() - 100'001).token.value == server.now());
    server.release();
    server.set("5");
    BOOST_TEST(server.acquire(first, 100).token.value == server.now());
    server.release();
    BOOST_TEST(server.acquire(first).token.value == server.now() + 1);
}

BOOST_AUTO_TEST_CASE(a_counter_keeps_its_expiry_and_the_lack_of_one) {
    node server;
    server.set("5");
    BOOST_TEST(server.granted(first));
    BOOST_TEST(server.ask({"PTTL", counter}).number == -1);
    BOOST_TEST(server.raise(server.now() + 10));
    BOOST_TEST(server.ask({"PTTL", counter}).number == -1);
    node for_ever;
    auto asked = attempt_of(first, 0);
    asked.counter_ttl = 0ms;
    for_ever.run(speaks.acquire(asked));
    BOOST_TEST(for_ever.ask({"PTTL", counter}).number == -1);
}

BOOST_AUTO_TEST_CASE(a_token_is_raised_while_the_lock_is_ours_and_never_lowered) {
    node server;
    BOOST_TEST(!server.raise(99));
    auto const token = server.acquire(first).token.value;
    BOOST_TEST(server.raise(token - 1));
    BOOST_TEST(server.value_of(counter) == std::to_string(token));
    BOOST_TEST(server.raise(token + 5));
    BOOST_TEST(server.value_of(counter) == std::to_string(token + 5));
    BOOST_TEST(!server.raise(token + 9, second));
    BOOST_TEST(server.value_of(counter) == std::to_string(token + 5));
    // The counter was lost meanwhile.
    server.ask({"DEL", counter});
    BOOST_TEST(server.raise(token + 7));
    BOOST_TEST(server.value_of(counter) == std::to_string(token + 7));
    server.set("text");
    BOOST_TEST(!server.raise(token + 9));
    BOOST_TEST(server.value_of(counter) == "text");
}

BOOST_AUTO_TEST_CASE(foreign_data_are_left_alone) {
    for (auto const* const text : {"text", "-5", "9007199254740991", "99999999999999999999"}) {
        node server;
        server.set(text);
        BOOST_TEST((server.acquire(first).what == attempt_reply::kind::corrupt));
        BOOST_TEST(server.value_of(counter) == text);
        BOOST_TEST(server.ask({"EXISTS", "foo"}).number == 0);
    }
    node hash;
    hash.ask({"HSET", "foo", "field", "1"});
    BOOST_TEST((hash.acquire(first).what == attempt_reply::kind::corrupt));
    node list;
    list.ask({"RPUSH", counter, "1"});
    BOOST_TEST((list.acquire(first).what == attempt_reply::kind::corrupt));
    node last;
    last.set("9007199254740990");
    BOOST_TEST(last.acquire(first).token.value == 9007199254740991U);
}

BOOST_AUTO_TEST_CASE(a_preflight_changes_nothing_more) {
    node server;
    auto asked = attempt_of(first, 0);
    asked.preflight = true;
    BOOST_TEST((
        speaks.read_acquire(server.run(speaks.acquire(asked))).what == attempt_reply::kind::granted
    ));
    BOOST_TEST(server.error.empty());
    BOOST_TEST(server.heard().empty());
    BOOST_TEST(server.server.keys().size() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()
