// The waiters of one target: one of them tries for all, in order, and one subscription serves them.

#include "acquire/wait_queue.hpp"

#include "unit/acquire/acquiring.hpp"
#include "unit/printers.hpp"

#include <boost/asio/cancellation_type.hpp>
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
