// An observer: when it looks, what it tells to whom, and that it is quiet while nobody asks or
// nothing happens.

#include "client/observation.hpp"

#include "unit/client/electing.hpp"
#include "unit/printers.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::leader_change;
using holdfast::detail::exec_status;
using holdfast::detail::observation;
using holdfast::test::electing;
using holdfast::test::failed;

namespace {

struct world : electing {
    explicit world(holdfast::config settings = quick(), bool connected = true)
        : electing{std::move(settings), connected},
          observes{std::make_shared<observation>(state, keys)} {}

    /// What it is told: `-` stands for nobody.
    void next() {
        auto& signal = signals.emplace_back();
        observes->next(asio::bind_cancellation_slot(
            signal.slot(),
            [this](error_code ec, leader_change const& change) {
                last_error = ec;
                told += told.empty() ? "" : " ";
                told += ec              ? "error"
                        : change.leader ? (change.missed ? "?" : "") + change.leader.value
                                        : "-";
            }
        ));
        run();
    }
    void confirm_all() {
        on_strand([this] {
            server->listeners->on_confirmed(keys->lock->channel());
            server->listeners->on_confirmed(keys->channel);
        });
    }
    void announce(std::string const& message) {
        on_strand([this, &message] { server->listeners->on_notification(keys->channel, message); });
    }
    void free() {
        on_strand([this] { server->listeners->on_notification(keys->lock->channel(), "0"); });
    }
    /// It knows that this one leads, and what is published will arrive.
    void settle(std::uint64_t number) {
        next();
        answer(leaders(number, true, {number}));
        confirm_all();
        next();
        answer(leaders(number, true));
        BOOST_TEST(sent() == "");
        told.clear();
    }

