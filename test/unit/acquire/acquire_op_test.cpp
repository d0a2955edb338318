// One acquisition: what it sends, what each answer and each cancellation comes to, and that an
// attempt without a caller is withdrawn.

#include "acquire/acquire_op.hpp"

#include "unit/acquire/acquiring.hpp"
#include "unit/printers.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::fencing_token;
using holdfast::lease_state;
using holdfast::owner;
using holdfast::detail::exec_result;
using holdfast::detail::exec_status;
using holdfast::detail::make_lock_target;
using holdfast::detail::patience;
using holdfast::detail::target;
using holdfast::test::acquiring;
using holdfast::test::busy;
using holdfast::test::failed;
using holdfast::test::granted;
using holdfast::test::once;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::unanswered;

namespace {
error_code const aborted = asio::error::operation_aborted;
}

BOOST_AUTO_TEST_SUITE(acquire_op_test)

BOOST_AUTO_TEST_CASE(a_grant_is_delivered) {
    scripted_client all;
    acquiring one{all};
    BOOST_TEST(!one.done());
    BOOST_TEST(all.sent() == "acquire");
    all.answer(granted(41));
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(one.got.state() == lease_state::held);
    BOOST_TEST((one.got.token() == fencing_token{41}));
    BOOST_TEST(all.count().grants == 1U);
    BOOST_TEST(all.count().hand_overs == 0U);
    BOOST_TEST((all.count().total_wait > 0ns));
}

BOOST_AUTO_TEST_CASE(one_attempt_that_finds_the_lock_busy_ends_without_a_lease_and_without_an_error
) {
    scripted_client all;
    acquiring const one{all, once};
    all.answer(busy());
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(!one.got);
    BOOST_TEST(all.count().refusals == 1U);
    BOOST_TEST(all.server->subscribed.empty());
}

BOOST_AUTO_TEST_CASE(one_attempt_that_could_not_ask_ends_with_the_cause) {
    struct {
        exec_result result;
        errc cause;
        bool withdrawn;
    } const table[] = {
        {replied(2), errc::corrupt_state, false},
        {failed(errc::no_permission), errc::no_permission, false},
        {failed(errc::server_refused, exec_status::refused), errc::server_refused, false},
        {unanswered(), errc::unreachable, true},
        {failed({}, exec_status::unknown), errc::unreachable, true},
    };
    for (auto const& row : table) {
        scripted_client all;
        acquiring const one{all, once};
        all.answer(row.result);
        BOOST_TEST((one.error == row.cause));
        BOOST_TEST(!one.got);
        BOOST_TEST(all.sent() == (row.withdrawn ? "release" : ""));
        BOOST_TEST(all.count().withdrawals == (row.withdrawn ? 1U : 0U));
    }
}

BOOST_AUTO_TEST_CASE(no_time_at_all_is_one_attempt) {
    scripted_client all;
    acquiring const one{all, {.how_long = patience::limited}};
    all.answer(busy());
    BOOST_TEST((one.error == error_code{}));
}

BOOST_AUTO_TEST_CASE(a_limit_ends_without_a_lease_if_the_lock_was_found_busy) {
    scripted_client all;
    acquiring const one{all, {.how_long = patience::limited, .limit = 1ms}};
    all.answer(busy());
    BOOST_TEST(all.eventually([&] { return one.done(); }));
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(!one.got);
}

BOOST_AUTO_TEST_CASE(a_limit_that_heard_nothing_ends_with_the_cause_and_withdraws) {
    scripted_client all;
    acquiring const one{all, {.how_long = patience::limited, .limit = 1ms}};
    BOOST_TEST(all.eventually([&] { return one.done(); }));
    BOOST_TEST((one.error == errc::unreachable));
    BOOST_TEST(all.sent() == "acquire release");
}

namespace {

// Its time is up, and the server has not answered.
struct overdue {
    explicit overdue(patience how_long = patience::limited) {
        one.emplace(all, holdfast::test::acquiring_options{.how_long = how_long, .limit = 1ms});
        all.pass(50ms);
        BOOST_TEST(!one->done());
    }

    scripted_client all;
    std::optional<acquiring> one;
};

}  // namespace

