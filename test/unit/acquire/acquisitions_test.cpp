// The acquisitions of a client together: how many there may be, who tries out the user's rights,
// and what the release of a lock by this client means for those who wait.

#include "acquire/acquisitions.hpp"

#include "protocol/counted.hpp"
#include "protocol/fair_lock.hpp"
#include "protocol/read_write_lock.hpp"
#include "protocol/semaphore.hpp"
#include "unit/acquire/acquiring.hpp"

#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::detail::make_counting_semaphore_target;
using holdfast::detail::make_fair_lock_target;
using holdfast::detail::make_lock_target;
using holdfast::detail::make_semaphore_target;
using holdfast::detail::make_write_lock_target;
using holdfast::detail::target;
using holdfast::test::acquiring;
using holdfast::test::acquiring_options;
using holdfast::test::busy;
using holdfast::test::freed;
using holdfast::test::granted;
using holdfast::test::once;
using holdfast::test::scripted_client;
using holdfast::test::typed;

namespace {

bool preflights(scripted_client const& all) {
    return typed(all.server->requests.at(0).what).starts_with("lock.acquire 3 ");
}

// How many attempts leave in the turn in which the client learns that it is connected.
std::size_t attempts_at_once(scripted_client& all) {
    std::size_t sent = 0;
    all.server->commands_up = true;
    all.on_strand([&] {
        all.server->events->on_up(
            {.what = scripted_client::purpose::commands, .server = 0, .epoch = 1}
        );
        sent = all.server->requests.size();
    });
    return sent;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(acquisitions_test)

BOOST_AUTO_TEST_CASE(those_that_make_one_attempt_are_bounded_too) {
    holdfast::config settings;
    settings.max_waiters = 2;
    scripted_client all{settings};
    acquiring const first{all, once};
    acquiring const second{all, once};
    acquiring const third{all, once};
    BOOST_TEST(all.sent() == "acquire acquire");
    BOOST_TEST((third.error == errc::too_many_waiters));
    all.answer(busy());
    acquiring const fourth{all, once};
    BOOST_TEST(!fourth.done());
}

BOOST_AUTO_TEST_CASE(the_users_rights_are_tried_until_the_first_grant_on_each_connection) {
    scripted_client all;
    acquiring const first{all};
    BOOST_TEST(preflights(all));
    all.answer(busy());
    all.confirm();
    BOOST_TEST(preflights(all));
    all.answer(granted());
    acquiring const second{all, once};
    BOOST_TEST(!preflights(all));
    all.answer(busy());
    all.set_commands_up(false);
    all.set_commands_up(true);
    acquiring const third{all, once};
    BOOST_TEST(preflights(all));
}

// A server that has just come up is not flooded: each target's queue waits for a time of its own.
BOOST_AUTO_TEST_CASE(a_new_connection_makes_the_queues_try_one_after_the_other) {
    scripted_client all{{}, false};
    std::list<acquiring> waiting;
    for (int i = 0; i < 1'000; ++i) {
        auto const on = make_lock_target("", std::to_string(i));
        waiting.emplace_back(all, acquiring_options{.on = std::make_shared<target const>(on)});
    }
    // Twenty milliseconds for a thousand: hardly one of them draws none.
    BOOST_TEST(attempts_at_once(all) < 100U);
    BOOST_TEST(all.eventually([&] { return all.server->requests.size() == 1'000; }));
}

BOOST_AUTO_TEST_CASE(a_new_connection_makes_those_with_one_attempt_wait_for_a_moment) {
    scripted_client all{{}, false};
    std::list<acquiring> singles;
    for (int i = 0; i < 10; ++i) {
        singles.emplace_back(all, once);
    }
    BOOST_TEST(attempts_at_once(all) == 0U);
    BOOST_TEST(all.eventually([&] { return all.server->requests.size() == 10; }));
}

BOOST_AUTO_TEST_CASE(a_lock_freed_by_this_client_wakes_those_whom_no_notification_reaches) {
    scripted_client all;
    acquiring first{all};
    all.answer(granted());
    acquiring const second{all};
    all.answer(busy());
    BOOST_TEST(all.sent().empty());
    first.got.release(asio::detached);
    all.run();
    BOOST_TEST(all.sent() == "release");
    all.answer(freed());
    BOOST_TEST(all.sent() == "acquire");
}

BOOST_AUTO_TEST_CASE(those_whom_the_notification_reaches_wait_for_it) {
    scripted_client all;
    acquiring first{all};
    acquiring const second{all};
    all.answer(granted());
    all.confirm();
    all.answer(busy());
    first.got.release(asio::detached);
    all.run();
    all.answer(freed());
    BOOST_TEST(all.sent().empty());
    all.notify();
    BOOST_TEST(all.sent() == "acquire");
}

BOOST_AUTO_TEST_CASE(a_notification_that_the_server_did_not_let_out_is_counted_and_made_up_for) {
    scripted_client all;
    acquiring const one{all};
    all.answer(busy());
    all.confirm();
    all.answer(busy());
    all.on_strand([&] { all.state->acquires().on_freed(*all.on, false); });
    BOOST_TEST(all.count().refused_notifications == 1U);
    BOOST_TEST(all.sent() == "acquire");
}

BOOST_AUTO_TEST_CASE(a_notification_that_was_refused_is_an_error_that_names_the_permission) {
    scripted_client all;
    auto const free = [&](target const& on) {
        all.on_strand([&] { all.state->acquires().on_freed(on, false); });
    };
    auto const logged = [&](std::string_view text) {
        return all.log.count(holdfast::log_level::error, text);
    };
    free(make_lock_target({}, "a"));
    BOOST_TEST(logged("the lock \"a\" was freed, but its waiters were not notified") == 1U);
    BOOST_TEST(
        logged("+publish, &redisson_lock__channel:{a}, &holdfast_client:*. ") == 1U,
        all.log.all()
    );
    // The same one soon after says nothing new.
    free(make_lock_target({}, "a"));
    BOOST_TEST(logged("was freed") == 1U);
    free(make_fair_lock_target({}, "a"));
    BOOST_TEST(logged("+publish, &redisson_lock__channel:{a}:*. ") == 1U);
    free(make_write_lock_target({}, "a"));
    BOOST_TEST(logged("+publish, &redisson_rwlock:{a}. ") == 1U);
    free(make_semaphore_target({}, "a"));
    all.on_strand([&] {
        all.state->numbers().on_freed(make_counting_semaphore_target({}, "a"), false);
    });
    BOOST_TEST(logged("+publish, &redisson_sc:{a}, &holdfast_semaphore_turns:{a}. ") == 1U);
    BOOST_TEST(logged("+publish, &redisson_sc:{a}. ") == 1U);
    all.pass(1min);
    free(make_lock_target({}, "c"));
    BOOST_TEST(logged("the lock \"c\" was freed") == 1U);
    BOOST_TEST(all.count().refused_notifications == 7U);
}

// It would be refused the lock that its own client has released.
BOOST_AUTO_TEST_CASE(after_a_reconnection_a_single_attempt_follows_the_releases_of_its_client) {
    scripted_client all;
    std::list<acquiring> held;
    for (int i = 0; i < 100; ++i) {
        auto const name = "lock-" + std::to_string(i);
        held.emplace_back(
            all,
            acquiring_options{.on = std::make_shared<target const>(make_lock_target("", name))}
        );
        all.answer(granted());
    }
    all.set_commands_up(false);
    held.clear();
    all.run();
    all.server->requests.clear();
    acquiring const single{all, once};
    all.set_commands_up(true);
    BOOST_TEST(all.eventually([&] { return all.sent().ends_with(" acquire"); }));
    BOOST_TEST(all.server->requests.size() == 101U);
}

BOOST_AUTO_TEST_SUITE_END()