    std::shared_ptr<observation> observes;
    std::deque<asio::cancellation_signal> signals;
    std::string told;
    error_code last_error;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(observation_test)

BOOST_AUTO_TEST_CASE(it_listens_and_looks_and_looks_again_when_it_is_heard_that_it_listens) {
    world all;
    BOOST_TEST(all.server->subscribed == "");
    all.next();
    BOOST_TEST(all.server->subscribed == "+redisson_lock__channel:{a}+holdfast_leader:{a}");
    BOOST_TEST(all.sent() == "election.look");
    all.answer(electing::nobody());
    BOOST_TEST(all.told == "-");
    all.confirm_all();
    // While nobody asks, nothing is sent.
    BOOST_TEST(all.sent() == "");
    all.next();
    BOOST_TEST(all.sent() == "election.look");
    all.answer(electing::nobody());
    BOOST_TEST(all.told == "-");
    BOOST_TEST(all.sent() == "");
}

BOOST_AUTO_TEST_CASE(where_locks_are_handed_over_it_does_not_count_as_a_client_that_waits) {
    electing hands_over{electing::quick()};
    holdfast::test::scripted_client all{electing::quick(), true, true};
    auto const observes = std::make_shared<observation>(all.state, hands_over.keys);
    observes->next([](error_code, leader_change const&) {});
    all.run();
    BOOST_TEST(
        all.server->subscribed ==
        "+holdfast_waiters:{a}+redisson_lock__channel:{a}+holdfast_leader:{a}"
    );
}

BOOST_AUTO_TEST_CASE(it_looks_when_a_leader_is_announced_whom_it_does_not_know) {
    world all;
    all.settle(5);
    all.announce("5 50 1");
    all.announce("4 40 1");
    BOOST_TEST(all.sent() == "");
    all.announce("6 60 1");
    BOOST_TEST(all.sent() == "election.look");
    BOOST_TEST(all.word(2) == "5");
    BOOST_TEST(all.word(3) == "50");
    all.answer(electing::leaders(6, true, {6}));
    BOOST_TEST(all.told == "v6");
    // Whatever else is said there is a reason to look.
    all.next();
    all.announce("hello");
    BOOST_TEST(all.sent() == "election.look");
}

BOOST_AUTO_TEST_CASE(it_looks_when_the_lock_is_freed) {
    world all;
    all.settle(5);
    all.free();
    BOOST_TEST(all.sent() == "election.look");
    all.answer(electing::nobody(5));
    BOOST_TEST(all.told == "-");
}

BOOST_AUTO_TEST_CASE(what_happens_during_a_look_is_looked_for_after_it) {
    world all;
    all.settle(5);
    all.announce("6 60 1");
    all.announce("7 70 1");
    BOOST_TEST(all.sent() == "election.look");
    all.next();
    all.answer(electing::leaders(6, true, {6}));
    BOOST_TEST(all.sent() == "election.look");
    all.answer(electing::leaders(7, true, {7}));
    BOOST_TEST(all.told == "v6 v7");
}

BOOST_AUTO_TEST_CASE(it_looks_when_the_lease_of_the_leader_may_have_ended) {
    world all;
    all.next();
    all.confirm_all();
    all.answer(electing::leaders(5, true, {5}, 20));
    all.next();
    all.answer(electing::leaders(5, true, {}, 20));
    BOOST_TEST(all.sent() == "");
    BOOST_TEST(all.eventually([&] { return all.sent() == "election.look"; }));
    all.answer(electing::leaders(5, false, {}, -2));
    BOOST_TEST(all.told == "v5 -");
    all.next();
    // Nobody has the lock: there is no end to wait for.
    all.pass(30ms);
    BOOST_TEST(all.sent() == "");
}

BOOST_AUTO_TEST_CASE(several_changes_go_to_those_that_wait_in_their_order) {
    world all;
    all.next();
    all.answer(electing::leaders(5, true, {5}));
    all.confirm_all();
    all.next();
    all.answer(electing::leaders(8, false, {6, 7, 8}));
    BOOST_TEST(all.told == "v5 v6");
    all.next();
    all.next();
    all.next();
    BOOST_TEST(all.told == "v5 v6 v7 v8 -");
    BOOST_TEST(all.sent() == "");
}

BOOST_AUTO_TEST_CASE(one_that_is_cancelled_takes_no_change_with_it) {
    world all;
    all.settle(5);
    all.next();
    all.signals.at(1).emit(asio::cancellation_type::total);
    all.run();
    BOOST_TEST(all.told == "error");
    BOOST_TEST((all.last_error == asio::error::operation_aborted));
    all.announce("6 60 1");
    all.answer(electing::leaders(6, true, {6}));
    BOOST_TEST(all.told == "error v6");
    // Nor during a look.
    all.next();
    all.next();
    all.announce("7 70 1");
    all.signals.at(3).emit(asio::cancellation_type::partial);
    all.run();
    all.answer(electing::leaders(7, true, {7}));
    BOOST_TEST(all.told == "error v6 error v7");
    // With nobody left it looks no more.
    all.announce("8 80 1");
    BOOST_TEST(all.sent() == "");
}

BOOST_AUTO_TEST_CASE(what_passes_by_itself_does_not_end_it) {
    world all;
    all.next();
    for (auto const how : {exec_status::unknown, exec_status::refused, exec_status::not_sent}) {
        all.answer(failed(errc::server_refused, how));
        BOOST_TEST(all.eventually([&] { return all.sent() == "election.look"; }));
    }
    all.answer(electing::nobody());
    BOOST_TEST(all.told == "-");
}

BOOST_AUTO_TEST_CASE(what_does_not_pass_ends_it_and_the_next_one_goes_on) {
    world all;
    all.settle(5);
    all.next();
    all.announce("6 60 1");
    all.answer(failed(errc::no_permission));
    BOOST_TEST(all.told == "error error");
    BOOST_TEST((all.last_error == errc::no_permission));
    all.next();
    BOOST_TEST(all.word(2) == "5");
    all.answer(electing::leaders(7, true, {6, 7}));
    all.next();
    BOOST_TEST(all.told == "error error v6 v7");
    all.next();
    all.announce("8 80 1");
    all.answer(holdfast::test::replied(-3));
    BOOST_TEST((all.last_error == errc::corrupt_state));
}

BOOST_AUTO_TEST_CASE(a_channel_that_is_refused_ends_it_and_is_asked_for_again) {
    world all;
    all.next();
    all.answer(electing::nobody());
    all.next();
    all.on_strand([&] { all.server->listeners->on_refused(all.keys->channel, errc::no_permission); }
    );
    BOOST_TEST((all.last_error == errc::no_permission));
    all.server->subscribed.clear();
    all.next();
    BOOST_TEST(all.server->subscribed == "+holdfast_leader:{a}");
}

BOOST_AUTO_TEST_CASE(after_a_reconnection_it_looks) {
    world all;
    all.settle(5);
    all.set_commands_up(false);
    all.announce("6 60 1");
    BOOST_TEST(all.sent() == "");
    all.set_commands_up(true);
    BOOST_TEST(all.eventually([&] { return all.sent() == "election.look"; }));
    all.answer(electing::leaders(6, true, {6}));
    BOOST_TEST(all.told == "v6");
}

BOOST_AUTO_TEST_CASE(without_a_connection_it_waits_for_one_or_ends_with_what_does_not_pass) {
    world all{electing::quick(), false};
    all.next();
    BOOST_TEST(all.sent() == "");
    all.set_commands_up(true);
    BOOST_TEST(all.eventually([&] { return all.sent() == "election.look"; }));
    world refused{electing::quick(), false};
    refused.next();
    refused.fail(errc::auth_failed);
    BOOST_TEST((refused.last_error == errc::auth_failed));
    refused.next();
    BOOST_TEST(refused.told == "error error");
}

BOOST_AUTO_TEST_CASE(it_ends_with_its_handle_and_its_channels_with_it) {
    world all;
    all.settle(5);
    all.server->subscribed.clear();
    all.observes->abandon();
    all.run();
    BOOST_TEST((all.last_error == asio::error::operation_aborted));
    BOOST_TEST(all.server->subscribed == "-holdfast_leader:{a}-redisson_lock__channel:{a}");
}

BOOST_AUTO_TEST_CASE(it_ends_with_the_client) {
    world all;
    all.settle(5);
    all.state->shutdown([](error_code) {});
    all.run();
    BOOST_TEST((all.last_error == errc::client_stopped));
    all.next();
    BOOST_TEST(all.told == "error error");
}

BOOST_AUTO_TEST_SUITE_END()
