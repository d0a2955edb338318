// The leases of one owner: which of them renews, on whose executor, and what is left of those that
// were released.

#include "lease/lease_shares.hpp"

#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::lease_state;
using holdfast::loss_reason;
using holdfast::owner;
using holdfast::test::enter_again;
using holdfast::test::grant;
using holdfast::test::outcome;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::take_away;

BOOST_AUTO_TEST_SUITE(lease_shares_test)

BOOST_AUTO_TEST_CASE(the_oldest_lease_renews_and_the_others_watch) {
    scripted_client all;
    asio::io_context first_holder;
    asio::io_context second_holder;
    auto const who = std::optional{owner::make()};
    auto const first =
        grant(all, {.sent_ago = 2h, .who = who, .holder = first_holder.get_executor()});
    auto second = enter_again(all, who, second_holder.get_executor());
    outcome watch;
    second.wait_lost(watch.loss());
    second_holder.poll();
    all.run();
    BOOST_TEST(all.sent().empty());
    first_holder.poll();
    all.run();
    BOOST_TEST(all.sent() == "renew");
    take_away(all);
    second_holder.restart();
    second_holder.poll();
    BOOST_TEST(watch.reason == loss_reason::taken);
    BOOST_TEST(first.state() == lease_state::lost);
}

BOOST_AUTO_TEST_CASE(when_the_oldest_lease_is_released_another_ones_holder_renews) {
    scripted_client all;
    asio::io_context first_holder;
    asio::io_context second_holder;
    auto const who = std::optional{owner::make()};
    // Its holder is stuck, so nothing is renewed.
    auto first = grant(all, {.sent_ago = 2h, .who = who, .holder = first_holder.get_executor()});
    auto second = enter_again(all, who, second_holder.get_executor());
    second_holder.poll();
    all.run();
    BOOST_TEST(all.sent().empty());
    first.release(asio::detached);
    second_holder.restart();
    second_holder.poll();
    all.run();
    BOOST_TEST(all.sent() == "renew");
}

BOOST_AUTO_TEST_CASE(when_the_context_of_the_oldest_lease_ends_another_ones_holder_renews) {
    scripted_client all;
    auto first_holder = std::make_unique<asio::io_context>();
    asio::io_context second_holder;
    auto const who = std::optional{owner::make()};
    auto first = grant(all, {.sent_ago = 2h, .who = who, .holder = first_holder->get_executor()});
    auto second = enter_again(all, who, second_holder.get_executor());
    outcome watch;
    first.wait_lost(watch.loss());
    first_holder.reset();
    second_holder.poll();
    all.run();
    BOOST_TEST(all.sent() == "renew");
    // Its watcher went with its context, the lease did not.
    BOOST_TEST(!watch.error.has_value());
    BOOST_TEST(first.state() == lease_state::held);
}

BOOST_AUTO_TEST_CASE(a_lease_that_joins_after_the_contexts_of_the_others_renews) {
    scripted_client all;
    auto first_holder = std::make_unique<asio::io_context>();
    asio::io_context second_holder;
    auto const who = std::optional{owner::make()};
    auto const first =
        grant(all, {.sent_ago = 2h, .who = who, .holder = first_holder->get_executor()});
    first_holder.reset();
    auto const second = enter_again(all, who, second_holder.get_executor());
    second_holder.poll();
    all.run();
    BOOST_TEST(all.sent() == "renew");
    BOOST_TEST(first.state() == lease_state::held);
}

BOOST_AUTO_TEST_CASE(what_the_last_release_finds_is_the_loss_of_the_last_lease_only) {
    scripted_client all;
    auto const who = std::optional{owner::make()};
    auto first = grant(all, {.who = who});
    auto second = enter_again(all, who, all.context.get_executor());
    second.release(asio::detached);
    outcome told;
    first.release(told.plain());
    all.run();
    all.answer(replied(0, 0));
    BOOST_TEST((told.error == errc::lease_lost));
    BOOST_TEST(first.loss() == loss_reason::deleted);
    BOOST_TEST(second.loss() == loss_reason::none);
}

BOOST_AUTO_TEST_CASE(the_last_lease_may_be_gone_when_its_release_finds_the_loss) {
    scripted_client all;
    auto const who = std::optional{owner::make()};
    auto first = grant(all, {.who = who});
    outcome told;
    {
        auto second = enter_again(all, who, all.context.get_executor());
        first.release(asio::detached);
        second.release(told.plain());
    }
    all.run();
    all.answer(replied(0, 0));
    BOOST_TEST((told.error == errc::lease_lost));
    BOOST_TEST(first.loss() == loss_reason::none);
    BOOST_TEST(all.count().losses.deleted == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