BOOST_AUTO_TEST_CASE(an_answer_is_waited_for_when_the_time_is_up) {
    overdue refused;
    refused.all.answer(busy());
    BOOST_TEST((refused.one->error == error_code{}));
    BOOST_TEST(!refused.one->got);
    BOOST_TEST(refused.all.count().refusals == 1U);
    BOOST_TEST(refused.all.count().waiters_now == 0U);

    overdue won;
    won.all.answer(granted());
    BOOST_TEST((won.one->error == error_code{}));
    BOOST_TEST(won.one->got.valid());
    BOOST_TEST(won.all.count().grants == 1U);
    BOOST_TEST((won.all.count().longest_wait >= 50ms));

    overdue loading;
    loading.all.answer(failed(errc::server_refused, exec_status::refused));
    BOOST_TEST((loading.one->error == errc::server_refused));
}

BOOST_AUTO_TEST_CASE(an_answer_is_waited_for_no_longer_than_100_ms_or_a_request_timeout) {
    overdue silent;
    silent.all.pass(50ms);
    BOOST_TEST(!silent.one->done());
    silent.all.pass(2ms);
    BOOST_TEST((silent.one->error == errc::unreachable));
    BOOST_TEST(silent.all.sent() == "acquire release");

    holdfast::config settings;
    settings.request_timeout = 20ms;
    scripted_client all{settings};
    acquiring const one{all, {.how_long = patience::limited, .limit = 1ms}};
    all.pass(20ms);
    BOOST_TEST(!one.done());
    all.pass(2ms);
    BOOST_TEST((one.error == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(without_a_connection_no_answer_is_waited_for_when_the_time_is_up) {
    scripted_client all;
    acquiring const one{all, {.how_long = patience::limited, .limit = 1ms}};
    all.set_commands_up(false);
    all.pass(1ms);
    BOOST_TEST((one.error == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(a_server_that_has_been_silent_for_a_request_timeout_is_not_waited_for) {
    holdfast::config settings;
    settings.request_timeout = 2s;
    scripted_client all{settings};
    acquiring const late{all, {.how_long = patience::limited, .limit = 1ms}};
    all.server->silent = holdfast::lease_clock::now() - 1s;
    all.pass(1ms);
    BOOST_TEST(!late.done());
    acquiring const too_late{all, {.how_long = patience::limited, .limit = 1ms}};
    all.server->silent = holdfast::lease_clock::now() - 3s;
    all.pass(1ms);
    BOOST_TEST((too_late.error == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(an_operation_whose_time_is_up_can_be_cancelled) {
    for (auto const type : {asio::cancellation_type::terminal, asio::cancellation_type::partial}) {
        overdue all;
        all.one->signal.emit(type);
        all.all.run();
        BOOST_TEST((all.one->error == aborted));
        BOOST_TEST(all.all.sent() == "acquire release");
    }
    overdue won;
    won.one->signal.emit(asio::cancellation_type::total);
    won.all.run();
    BOOST_TEST(!won.one->done());
    won.all.answer(granted());
    BOOST_TEST(won.one->got.valid());
    overdue refused;
    refused.one->signal.emit(asio::cancellation_type::total);
    refused.all.answer(busy());
    BOOST_TEST((refused.one->error == aborted));
    overdue silent;
    silent.one->signal.emit(asio::cancellation_type::total);
    silent.all.pass(52ms);
    BOOST_TEST((silent.one->error == aborted));
    BOOST_TEST(silent.all.sent() == "acquire release");
}

BOOST_AUTO_TEST_CASE(a_client_that_stops_does_not_wait_for_those_whose_time_is_up) {
    overdue all;
    all.all.state->abandon();
    all.all.run();
    BOOST_TEST((all.one->error == errc::client_stopped));
}

BOOST_AUTO_TEST_CASE(without_a_connection_one_attempt_waits_for_it) {
    scripted_client all{{}, false};
    acquiring const one{all, once};
    BOOST_TEST(!one.done());
    all.set_commands_up(true);
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
    all.answer(granted());
    BOOST_TEST(one.got.valid());
}

BOOST_AUTO_TEST_CASE(without_a_connection_for_long_one_attempt_ends_with_the_cause) {
    holdfast::config settings;
    settings.request_timeout = 1ms;
    scripted_client all{settings, false};
    all.server->why = {errc::server_refused, false};
    acquiring const one{all, once};
    BOOST_TEST(all.eventually([&] { return one.done(); }));
    BOOST_TEST((one.error == errc::server_refused));
}

BOOST_AUTO_TEST_CASE(a_cause_that_does_not_pass_ends_it_at_once) {
    scripted_client all{{}, false};
    acquiring const waiting{all};
    all.fail(errc::auth_failed);
    BOOST_TEST((waiting.error == errc::auth_failed));
    acquiring const late{all};
    BOOST_TEST((late.error == errc::auth_failed));
    BOOST_TEST(!late.inside);
}

BOOST_AUTO_TEST_CASE(a_name_that_is_not_allowed_is_reported_by_the_operation) {
    scripted_client all;
    acquiring const one{all, {.on = std::make_shared<target const>(make_lock_target("", ""))}};
    BOOST_TEST((one.error == errc::invalid_name));
    BOOST_TEST(!one.inside);
    BOOST_TEST(all.sent().empty());
}

BOOST_AUTO_TEST_CASE(cancelled_while_it_waits_it_leaves_nothing_behind) {
    for (auto const type :
         {asio::cancellation_type::terminal,
          asio::cancellation_type::partial,
          asio::cancellation_type::total}) {
        scripted_client all;
        acquiring one{all};
        all.answer(busy());
        one.signal.emit(asio::cancellation_type::none);
        all.run();
        BOOST_TEST(!one.done());
        one.signal.emit(type);
        BOOST_TEST(!one.done());
        all.run();
        BOOST_TEST((one.error == aborted));
        BOOST_TEST(all.sent().empty());
        BOOST_TEST(all.count().waiters_now == 0U);
    }
}

BOOST_AUTO_TEST_CASE(an_attempt_in_flight_that_is_cancelled_at_once_is_withdrawn) {
    for (auto const type :
         {asio::cancellation_type::terminal,
          asio::cancellation_type::partial,
          asio::cancellation_type::partial | asio::cancellation_type::total}) {
        scripted_client all;
        acquiring one{all};
        one.signal.emit(type);
        all.run();
        BOOST_TEST((one.error == aborted));
        BOOST_TEST(all.sent() == "acquire release");
        // Its grant is for nobody, and freed by the withdrawal that follows it.
        all.answer(granted());
        BOOST_TEST(all.sent() == "release");
        BOOST_TEST(all.count().grants == 0U);
    }
}

BOOST_AUTO_TEST_CASE(an_attempt_is_not_sent_again_after_its_withdrawal) {
    scripted_client all;
    acquiring one{all};
    auto const& sent = all.server->requests.front().what;
    BOOST_TEST(!sent.is_withdrawn());
    one.signal.emit(asio::cancellation_type::terminal);
    all.run();
    BOOST_TEST(sent.is_withdrawn());
    all.answer({exec_status::not_sent, asio::error::operation_aborted, {}});
    BOOST_TEST(all.sent() == "release");
}

// A node of a cluster names another one that is down: the connection of the first one is up.
BOOST_AUTO_TEST_CASE(what_cannot_be_sent_although_there_is_a_connection_is_repeated_after_pauses) {
    for (auto const how_long : {patience::one_attempt, patience::limited}) {
        scripted_client all;
        acquiring const one{all, {.how_long = how_long, .limit = 3s}};
        int attempts = 0;
        auto const began = holdfast::lease_clock::now();
        while (!one.done() && holdfast::lease_clock::now() < began + 4s) {
            if (!all.sent().empty()) {
                ++attempts;
                all.answer({exec_status::not_sent, errc::unreachable, {}});
                BOOST_TEST(all.sent().empty());
            }
            all.pass(1ms);
        }
        BOOST_TEST((one.error == errc::unreachable));
        BOOST_TEST((holdfast::lease_clock::now() - began < 3200ms));
        BOOST_TEST(attempts > 2);
        BOOST_TEST(attempts < 60);
    }
}

BOOST_AUTO_TEST_CASE(total_cancellation_waits_for_the_reply_and_delivers_a_grant) {
    scripted_client all;
    acquiring one{all};
    one.signal.emit(asio::cancellation_type::total);
    all.run();
    BOOST_TEST(!one.done());
    all.answer(granted());
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(one.got.valid());

    acquiring other{all, {.on = std::make_shared<target const>(make_lock_target("", "b"))}};
    other.signal.emit(asio::cancellation_type::total);
    all.run();
    all.answer(busy());
    BOOST_TEST((other.error == aborted));
}

BOOST_AUTO_TEST_CASE(an_owner_that_has_the_lock_enters_again_without_a_request) {
    scripted_client all;
    auto const who = std::optional{owner::make()};
    acquiring const first{all, {.who = who}};
    all.answer(granted(5));
    acquiring const second{all, {.who = who}};
    BOOST_TEST(!second.inside);
    BOOST_TEST(second.got.valid());
    BOOST_TEST((second.got.token() == first.got.token()));
    BOOST_TEST(all.sent().empty());
    BOOST_TEST(all.count().re_entries == 1U);
    // Another one waits.
    acquiring const other{all, {.who = owner::make()}};
    BOOST_TEST(all.sent() == "acquire");
}

BOOST_AUTO_TEST_CASE(acquisitions_of_one_owner_that_wait_join_the_first_that_is_granted) {
    scripted_client all;
    auto const who = std::optional{owner::make()};
    acquiring const first{all, {.who = who}};
    acquiring const second{all, {.who = who}};
    acquiring const single{all, {.how_long = patience::one_attempt, .who = who}};
    BOOST_TEST(all.sent() == "acquire acquire");
    all.answer(granted(5));
    BOOST_TEST(first.got.valid());
    BOOST_TEST(second.got.valid());
    BOOST_TEST(single.got.valid());
    BOOST_TEST(all.count().re_entries == 2U);
    // The attempt of the third may still be granted.
    BOOST_TEST(all.sent() == "acquire release");
}

BOOST_AUTO_TEST_CASE(a_stopped_client_ends_it) {
    scripted_client all;
    acquiring const waiting{all};
    all.state->abandon();
    all.run();
    BOOST_TEST((waiting.error == errc::client_stopped));
    acquiring const late{all};
    BOOST_TEST((late.error == errc::client_stopped));
    BOOST_TEST(!late.inside);
}

namespace {

holdfast::config with_replicas() {
    holdfast::config settings;
    settings.replicas.count = 1;
    return settings;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_grant_is_delivered_when_replicas_have_it) {
    scripted_client all{with_replicas()};
    all.server->replicas = 1;
    acquiring const one{all, once};
    all.answer(granted(41));
    BOOST_TEST(!one.done());
    BOOST_TEST(all.sent() == "acquire");
    BOOST_TEST(all.server->requests.front().replicas == 1U);
    all.answer(granted(42));
    BOOST_TEST(one.got.valid());
    // That of the request which replicas have confirmed.
    BOOST_TEST((one.got.token() == fencing_token{42}));
}

BOOST_AUTO_TEST_CASE(one_attempt_whose_grant_replicas_do_not_have_is_withdrawn) {
    scripted_client all{with_replicas()};
    acquiring const one{all, once};
    all.answer(granted());
    all.answer(granted());
    BOOST_TEST((one.error == errc::not_replicated));
    BOOST_TEST(!one.got);
    BOOST_TEST(all.sent() == "release");
}

// The request that waits for replicas may be executed after the one that takes the lock back.
BOOST_AUTO_TEST_CASE(what_is_cancelled_while_replicas_are_waited_for_is_given_back_once_more) {
    scripted_client all{with_replicas()};
    all.server->replicas = 1;
    acquiring one{all, once};
    all.answer(granted());
    one.signal.emit(asio::cancellation_type::terminal);
    all.run();
    BOOST_TEST((one.error == aborted));
    BOOST_TEST(all.sent() == "acquire release");
    all.answer(granted());
    BOOST_TEST(all.sent() == "release release");
    BOOST_TEST(!one.got);
}

BOOST_AUTO_TEST_SUITE_END()
