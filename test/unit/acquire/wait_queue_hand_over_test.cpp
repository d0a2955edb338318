// How the waiters of a client get a lock from another holder's hand: their own client's, or that of
// another one.

#include "acquire/wait_queue.hpp"
#include "protocol/semaphore.hpp"
#include "unit/acquire/handing_client.hpp"
#include "unit/printers.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <list>
#include <memory>
#include <optional>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::error_code;
using holdfast::fencing_token;
using holdfast::lease_clock;
using holdfast::test::acquiring;
using holdfast::test::busy;
using holdfast::test::freed;
using holdfast::test::granted;
using holdfast::test::handing_client;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::unanswered;

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

BOOST_AUTO_TEST_CASE(a_release_gives_the_lock_to_the_next_local_waiter_without_a_command) {
    handing_client all;
    acquiring first{all};
    acquiring second{all};
    acquiring const third{all};
    all.answer(granted(100));
    BOOST_TEST(all.sent() == "renew");  // tokens for the others
    all.answer(replied(1, 101, 0, 0));
    release(all, first);
    BOOST_TEST((second.got.token() == fencing_token{101}));
    BOOST_TEST(second.got.valid());
    BOOST_TEST(!third.done());
    BOOST_TEST(all.count().hand_overs_by.own_client == 1U);
    BOOST_TEST(all.sent() == "");
    second.got = {};
    all.run();
    BOOST_TEST((third.got.token() == fencing_token{102}));
}

BOOST_AUTO_TEST_CASE(a_token_that_is_not_there_is_asked_for_first) {
    handing_client all;
    acquiring first{all};
    all.answer(granted(100));
    acquiring const second{all};  // it has to look: nothing was known of waiters
    release(all, first);
    auto const sent = all.sent();
    BOOST_TEST(sent == "acquire renew");
    BOOST_TEST(!second.done());
    all.answer(busy());
    all.answer(replied(1, 200, 0, 0));
    BOOST_TEST((second.got.token() == fencing_token{200}));
}

