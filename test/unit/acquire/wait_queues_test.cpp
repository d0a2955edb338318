// A client's wait queues: one for each target that somebody waits for, bounded, and gone with the
// last waiter.

#include "acquire/wait_queues.hpp"

#include "acquire/wait_queue.hpp"
#include "unit/acquire/acquiring.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <string_view>

namespace asio = boost::asio;
using holdfast::errc;
using holdfast::detail::make_lock_target;
using holdfast::detail::target;
using holdfast::detail::wait_queues;
using holdfast::test::acquiring;
using holdfast::test::busy;
using holdfast::test::granted;
using holdfast::test::scripted_client;

namespace {

std::shared_ptr<target const> lock(std::string_view name) {
    return std::make_shared<target const>(make_lock_target("", name));
}

wait_queues& queues_of(scripted_client& all) {
    return all.state->acquires().queues();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(wait_queues_test)

BOOST_AUTO_TEST_CASE(each_target_has_one_whichever_object_names_it) {
    scripted_client all;
    acquiring const a{all, {.on = lock("a")}};
    acquiring const again{all, {.on = lock("a")}};
    acquiring const b{all, {.on = lock("b")}};
    BOOST_TEST(queues_of(all).size() == 2U);
    BOOST_TEST(queues_of(all).find(*lock("a"))->size() == 2U);
    BOOST_TEST(queues_of(all).find(*lock("b"))->size() == 1U);
    BOOST_TEST((queues_of(all).find(*lock("c")) == nullptr));
    BOOST_TEST(all.sent() == "acquire acquire");
}

BOOST_AUTO_TEST_CASE(a_queue_that_nobody_had_to_wait_in_is_gone_at_once) {
    scripted_client all;
    acquiring const one{all};
    BOOST_TEST(queues_of(all).size() == 1U);
    all.answer(granted());
    BOOST_TEST(queues_of(all).size() == 0U);
    BOOST_TEST(all.server->subscribed.empty());
}

BOOST_AUTO_TEST_CASE(a_queue_with_a_subscription_keeps_it_for_the_next_waiter) {
    scripted_client all;
    acquiring one{all};
    all.answer(busy());
    one.signal.emit(asio::cancellation_type::terminal);
    all.run();
    BOOST_TEST(queues_of(all).find(*all.on)->empty());
    acquiring const next{all};
    BOOST_TEST(all.sent() == "acquire");
    all.answer(busy());
    BOOST_TEST(all.server->subscribed == "+redisson_lock__channel:{a}");
}

BOOST_AUTO_TEST_CASE(a_queue_that_stays_empty_is_closed_after_a_moment) {
    scripted_client all;
    acquiring one{all};
    all.answer(busy());
    one.signal.emit(asio::cancellation_type::terminal);
    all.run();
    BOOST_TEST(queues_of(all).size() == 1U);
    BOOST_TEST(all.eventually([&] { return queues_of(all).size() == 0; }));
    BOOST_TEST(all.server->subscribed == "+redisson_lock__channel:{a}-redisson_lock__channel:{a}");
}

BOOST_AUTO_TEST_CASE(a_full_queue_refuses) {
    holdfast::config settings;
    settings.max_waiters = 2;
    scripted_client all{settings};
    acquiring const first{all};
    acquiring const second{all};
    acquiring const third{all};
    BOOST_TEST((third.error == errc::too_many_waiters));
    BOOST_TEST(!third.inside);
    acquiring const elsewhere{all, {.on = lock("b")}};
    BOOST_TEST(!elsewhere.done());
}

BOOST_AUTO_TEST_CASE(all_can_be_ended_with_a_cause) {
    scripted_client all;
    acquiring const a{all};
    acquiring const b{all, {.on = lock("b")}};
    all.on_strand([&] { queues_of(all).end_all(errc::tls_failed); });
    BOOST_TEST((a.error == errc::tls_failed));
    BOOST_TEST((b.error == errc::tls_failed));
}

BOOST_AUTO_TEST_CASE(what_is_cleared_is_not_called) {
    scripted_client all;
    acquiring const a{all};
    all.answer(busy());
    all.on_strand([&] { queues_of(all).clear(); });
    all.notify();
    BOOST_TEST(!a.done());
    BOOST_TEST(queues_of(all).size() == 0U);
    BOOST_TEST(all.sent().empty());
}

BOOST_AUTO_TEST_SUITE_END()
