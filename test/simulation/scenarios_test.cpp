// What the search has found, or would hardly find, told as a story: the names say how it ends well.

#include "simulation/stage.hpp"

#include <holdfast.hpp>

#include <boost/test/unit_test.hpp>

#include <tuple>

using namespace holdfast;
using namespace holdfast::sim;

// One answer is missing, so each error is taken for the answer to the request before, which has
// been given up by then. Errors carry no nonce: nothing told that the answers were one behind, and
// the script was never sent in full.
BOOST_AUTO_TEST_CASE(an_answer_that_is_missing_shows_although_every_request_is_refused) {
    stage all;
    all.on().set_clients_idle(false);
    auto& one = all.add_ready();
    for (auto const& link : all.on().links()) {
        if (link->is_for_commands()) {
            link->set_answer_fault(answer_fault::drop);
        }
    }
    auto const asked = one.make_call<lease>();
    one.run([&] { one.lock("lock").acquire(asked->token()); });
    // Two attempts that get no answer in time, a new connection, and one that does.
    BOOST_TEST(all.run_until([&] { return asked->done; }, 2s));
    BOOST_TEST(asked->error.message() == error_code{}.message());
    one.run([&] { asked->results.reset(); });
    BOOST_TEST(all.close_all() == "");
}

// Without a health check: a time-out of the requests and one more are enough.
BOOST_AUTO_TEST_CASE(a_connection_on_which_nothing_is_answered_is_left) {
    stage all;
    auto& one = all.add_ready();
    for (auto const& link : all.on().links()) {
        if (link->is_for_commands()) {
            link->way(direction::to_server).black_hole = true;
        }
    }
    auto const asked = one.make_call<lease>();
    one.run([&] { one.lock("lock").acquire(asked->token()); });
    BOOST_TEST(all.run_until([&] { return asked->done; }, 2s));
    BOOST_TEST(asked->error.message() == error_code{}.message());
    one.run([&] { asked->results.reset(); });
    BOOST_TEST(all.close_all() == "");
}

// The waiters of another client look again when the lease that they know of would end; those of
// this client need no notice.
BOOST_AUTO_TEST_CASE(a_forced_release_that_may_not_be_announced_wakes_its_own_clients_waiters) {
    stage all;
    all.settings().lease = 60s;
    auto& holder = all.add_ready();
    auto const held = holder.make_call<lease>();
    holder.run([&] { holder.lock("lock").acquire(held->token()); });
    all.run_until([&] { return held->done; });
    auto& one = all.add_ready();
    auto const waiting = one.make_call<lease>();
    one.run([&] { one.lock("lock").acquire(waiting->token()); });
    all.run_for(100ms);

    user_rules rules;
    rules.denied_commands.insert("publish");
    all.on().data().set_user("default", rules);
    auto const forced = one.make_call<bool>();
    one.run([&] { one.lock("lock").force_release(forced->token()); });
    BOOST_TEST(all.run_until([&] { return waiting->done; }, 1s));
    BOOST_TEST(forced->done);

    holder.run([&] { held->results.reset(); });
    one.run([&] { waiting->results.reset(); });
    BOOST_TEST(all.close_all() == "");
}

// After a suspend the answer in the socket is read before any timer, whose clock stood still, tells
// that there has been none in time.
BOOST_AUTO_TEST_CASE(a_grant_that_was_slept_through_is_asked_for_again) {
    stage all;
    auto& one = all.add_ready();
    // So that the server knows the script, and both connections are made.
    auto const before = one.make_call<lease>();
    one.run([&] { one.lock("another").acquire(before->token()); });
    all.run_for(1s);
    auto const asked = one.make_call<lease>();
    one.run([&] { one.lock("lock").acquire(asked->token()); });
    all.run_for(0s);
    one.of().suspend();
    all.run_for(100ms);
    BOOST_TEST(all.on().data().pttl("lock") > 0);
    all.run_for(2 * all.settings().lease);
    BOOST_TEST(!asked->done);
    one.of().resume();

    BOOST_TEST(all.run_until([&] { return asked->done; }));
    one.run([&] {
        BOOST_TEST(asked->error.message() == error_code{}.message());
        BOOST_TEST((std::get<lease>(*asked->results).state() == lease_state::held));
        asked->results.reset();
        before->results.reset();
    });
    BOOST_TEST(all.close_all() == "");
}
