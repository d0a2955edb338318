// How the waiters of a client get a lock from another holder's hand: their own client's, or that of
// another one.

#include "acquire/wait_queue.hpp"
#include "protocol/semaphore.hpp"
#include "unit/acquire/handing_client.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <list>
#include <memory>
#include <optional>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::fencing_token;
using holdfast::lease_clock;
using holdfast::test::acquiring;
using holdfast::test::busy;
using holdfast::test::granted;
using holdfast::test::handing_client;
using holdfast::test::replied;
using holdfast::test::scripted_client;

namespace {

// Its holder gives it back.
void release(handing_client& all, acquiring& held) {
    held.got = {};
    all.run();
}

// A waiter for permits, which has a place in the server's queue and sleeps.
struct waiter_for_permits : handing_client {
    waiter_for_permits() {
        on = std::make_shared<holdfast::detail::target const>(
            holdfast::detail::make_semaphore_target("", "a")
        );
        asking.emplace(*this);
        answer(placed());
        confirm_all();
        mine = id();
        answer(placed());
    }

    static holdfast::detail::exec_result placed() {
        return replied(0, 3'600'000, server_time, server_time, 0);
    }
    void on_turns(std::string const& message) {
        on_strand([&] { server->listeners->on_notification(on->waiters(), message); });
    }
    void on_channel(std::string const& message) {
        on_strand([&] { server->listeners->on_notification(on->channel(), message); });
    }

