// The waiters of one target: one of them tries for all, in order, and one subscription serves them.

#include "acquire/wait_queue.hpp"

#include "unit/acquire/acquiring.hpp"
#include "unit/printers.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <vector>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::log_level;
using holdfast::detail::make_lock_target;
using holdfast::detail::patience;
using holdfast::detail::target;
using holdfast::detail::wait_queue;
using holdfast::test::acquiring;
using holdfast::test::acquiring_options;
using holdfast::test::busy;
using holdfast::test::failed;
using holdfast::test::freed;
using holdfast::test::granted;
using holdfast::test::scripted_client;
using holdfast::test::unanswered;

namespace {

wait_queue* queue_of(scripted_client& all) {
    return all.state->acquires().queues().find(*all.on);
}

// The first attempt was refused; then the subscription was confirmed, and the next one too.
void sleep(scripted_client& all) {
    all.answer(busy());
    all.confirm();
    all.answer(busy());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(wait_queue_test)

BOOST_AUTO_TEST_CASE(only_the_first_waiter_tries) {
    scripted_client all;
    acquiring const first{all};
    acquiring const second{all};
    acquiring const third{all};
    BOOST_TEST(all.sent() == "acquire");
    BOOST_TEST(queue_of(all)->size() == 3U);
    BOOST_TEST(all.count().waiters_now == 3U);
    BOOST_TEST(all.count().waits == 2U);
    all.answer(granted());
    BOOST_TEST(first.got.valid());
    BOOST_TEST(!second.done());
    // The next has no reason to ask before the lock is released.
    BOOST_TEST(all.sent().empty());
    BOOST_TEST(all.server->subscribed == "+redisson_lock__channel:{a}");
}

BOOST_AUTO_TEST_CASE(a_refusal_subscribes_and_the_confirmation_asks_again) {
    scripted_client all;
    acquiring const one{all};
    BOOST_TEST(all.server->subscribed.empty());
    all.answer(busy());
    BOOST_TEST(all.server->subscribed == "+redisson_lock__channel:{a}");
    BOOST_TEST(all.sent().empty());
    BOOST_TEST(!queue_of(all)->confirmed());
    all.confirm();
    BOOST_TEST(queue_of(all)->confirmed());
    BOOST_TEST(all.sent() == "acquire");
    all.answer(busy());
    BOOST_TEST(all.sent().empty());
    BOOST_TEST(!one.done());
    BOOST_TEST(all.count().refusals == 2U);
    BOOST_TEST(all.count().waits == 1U);
}

BOOST_AUTO_TEST_CASE(a_notification_wakes_the_first_and_then_the_next) {
    scripted_client all;
    acquiring const first{all};
    acquiring const second{all};
    sleep(all);
    all.notify();
    BOOST_TEST(all.sent() == "acquire");
    all.answer(granted(1));
    BOOST_TEST(first.got.valid());
    BOOST_TEST(all.count().hand_overs == 1U);
    all.notify();
    BOOST_TEST(all.sent() == "acquire");
    all.answer(granted(2));
    BOOST_TEST(second.got.valid());
}

BOOST_AUTO_TEST_CASE(a_wake_up_of_a_waiter_that_gives_up_is_the_next_ones) {
    scripted_client all;
    acquiring first{all};
    acquiring const second{all};
    sleep(all);
    all.notify();
    first.signal.emit(asio::cancellation_type::terminal);
    all.run();
    // What was tried for the first one serves the next.
    BOOST_TEST(all.sent() == "acquire");
    all.answer(granted());
    BOOST_TEST(second.got.valid());
}

BOOST_AUTO_TEST_CASE(a_waiter_that_goes_while_it_sleeps_changes_nothing_for_the_others) {
    scripted_client all;
    acquiring first{all};
    acquiring const second{all};
    sleep(all);
    first.signal.emit(asio::cancellation_type::terminal);
    all.run();
    BOOST_TEST(all.sent().empty());
    BOOST_TEST(queue_of(all)->size() == 1U);
    all.notify();
    all.answer(granted());
    BOOST_TEST(second.got.valid());
}

BOOST_AUTO_TEST_CASE(a_newcomer_that_soon_gives_up_has_the_server_asked) {
    scripted_client all;
    acquiring const first{all};
    sleep(all);
    acquiring const patient{all, {.how_long = patience::limited, .limit = 10s}};
    BOOST_TEST(all.sent().empty());
    acquiring const brief{all, {.how_long = patience::limited, .limit = 400ms}};
    BOOST_TEST(all.sent() == "acquire");
}

namespace {

acquiring_options limited(std::chrono::nanoseconds limit) {
    return {.how_long = patience::limited, .limit = limit};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_waiter_whose_time_is_up_waits_for_the_attempt_of_the_first) {
    scripted_client all;
    acquiring const first{all};
    sleep(all);
    acquiring const brief{all, limited(5ms)};
    all.run();
    acquiring const other{all, limited(6ms)};
    // One attempt is sent for both.
    BOOST_TEST(all.sent() == "acquire");
    all.pass(20ms);
    BOOST_TEST(all.sent() == "acquire");
    BOOST_TEST(!brief.done());
    all.answer(busy());
    BOOST_TEST((brief.error == error_code{}));
    BOOST_TEST(!brief.got);
    // The other one began after that was sent: it is served by the next one.
    BOOST_TEST(!other.done());
    BOOST_TEST(all.sent() == "acquire");
    all.answer(busy());
    BOOST_TEST((other.error == error_code{}));
    BOOST_TEST(!first.done());
    BOOST_TEST(all.sent().empty());
}

BOOST_AUTO_TEST_CASE(many_waiters_that_come_during_an_attempt_share_the_next_one) {
    scripted_client all;
    acquiring const first{all};
    sleep(all);
    std::list<acquiring> many;
    for (int i = 0; i < 100; ++i) {
        many.emplace_back(all, limited(5ms));
    }
    BOOST_TEST(all.sent() == "acquire");
    all.pass(10ms);
    all.answer(busy());
    BOOST_TEST(all.sent() == "acquire");
    all.answer(busy());
    BOOST_TEST(all.sent().empty());
    for (auto const& each : many) {
        BOOST_TEST((each.error == error_code{}));
    }
}

BOOST_AUTO_TEST_CASE(a_grant_to_the_first_tells_those_whose_time_is_up_that_the_lock_is_busy) {
    scripted_client all;
    acquiring const first{all};
    sleep(all);
    acquiring const brief{all, limited(5ms)};
    all.pass(10ms);
    all.answer(granted());
    BOOST_TEST(first.got.valid());
    BOOST_TEST((brief.error == error_code{}));
    BOOST_TEST(!brief.got);
}

BOOST_AUTO_TEST_CASE(a_waiter_whose_time_is_up_may_be_granted_the_lock) {
    scripted_client all;
    acquiring first{all};
    sleep(all);
    acquiring const brief{all, limited(5ms)};
    all.pass(10ms);
    first.signal.emit(asio::cancellation_type::terminal);
    all.run();
    all.answer(granted());
    BOOST_TEST((brief.error == error_code{}));
    BOOST_TEST(brief.got.valid());
}

BOOST_AUTO_TEST_CASE(an_answer_that_decides_nothing_ends_those_whose_time_is_up_with_its_cause) {
    scripted_client all;
    acquiring const first{all};
    sleep(all);
    acquiring const brief{all, limited(5ms)};
    all.pass(10ms);
    all.answer(failed(errc::server_refused, holdfast::detail::exec_status::refused));
    BOOST_TEST((brief.error == errc::server_refused));
    BOOST_TEST(!first.done());
}

BOOST_AUTO_TEST_CASE(a_later_answer_that_decides_nothing_does_not_take_back_that_the_lock_was_busy
) {
    scripted_client all;
    acquiring const one{all, limited(1s)};
    all.answer(busy(100));
    all.confirm();
    all.answer(failed(errc::server_refused, holdfast::detail::exec_status::refused));
    all.pass(1s);
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(!one.got);
}

BOOST_AUTO_TEST_CASE(whoever_has_not_asked_when_its_time_is_up_asks) {
    scripted_client all;
    acquiring const first{all};
    // After a reconnection the attempts are spread.
    acquiring const patient{all, limited(1s)};
    all.answer(unanswered());
    all.set_commands_up(false);
    all.pass(1s - 1ms);
    all.set_commands_up(true);
    all.pass(3ms);
    BOOST_TEST(all.sent() == "acquire");
    BOOST_TEST(!patient.done());
    all.answer(busy());
    BOOST_TEST((patient.error == error_code{}));
}

BOOST_AUTO_TEST_CASE(a_stopped_client_ends_those_whose_time_is_up) {
    scripted_client all;
    acquiring const first{all};
    sleep(all);
    acquiring const brief{all, limited(5ms)};
    all.pass(10ms);
    all.state->abandon();
    all.run();
    BOOST_TEST((brief.error == errc::client_stopped));
}

BOOST_AUTO_TEST_CASE(a_waiter_whose_time_is_up_behind_another_can_be_cancelled) {
    for (auto const type : {asio::cancellation_type::terminal, asio::cancellation_type::total}) {
        scripted_client all;
        acquiring const first{all};
        sleep(all);
        acquiring brief{all, limited(5ms)};
        all.pass(10ms);
        brief.signal.emit(type);
        all.run();
        BOOST_TEST((brief.error == error_code{asio::error::operation_aborted}));
        // The attempt is the first one's.
        BOOST_TEST(all.sent() == "acquire");
        all.answer(granted());
        BOOST_TEST(first.got.valid());
    }
}

BOOST_AUTO_TEST_CASE(an_error_of_the_head_alone_lets_the_next_one_look) {
    scripted_client all;
    acquiring const first{all};
    acquiring const second{all};
    all.answer(failed(errc::corrupt_state));
    BOOST_TEST((first.error == errc::corrupt_state));
    BOOST_TEST(!second.done());
    BOOST_TEST(all.sent() == "acquire");
}

BOOST_AUTO_TEST_CASE(without_an_answer_it_is_asked_again) {
    scripted_client all;
    acquiring const one{all};
    all.answer(unanswered());
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
    BOOST_TEST(!one.done());
}

BOOST_AUTO_TEST_CASE(a_new_connection_makes_it_ask) {
    scripted_client all;
    acquiring const one{all};
    sleep(all);
    all.set_commands_up(false);
    all.notify();
    BOOST_TEST(all.sent().empty());
    all.set_commands_up(true);
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
}

BOOST_AUTO_TEST_CASE(a_broken_subscription_is_not_relied_on) {
    scripted_client all;
    acquiring const one{all};
    sleep(all);
    all.on_strand([&] { all.server->listeners->on_down(); });
    BOOST_TEST(!queue_of(all)->confirmed());
    BOOST_TEST(queue_of(all)->subscribed());
    all.confirm();
    BOOST_TEST(queue_of(all)->confirmed());
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
}

BOOST_AUTO_TEST_CASE(subscriptions_that_come_back_together_do_not_have_all_ask_at_once) {
    scripted_client all;
    std::list<acquiring> waiting;
    std::vector<std::shared_ptr<target const>> targets;
    for (int i = 0; i < 50; ++i) {
        targets.push_back(std::make_shared<target const>(make_lock_target("", std::to_string(i))));
        waiting.emplace_back(all, acquiring_options{.on = targets.back()});
        all.answer(busy());
        all.on_strand([&] { all.server->listeners->on_confirmed(targets.back()->channel()); });
        all.answer(busy());
    }
    BOOST_TEST(all.sent().empty());
    std::size_t at_once = 0;
    all.on_strand([&] {
        all.server->listeners->on_down();
        for (auto const& on : targets) {
            all.server->listeners->on_confirmed(on->channel());
        }
        at_once = all.server->requests.size();
    });
    BOOST_TEST(at_once < 25U);
    BOOST_TEST(all.eventually([&] { return all.server->requests.size() == 50; }));
}

BOOST_AUTO_TEST_CASE(a_refused_subscription_ends_all_waiters) {
    scripted_client all;
    acquiring const first{all};
    acquiring const second{all};
    all.answer(busy());
    all.on_strand([&] { all.server->listeners->on_refused(all.on->channel(), errc::no_permission); }
    );
    BOOST_TEST((first.error == errc::no_permission));
    BOOST_TEST((second.error == errc::no_permission));
    BOOST_TEST((queue_of(all) == nullptr));
}

BOOST_AUTO_TEST_CASE(a_lock_without_an_end_is_reported_once) {
    scripted_client all;
    acquiring const one{all};
    all.answer(busy(-1));
    all.confirm();
    all.answer(busy(-1));
    BOOST_TEST(all.log.count(log_level::error, "\"a\" has no expiry") == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
