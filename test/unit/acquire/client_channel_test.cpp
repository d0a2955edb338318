// The channel on which a client is told that it has a lock.

#include "acquire/client_channel.hpp"

#include "unit/acquire/handing_client.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

using holdfast::errc;
using holdfast::test::acquiring;
using holdfast::test::busy;
using holdfast::test::handing_client;

BOOST_AUTO_TEST_SUITE(client_channel_test)

BOOST_AUTO_TEST_CASE(a_refusal_for_another_cause_says_nothing_of_the_rights) {
    handing_client all;
    acquiring const waiting{all};
    all.answer(busy());
    all.on_strand([&] { all.server->listeners->on_refused(all.own_channel(), errc::auth_failed); });
    BOOST_TEST(!all.state->acquires().channel().confirmed());
    BOOST_TEST(all.state->hands_over());
    BOOST_TEST(all.log.count("locks are not handed over") == 0U);
}

BOOST_AUTO_TEST_CASE(what_is_no_message_is_not_heard) {
    handing_client all;
    acquiring const waiting{all};
    all.wait_in_queue();
    all.say("nonsense");
    all.say("grant lock");
    BOOST_TEST(all.sent() == "");
}

BOOST_AUTO_TEST_CASE(on_a_cluster_each_lock_has_one_that_goes_with_its_queue) {
    holdfast::config settings;
    settings.cluster_nodes = {{"127.0.0.1", 7000}};
    handing_client all{settings};
    auto const own = holdfast::detail::channel_of_client(all.state->client_id(), *all.on);
    {
        acquiring const waiting{all};
        all.answer(busy());
        BOOST_TEST(all.server->subscribed.starts_with("+" + own));
        BOOST_TEST(all.server->subscribed.find(all.own_channel() + "+") == std::string::npos);
        all.on_strand([&] { all.server->listeners->on_confirmed(own); });
        all.on_strand([&] { all.server->listeners->on_confirmed(all.on->channel()); });
        // It asks for a place, which it has by its own channel.
        BOOST_TEST(!all.state->acquires().channel().confirmed());
        BOOST_TEST(all.text().starts_with("lock.acquire 4 a "));
        auto const mine = all.id();
        all.answer(handing_client::queued());
        all.on_strand([&] {
            all.server->listeners->on_notification(
                own,
                "grant lock " + mine + " 7 1700000000000000 3000 a"
            );
        });
        BOOST_TEST(waiting.got.valid());
    }
    BOOST_TEST(all.eventually([&] {
        return all.server->subscribed.find("-" + own) != std::string::npos;
    }));
}

BOOST_AUTO_TEST_SUITE_END()