    std::optional<acquiring> asking;
    std::string mine;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(wait_queue_hand_over_test)

// As a promoted replica does that has lost the hold, and not the place in the queue. It is heard
// before requests can be sent to it.
BOOST_AUTO_TEST_CASE(a_new_grant_by_another_server_tells_of_a_failover) {
    handing_client all;
    acquiring const waiting{all};
    auto const id = all.wait_in_queue();
    all.grant_to(id, 77);
    all.answer(replied(1, 78, 0, 0));
    all.server->commands_up = false;
    all.grant_to(id, 79);
    BOOST_TEST((waiting.got.state() == holdfast::lease_state::lost));
    BOOST_TEST((waiting.got.loss() == holdfast::loss_reason::failed_over));
}

// The script tells others that they are the next, but not whoever reads it in its reply.
BOOST_AUTO_TEST_CASE(a_releaser_that_is_the_next_looks_when_the_lock_should_have_been_claimed) {
    handing_client all;
    acquiring first{all};
    acquiring const second{all};
    auto const id = all.wait_in_queue();
    all.grant_to(id, 77);
    all.answer(replied(1, 80, 1, 0));
    BOOST_TEST(all.eventually([&, began = lease_clock::now()] {
        return lease_clock::now() > began + 10ms;
    }));
    release(all, first);
    auto const told = lease_clock::now();
    all.answer(replied(1, 1, handing_client::server_time, handing_client::server_time, 0, "x:1", 50)
    );
    BOOST_TEST(all.sent() == "");
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
    BOOST_TEST((lease_clock::now() >= told + 50ms));
    BOOST_TEST((lease_clock::now() < told + 2s));
}

BOOST_AUTO_TEST_CASE(the_own_place_in_the_queue_is_not_another_client) {
    handing_client all;
    acquiring first{all};
    all.answer(holdfast::test::granted(70));
    acquiring const second{all};
    all.wait_in_queue();
    BOOST_TEST(all.eventually([&, began = lease_clock::now()] {
        return lease_clock::now() > began + 10ms;  // a run takes no longer if another client waits
    }));
    release(all, first);
    BOOST_TEST(all.sent() == "renew");
    all.answer(replied(1, 80, 1, 0));  // one client waits: this one
    BOOST_TEST(second.got.valid());
    BOOST_TEST((second.got.token() == fencing_token{80}));
    BOOST_TEST(all.count().hand_overs_by.own_client == 1U);
}

BOOST_AUTO_TEST_CASE(a_client_that_does_not_queue_does_not_hold_back_in_its_turn) {
    scripted_client all;
    acquiring const waiting{all};
    all.answer(busy());
    all.confirm();
    all.answer(busy());
    all.on_strand([&] { all.server->listeners->on_notification(all.on->channel(), "2"); });
    BOOST_TEST(all.sent() == "");
    all.notify();
    BOOST_TEST(all.sent() == "acquire");
}

// The first message "0" belongs to the "2" before it, the second one comes from whoever had the
// lock.
BOOST_AUTO_TEST_CASE(a_turn_that_was_used_ends_with_the_release) {
    handing_client all;
    acquiring const waiting{all};
    all.wait_in_queue();
    all.on_strand([&] { all.server->listeners->on_notification(all.on->channel(), "2"); });
    all.notify();
    all.pass(5ms);
    BOOST_TEST(all.sent() == "");
    all.notify();
    BOOST_TEST(all.sent() == "acquire");
}

BOOST_AUTO_TEST_CASE(a_waiter_whose_turn_it_is_looks_once) {
    waiter_for_permits all;
    BOOST_TEST(all.sent() == "");
    all.on_turns(all.mine + " 1");
    BOOST_TEST(all.sent() == "semaphore.acquire");
    all.on_channel("1");
    all.answer(waiter_for_permits::placed());
    BOOST_TEST(all.sent() == "");
    // What comes next was said by somebody else.
    all.on_channel("1");
    BOOST_TEST(all.sent() == "semaphore.acquire");
    all.answer(waiter_for_permits::placed());
    // It is said nowhere else.
    all.on_turns(all.mine + " 0");
    BOOST_TEST(all.sent() == "semaphore.acquire");
    all.answer(waiter_for_permits::placed());
    all.on_channel("2");
    BOOST_TEST(all.sent() == "semaphore.acquire");
    all.answer(granted());
    BOOST_TEST(all.asking->got.valid());
    BOOST_TEST(all.count().hand_overs == 1U);
}

BOOST_AUTO_TEST_CASE(a_waiter_whose_turn_it_is_not_does_not_look) {
    waiter_for_permits all;
    for (auto const* const whose : {"- 1", "somebody:1 1"}) {
        all.on_turns(whose);
        all.on_channel("1");
        BOOST_TEST(all.sent() == "");
    }
    // What was said before a subscription was confirmed may have come without what follows it.
    all.on_turns("- 1");
    all.on_strand([&] { all.server->listeners->on_confirmed(all.on->channel()); });
    BOOST_TEST(all.eventually([&] { return all.sent() == "semaphore.acquire"; }));
    all.answer(waiter_for_permits::placed());
    all.on_channel("1");
    BOOST_TEST(all.sent() == "semaphore.acquire");
}

BOOST_AUTO_TEST_CASE(a_message_that_a_lock_was_taken_from_another_holder_costs_no_command) {
    handing_client all;
    acquiring first{all};
    acquiring second{all};
    acquiring const third{all};
    all.answer(granted(100));
    all.answer(replied(1, 101, 0, 0));
    all.say("look lock " + std::string{all.state->holder_id_of(7).view()} + " a");
    all.say("look lock 0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123:7 a");
    all.say("look lock 0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123:7 b");
    release(all, first);
    BOOST_TEST((second.got.token() == fencing_token{101}));
    BOOST_TEST(all.sent() == "");
}

BOOST_AUTO_TEST_CASE(a_message_that_a_lock_was_taken_from_its_holder_makes_the_client_ask) {
    handing_client all;
    acquiring first{all};
    auto const mine = all.id();
    acquiring const second{all};
    acquiring const third{all};
    all.answer(granted(100));
    all.answer(replied(1, 101, 0, 0));
    all.say("look lock " + mine + " a");
    release(all, first);
    BOOST_TEST(!second.done());
    BOOST_TEST(all.sent() != "");
}

BOOST_AUTO_TEST_CASE(a_message_that_others_wait_for_another_holder_ends_no_run_of_local_grants) {
    handing_client all;
    acquiring first{all};
    auto const mine = all.id();
    std::list<acquiring> others;
    for (int i = 0; i < 3; ++i) {
        others.emplace_back(all);
    }
    // It takes no longer if another client waits.
    auto const end_run = [&all] {
        BOOST_TEST(all.eventually([&, began = lease_clock::now()] {
            return lease_clock::now() > began + 10ms;
        }));
    };
    all.answer(granted(100));
    all.answer(replied(1, 101, 0, 0));
    all.say("wait lock " + std::string{all.state->holder_id_of(7).view()} + " a");
    end_run();
    release(all, first);
    BOOST_TEST(others.front().got.valid());
    all.say("wait lock " + mine + " a");
    end_run();
    release(all, others.front());
    BOOST_TEST(all.sent().find("release") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
