// A client's wait queues: gone with the last waiter, or a moment later if they have a subscription.

#include "acquire/wait_queues.hpp"

#include "acquire/wait_queue.hpp"
#include "unit/acquire/acquiring.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/test/unit_test.hpp>

namespace asio = boost::asio;
using holdfast::detail::wait_queues;
using holdfast::test::acquiring;
using holdfast::test::busy;
using holdfast::test::granted;
using holdfast::test::scripted_client;

namespace {

wait_queues& queues_of(scripted_client& all) {
    return all.state->acquires().queues();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(wait_queues_test)

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

BOOST_AUTO_TEST_SUITE_END()
