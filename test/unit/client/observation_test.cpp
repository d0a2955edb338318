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
using holdfast::leader_info;
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
            [this](error_code ec, leader_info const& leader) {
                last_error = ec;
                told += told.empty() ? "" : " ";
                told += ec ? "error" : leader ? leader.value : "-";
            }
        ));
        run();
    }
    void confirm_all() {
        on_strand([this] {
            server->listeners->on_confirmed(keys->lock->channel());
            server->listeners->on_confirmed(keys->leader);
        });
    }
    void announce() {
        on_strand([this] { server->listeners->on_notification(keys->leader, "1"); });
    }
    void free() {
        on_strand([this] { server->listeners->on_notification(keys->lock->channel(), "0"); });
    }
    /// It knows that this one leads, and what is published will arrive.
    void settle(std::uint64_t number) {
        next();
        answer(leads(number));
        confirm_all();
        next();
        answer(leads(number));
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
    observes->next([](error_code, leader_info const&) {});
    all.run();
    BOOST_TEST(
        all.server->subscribed ==
        "+holdfast_waiters:{a}+redisson_lock__channel:{a}+holdfast_leader:{a}"
    );
}

BOOST_AUTO_TEST_CASE(it_looks_when_a_leader_is_announced_and_reports_only_what_is_new) {
    world all;
    all.settle(5);
    all.announce();
    BOOST_TEST(all.sent() == "election.look");
    all.answer(electing::leads(5));
    BOOST_TEST(all.told == "");
    all.announce();
    all.answer(electing::leads(6));
    BOOST_TEST(all.told == "v6");
}

BOOST_AUTO_TEST_CASE(another_value_of_the_same_term_is_reported) {
    world all;
    all.settle(5);
    all.announce();
    all.answer(holdfast::test::replied(30'000, 50, 2, "h", "other"));
    BOOST_TEST(all.told == "other");
}

BOOST_AUTO_TEST_CASE(it_looks_when_the_lock_is_freed) {
    world all;
    all.settle(5);
    all.free();
    BOOST_TEST(all.sent() == "election.look");
    all.answer(electing::nobody());
    BOOST_TEST(all.told == "-");
    // Once.
    all.next();
    all.free();
    all.answer(electing::nobody());
    BOOST_TEST(all.told == "-");
}

BOOST_AUTO_TEST_CASE(what_happens_during_a_look_is_looked_for_after_it) {
    world all;
    all.settle(5);
    all.announce();
    all.announce();
    BOOST_TEST(all.sent() == "election.look");
    all.next();
    all.answer(electing::leads(6));
    BOOST_TEST(all.sent() == "election.look");
    all.answer(electing::leads(7));
    BOOST_TEST(all.told == "v6 v7");
}

BOOST_AUTO_TEST_CASE(it_looks_when_the_lease_of_the_leader_may_have_ended) {
    world all;
    all.next();
    all.confirm_all();
    all.answer(electing::leads(5, 20));
    all.next();
    all.answer(electing::leads(5, 20));
    BOOST_TEST(all.sent() == "");
    BOOST_TEST(all.eventually([&] { return all.sent() == "election.look"; }));
    all.answer(electing::nobody());
    BOOST_TEST(all.told == "v5 -");
    all.next();
    // Nobody has the lock: there is no end to wait for.
    all.pass(30ms);
    BOOST_TEST(all.sent() == "");
}

// A replica that had not got the last leaders has become the primary.
BOOST_AUTO_TEST_CASE(an_older_term_than_a_reported_one_is_no_leader) {
    world all;
    all.settle(5);
    all.announce();
    all.answer(electing::leads(4));
    BOOST_TEST(all.told == "-");
    all.next();
    all.announce();
    all.answer(electing::leads(4));
    BOOST_TEST(all.told == "-");
    // The leader has proclaimed its value there.
    all.announce();
    all.answer(electing::leads(5));
    BOOST_TEST(all.told == "- v5");
}

BOOST_AUTO_TEST_CASE(each_of_several_that_wait_gets_one_change_in_their_order) {
    world all;
    all.settle(5);
    all.next();
    all.next();
    for (std::uint64_t const number : {6U, 7U, 8U}) {
        all.announce();
        all.answer(electing::leads(number));
    }
    BOOST_TEST(all.told == "v6 v7 v8");
}

BOOST_AUTO_TEST_CASE(one_that_is_cancelled_takes_no_change_with_it) {
    world all;
    all.settle(5);
    all.next();
    all.signals.at(1).emit(asio::cancellation_type::total);
    all.run();
    BOOST_TEST(all.told == "error");
    BOOST_TEST((all.last_error == asio::error::operation_aborted));
    all.announce();
    all.answer(electing::leads(6));
    BOOST_TEST(all.told == "error v6");
    // Nor during a look.
    all.next();
    all.next();
    all.announce();
    all.signals.at(3).emit(asio::cancellation_type::partial);
    all.run();
    all.answer(electing::leads(7));
    BOOST_TEST(all.told == "error v6 error v7");
    // With nobody left it looks no more.
    all.announce();
    BOOST_TEST(all.sent() == "");
}

// The answer to a look that nobody waits for may be old when the next operation starts.
BOOST_AUTO_TEST_CASE(the_operation_after_a_cancelled_one_looks_for_itself) {
    world all;
    all.settle(5);
    all.announce();
    all.signals.at(1).emit(asio::cancellation_type::total);
    all.run();
    all.answer(electing::leads(6));
    BOOST_TEST(all.told == "error");
    all.next();
    BOOST_TEST(all.sent() == "election.look");
    all.answer(electing::leads(7));
    BOOST_TEST(all.told == "error v7");
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
    all.announce();
    all.answer(failed(errc::no_permission));
    BOOST_TEST(all.told == "error error");
    BOOST_TEST((all.last_error == errc::no_permission));
    all.next();
    all.answer(electing::leads(6));
    BOOST_TEST(all.told == "error error v6");
    all.next();
    all.announce();
    all.answer(holdfast::test::replied(-3));
    BOOST_TEST((all.last_error == errc::corrupt_state));
}

BOOST_AUTO_TEST_CASE(a_channel_that_is_refused_ends_it_and_is_asked_for_again) {
    world all;
    all.next();
    all.answer(electing::nobody());
    all.next();
    all.on_strand([&] { all.server->listeners->on_refused(all.keys->leader, errc::no_permission); }
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
    all.announce();
    BOOST_TEST(all.sent() == "");
    all.set_commands_up(true);
    BOOST_TEST(all.eventually([&] { return all.sent() == "election.look"; }));
    all.answer(electing::leads(6));
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
    BOOST_TEST(all.server->subscribed == "-redisson_lock__channel:{a}-holdfast_leader:{a}");
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