BOOST_AUTO_TEST_CASE(a_lock_that_the_server_does_not_know_any_more_goes_to_nobody) {
    handing_client all;
    acquiring first{all};
    all.answer(granted(100));
    acquiring const second{all};
    release(all, first);
    all.answer(busy());
    all.answer(replied(0, 1));
    BOOST_TEST(!second.done());
    BOOST_TEST(all.sent().find("release") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_place_in_the_queue_is_asked_for_when_messages_can_arrive) {
    handing_client all;
    acquiring const waiting{all};
    BOOST_TEST(all.text().find(" 3000 ") == std::string::npos);  // no place
    all.answer(busy());
    BOOST_TEST(all.server->subscribed.find("+" + all.own_channel()) != std::string::npos);
    BOOST_TEST(all.server->subscribed.find("+holdfast_waiters:{a}") != std::string::npos);
    all.confirm_all();
    BOOST_TEST(all.text().ends_with(" 3000 0"));
    auto const id = all.id();
    all.answer(handing_client::queued());
    BOOST_TEST(all.sent() == "");
    // Its next attempt keeps the place.
    all.notify();
    BOOST_TEST(all.id() == id);
    BOOST_TEST(all.text().find(" 3000 1700000000000000 ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_try_takes_no_place) {
    handing_client all;
    acquiring const waiting{all};
    all.wait_in_queue();
    acquiring const trying{all, holdfast::test::once};
    BOOST_TEST(all.text().find(" 3000 ") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(another_client_hands_the_lock_over) {
    handing_client all;
    acquiring const first{all};
    acquiring const second{all};
    auto const id = all.wait_in_queue();
    auto const now = lease_clock::now();
    all.grant_to(id, 77);
    BOOST_TEST(first.got.valid());
    BOOST_TEST((first.got.token() == fencing_token{77}));
    BOOST_TEST((first.got.deadline() < now + 3s));
    BOOST_TEST(!second.done());
    BOOST_TEST(all.count().hand_overs_by.other_client == 1U);
    // It is claimed at once, for the whole lease, with tokens for the others.
    BOOST_TEST(all.text().starts_with("lock.renew 3 a "));
    BOOST_TEST(all.id() == id);
    all.answer(replied(1, 80, 0, 0));
    BOOST_TEST((first.got.deadline() > now + 25s));
    BOOST_TEST(all.count().claims_confirmed == 1U);
}

// Where more wait, the server has enough to do.
BOOST_AUTO_TEST_CASE(a_single_client_that_waits_is_told_before_the_one_that_releases) {
    for (int const waiting : {0, 1, 2}) {
        handing_client all;
        acquiring held{all};
        all.grant_to(all.wait_in_queue(), 77);
        all.answer(replied(1, 80, waiting, 0));
        release(all, held);
        auto const sent = all.sent();
        BOOST_TEST(sent == "release");
        BOOST_TEST(all.server->requests.at(0).what.is_published_first() == (waiting == 1));
    }
}

BOOST_AUTO_TEST_CASE(a_grant_that_comes_before_its_place_is_known_waits_for_it) {
    handing_client all;
    acquiring const waiting{all};
    all.answer(busy());
    all.confirm_all();
    auto const id = all.id();
    all.grant_to(id, 77);
    BOOST_TEST(!waiting.done());
    all.answer(handing_client::queued());
    BOOST_TEST((waiting.got.token() == fencing_token{77}));
}

BOOST_AUTO_TEST_CASE(a_grant_whose_end_is_not_known_is_confirmed_first) {
    for (bool const distrusts : {false, true}) {
        holdfast::config settings;
        settings.confirm_grants = distrusts;
        handing_client all{settings};
        acquiring const waiting{all};
        auto const id = all.wait_in_queue();
        // The clocks disagree; or nothing is believed.
        all.grant_to(id, 77, distrusts ? 0 : 60'000);
        BOOST_TEST(!waiting.done());
        BOOST_TEST(all.sent() == "acquire");
        BOOST_TEST(all.id() == id);
        all.answer(granted(78));
        BOOST_TEST((waiting.got.token() == fencing_token{78}));
    }
}

BOOST_AUTO_TEST_CASE(a_grant_that_nobody_wants_any_more_is_passed_on) {
    handing_client all;
    acquiring waiting{all};
    auto const id = all.wait_in_queue();
    waiting.signal.emit(asio::cancellation_type::terminal);
    all.run();
    // The place is given up, too.
    BOOST_TEST(all.text().starts_with("lock.release 4 a "));
    BOOST_TEST(all.text().find(id + " " + id + " 3000") != std::string::npos);
    all.answer(replied(0, 1));
    all.grant_to(id, 77);
    BOOST_TEST(all.id() == id);
    BOOST_TEST(all.sent() == "release");
    BOOST_TEST(all.count().claims_passed_on == 1U);
}

BOOST_AUTO_TEST_CASE(a_grant_for_an_id_that_has_the_lock_changes_nothing) {
    handing_client all;
    acquiring const waiting{all};
    auto const id = all.wait_in_queue();
    all.notify();
    all.answer(granted(78));
    all.grant_to(id, 77);
    BOOST_TEST(all.sent() == "");
    BOOST_TEST((waiting.got.token() == fencing_token{78}));
    BOOST_TEST(waiting.got.valid());
}

// It was released by force, and an attempt that came late made it a waiter once more.
BOOST_AUTO_TEST_CASE(a_new_grant_for_an_id_that_has_the_lock_tells_that_it_was_lost) {
    handing_client all;
    acquiring const waiting{all};
    auto const id = all.wait_in_queue();
    all.grant_to(id, 77);
    all.answer(replied(1, 78, 0, 0));
    BOOST_TEST(waiting.got.valid());
    all.grant_to(id, 79);
    BOOST_TEST((waiting.got.state() == holdfast::lease_state::lost));
    BOOST_TEST((waiting.got.loss() == holdfast::loss_reason::deleted));
    BOOST_TEST(all.sent() == "release");
    BOOST_TEST(all.id() == id);
    BOOST_TEST(all.count().claims_passed_on == 1U);
}

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

BOOST_AUTO_TEST_CASE(grants_of_other_clients_are_none_of_ours) {
    handing_client all;
    acquiring const waiting{all};
    all.wait_in_queue();
    all.grant_to("00000000-0000-0000-0000-000000000000:1", 77);
    BOOST_TEST(all.sent() == "");
    BOOST_TEST(!waiting.done());
}

BOOST_AUTO_TEST_CASE(a_holder_id_is_not_used_again) {
    handing_client all;
    acquiring first{all};
    auto const id = all.wait_in_queue();
    all.grant_to(id, 77);
    all.answer(replied(1, 78, 0, 0));
    release(all, first);
    BOOST_TEST(all.id() == id);
    acquiring const second{all};
    BOOST_TEST(all.sent() == "release acquire");
    BOOST_TEST(all.id(1) != id);
}

BOOST_AUTO_TEST_CASE(after_a_run_the_lock_goes_back_with_the_next_place_of_those_who_wait) {
    handing_client all;
    acquiring first{all};
    acquiring const second{all};
    auto const id = all.wait_in_queue();
    all.grant_to(id, 77);
    all.answer(replied(1, 80, 1, 0));  // another client waits
    BOOST_TEST(all.eventually([&, began = lease_clock::now()] {
        return lease_clock::now() > began + 10ms;  // a run takes no longer
    }));
    release(all, first);
    BOOST_TEST(all.sent() == "release");
    auto const released = all.text();
    auto const after_own = released.find(id) + id.size();
    auto const next = released.find(all.state->client_id(), after_own);
    BOOST_TEST(next != std::string::npos);
    BOOST_TEST(released.find(" 3000 ", next) != std::string::npos);
    BOOST_TEST(released.ends_with(" 0"));  // nobody waits who does not queue
    all.answer(
        replied(1, 1, handing_client::server_time, handing_client::server_time, 1, "x:1", 3'000)
    );
    BOOST_TEST(all.sent() == "");
    BOOST_TEST(!second.done());
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

BOOST_AUTO_TEST_CASE(those_that_are_not_the_first_let_the_first_one_look) {
    handing_client all;
    acquiring const waiting{all};
    all.wait_in_queue(3);
    all.notify();
    BOOST_TEST(all.sent() == "");
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
}

BOOST_AUTO_TEST_CASE(whoever_does_not_queue_has_the_first_try_in_its_turn) {
    handing_client all;
    acquiring const waiting{all};
    all.wait_in_queue();
    all.on_strand([&] { all.server->listeners->on_notification(all.on->channel(), "2"); });
    auto const told = lease_clock::now();
    all.notify();
    BOOST_TEST(all.sent() == "");
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
    BOOST_TEST((lease_clock::now() >= told + 15ms));
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

BOOST_AUTO_TEST_CASE(a_waiter_without_a_place_heeds_every_message) {
    waiter_for_permits all;
    all.on_turns(all.mine + " 0");
    all.answer(replied(0, 3'600'000, 0, 0, 0));
    BOOST_TEST(all.sent() == "");
    // Its place is kept in mind: another client's is not.
    all.asking->signal.emit(asio::cancellation_type::terminal);
    all.run();
    BOOST_TEST(all.sent() == "semaphore.release");
    all.answer(replied(0, 0));
    acquiring const next{all};
    all.answer(replied(0, 3'600'000, 0, 0, 0));
    all.on_turns("somebody:1 1");
    all.on_channel("1");
    BOOST_TEST(all.sent() == "semaphore.acquire");
}

BOOST_AUTO_TEST_CASE(the_last_waiter_that_goes_gives_the_place_up) {
    waiter_for_permits all;
    acquiring second{all};
    all.asking->signal.emit(asio::cancellation_type::terminal);
    all.run();
    BOOST_TEST((all.asking->error == asio::error::operation_aborted));
    while (all.sent() == "semaphore.acquire") {
        all.answer(waiter_for_permits::placed());
    }
    BOOST_TEST(all.sent() == "");
    second.signal.emit(asio::cancellation_type::total);
    all.run();
    BOOST_TEST(all.sent() == "semaphore.release");
    BOOST_TEST(all.text().find(" 1 " + all.mine + " 1 ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(after_a_grant_the_next_one_asks_with_a_place_of_its_own) {
    waiter_for_permits all;
    acquiring const second{all};
    while (all.sent() == "semaphore.acquire") {
        all.answer(waiter_for_permits::placed());
    }
    all.on_turns(all.mine + " 1");
    all.answer(granted(7));
    BOOST_TEST((all.asking->got.token() == fencing_token{7}));
    BOOST_TEST(all.sent() == "semaphore.acquire");
    BOOST_TEST(all.id() != all.mine);
    all.answer(granted(8));
    BOOST_TEST((second.got.token() == fencing_token{8}));
    BOOST_TEST(all.sent() == "");
}

BOOST_AUTO_TEST_CASE(a_user_without_the_rights_gets_locks_as_before) {
    handing_client all;
    acquiring const waiting{all};
    BOOST_TEST(all.text().starts_with("lock.acquire 4 a "));
    all.answer(holdfast::test::failed(holdfast::errc::no_permission));
    BOOST_TEST(!waiting.done());
    BOOST_TEST(all.text().starts_with("lock.acquire 3 a "));
    all.answer(granted(5));
    BOOST_TEST(waiting.got.valid());
    BOOST_TEST(all.log.count("locks are not handed over") == 1U);
}

BOOST_AUTO_TEST_CASE(a_release_that_is_not_answered_makes_its_waiters_ask) {
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
    all.answer(unanswered());
    BOOST_TEST(all.sent() == "acquire");
    // The release is repeated, without a place for anybody.
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire release"; }));
    auto const client = id.substr(0, id.rfind(':'));
    BOOST_TEST(all.text(1).find(id) != std::string::npos);
    BOOST_TEST(all.text(1).find(client) == all.text(1).rfind(client));
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
