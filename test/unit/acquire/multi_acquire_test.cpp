// An acquisition of several locks: what it sends, what it keeps and gives back, and how it ends.

#include "acquire/multi_acquire.hpp"

#include "protocol/fair_lock.hpp"
#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"
#include "unit/scripted_client.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::fencing_token;
using holdfast::lease_state;
using holdfast::loss_reason;
using holdfast::multi_lease;
using holdfast::owner;
using holdfast::detail::lease_terms;
using holdfast::detail::lock_request;
using holdfast::detail::make_fair_lock_target;
using holdfast::detail::make_lock_target;
using holdfast::detail::multi_acquire;
using holdfast::detail::patience;
using holdfast::detail::pending_handler;
using holdfast::detail::target;
using holdfast::test::busy;
using holdfast::test::failed;
using holdfast::test::freed;
using holdfast::test::granted;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::unanswered;

namespace {

error_code const aborted = asio::error::operation_aborted;

std::shared_ptr<target const> lock_of(std::string const& name) {
    return std::make_shared<target const>(make_lock_target("", name));
}

struct options {
    patience how_long = patience::unlimited;
    std::chrono::nanoseconds limit{0};
    std::optional<owner> who = {};
    std::chrono::nanoseconds max_hold{0};
    bool fair = false;
    std::chrono::nanoseconds renew_after = 8h;
    bool renew = true;
    /// Of the lock "b".
    scripted_client* other = nullptr;
};

options const once{.how_long = patience::one_attempt};

/// One acquisition of "a" and "b", which the user named the other way round.
struct acquiring_both {
    explicit acquiring_both(scripted_client& client, options const& how = {}) : client_{client} {
        lease_terms const terms{
            .lease = 24h,
            .drift = 1min,
            .loss_margin = 1h,
            .renew_after = how.renew_after,
            .request_timeout = 3s,
            .max_hold = how.max_hold,
            .renew = how.renew,
        };
        auto& second = how.other ? *how.other : client;
        auto const a = how.fair ? std::make_shared<target const>(make_fair_lock_target("", "a"))
                                : lock_of("a");
        auto* const all = &client.state->acquires();
        auto handler = [this](error_code ec, multi_lease given) {
            error = ec;
            got = std::move(given);
        };
        auto const asked = [&](std::shared_ptr<target const> on) {
            return lock_request{std::move(on), terms, how.how_long, how.limit, how.who};
        };
        auto const op = std::make_shared<multi_acquire>(
            client.state,
            multi_acquire::request{
                {client.state, all, asked(a), 1},
                {second.state, &second.state->acquires(), asked(lock_of("b")), 0},
            },
            holdfast::detail::guarded_executor{client.context.get_executor()},
            pending_handler<error_code, multi_lease>{
                asio::bind_cancellation_slot(signal.slot(), handler),
                client.context.get_executor()
            }
        );
        op->accept_cancellation();
        client.on_strand([op] { op->start(); });
        client.run();
    }

    bool done() const { return error.has_value(); }
    void cancel(asio::cancellation_type type) {
        signal.emit(type);
        client_.run();
    }

    std::optional<error_code> error;
    multi_lease got;
    asio::cancellation_signal signal;

private:
    scripted_client& client_;
};

/// A client that has been granted a lock before: nothing has to be tried out any more.
struct known_client : scripted_client {
    explicit known_client(bool hands_over = false) : scripted_client{{}, true, hands_over} {
        on_strand([this] { state->server().has_granted = true; });
    }
    std::string text(std::size_t at = 0) const {
        return holdfast::test::typed(server->requests.at(at).what);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_acquire_test)

BOOST_AUTO_TEST_CASE(one_script_takes_both) {
    known_client all;
    acquiring_both one{all};
    BOOST_TEST(all.text().starts_with("multi_lock.acquire 4 a "));
    all.answer(replied(1, 41, 57));
    all.run();
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(one.got.state() == lease_state::held);
    BOOST_REQUIRE(one.got.size() == 2U);
    // In the order in which they were named.
    BOOST_TEST((one.got.token(0) == fencing_token{57}));
    BOOST_TEST((one.got.token(1) == fencing_token{41}));
    BOOST_TEST(all.count().grants == 2U);
    BOOST_TEST(all.count().leases_now == 2U);
    one.got = {};
    all.run();
    BOOST_TEST(all.sent() == "release release");
}

BOOST_AUTO_TEST_CASE(the_queues_are_respected_where_locks_are_handed_over) {
    known_client all{true};
    acquiring_both one{all};
    BOOST_TEST(
        all.text().starts_with("multi_lock.acquire 6 a redisson_lock_token:{a} "
                               "holdfast_queue:{a} b ")
    );
}

BOOST_AUTO_TEST_CASE(what_is_not_known_of_the_server_yet_is_tried_out_with_each) {
    scripted_client all;
    acquiring_both one{all};
    BOOST_TEST(all.sent() == "acquire");
    all.answer(granted(7));
    BOOST_TEST(!one.done());
    BOOST_TEST(all.sent() == "acquire");
    all.answer(granted(8));
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(one.got.valid());
}

BOOST_AUTO_TEST_CASE(other_kinds_and_owners_are_taken_one_by_one) {
    known_client fair;
    acquiring_both const with_fair{fair, {.fair = true}};
    BOOST_TEST(fair.text().starts_with("fair_lock.acquire"));

    known_client owned;
    acquiring_both const with_owner{owned, {.who = owner::make()}};
    BOOST_TEST(owned.text().starts_with("lock.acquire 2 a"));
}

BOOST_AUTO_TEST_CASE(one_attempt_is_refused_as_a_whole) {
    known_client all;
    acquiring_both one{all, once};
    all.answer(replied(0, 1));
    all.run();
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(!one.got);
    BOOST_TEST(all.sent().empty());
    BOOST_TEST(all.count().withdrawals == 0U);
}

BOOST_AUTO_TEST_CASE(one_attempt_that_could_not_ask_ends_with_the_cause_and_withdraws_both) {
    known_client all;
    acquiring_both one{all, once};
    all.answer(unanswered());
    all.run();
    BOOST_TEST((one.error == errc::unreachable));
    BOOST_TEST(all.sent() == "release release");
}

BOOST_AUTO_TEST_CASE(what_is_no_lock_is_told_at_once) {
    known_client all;
    acquiring_both one{all};
    all.answer(replied(2, 1));
    all.run();
    BOOST_TEST((one.error == errc::corrupt_state));
    BOOST_TEST(all.sent().empty());
}

BOOST_AUTO_TEST_CASE(after_a_refusal_they_are_taken_in_their_order_and_kept) {
    known_client all;
    acquiring_both one{all};
    all.answer(replied(0, 1));
    all.run();
    BOOST_TEST(all.text().starts_with("lock.acquire 2 a"));
    all.answer(granted(7));
    all.run();
    BOOST_TEST(all.text().starts_with("lock.acquire 2 b"));
    all.answer(busy());
    all.run();
    BOOST_TEST(!one.done());
    BOOST_TEST(all.count().leases_now == 1U);  // "a" is kept
    BOOST_TEST(all.server->subscribed.find("{b}") != std::string::npos);
    all.on_strand([&] { all.server->listeners->on_confirmed("redisson_lock__channel:{b}"); });
    BOOST_TEST(all.text().starts_with("lock.acquire 2 b"));
    all.answer(granted(8));
    all.run();
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(one.got.valid());
}

BOOST_AUTO_TEST_CASE(a_member_that_is_lost_meanwhile_is_taken_again) {
    known_client all;
    acquiring_both const one{all, {.renew_after = 50ms}};
    all.answer(replied(0, 0));
    all.run();
    all.answer(granted(7));
    all.run();
    all.answer(busy());
    all.run();
    BOOST_TEST(all.eventually([&] { return all.sent() == "renew"; }));
    all.answer(replied(0, 1));  // another holder has it
    BOOST_TEST(all.eventually([&] { return all.sent() == "release acquire"; }));
    BOOST_TEST(all.text(1).starts_with("lock.acquire 2 a"));
    BOOST_TEST(all.count().waiters_now == 1U);  // it does not wait for "b" any more
    all.answer(replied(0, 1));
    all.answer(granted(9));
    all.run();
    BOOST_TEST(all.text().starts_with("lock.acquire 2 b"));
    all.answer(granted(10));
    all.run();
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST((one.got.token(1) == fencing_token{9}));
}

BOOST_AUTO_TEST_CASE(a_cancellation_gives_back_what_is_kept) {
    for (auto const type : {asio::cancellation_type::terminal, asio::cancellation_type::total}) {
        known_client all;
        acquiring_both one{all};
        all.answer(replied(0, 1));
        all.run();
        all.answer(granted(7));
        all.run();
        all.answer(busy());
        all.run();
        one.cancel(type);
        BOOST_TEST((one.error == aborted));
        BOOST_TEST(all.count().leases_now == 0U);
        BOOST_TEST(all.count().waiters_now == 0U);
        BOOST_TEST(all.text().starts_with("lock.release 2 a"));
        BOOST_TEST(all.server->requests.size() == 1U);
    }
}

BOOST_AUTO_TEST_CASE(a_cancellation_in_flight_withdraws_both) {
    known_client all;
    acquiring_both one{all};
    one.cancel(asio::cancellation_type::terminal);
    BOOST_TEST((one.error == aborted));
    BOOST_TEST(all.sent() == "multi_lock.acquire release release");
    all.answer(replied(1, 41, 57));
    all.run();
    BOOST_TEST(all.count().grants == 0U);
}

BOOST_AUTO_TEST_CASE(a_total_cancellation_in_flight_waits_for_the_reply) {
    known_client all;
    acquiring_both one{all};
    one.cancel(asio::cancellation_type::total);
    BOOST_TEST(!one.done());
    all.answer(replied(1, 41, 57));
    all.run();
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(one.got.valid());

    known_client refused;
    acquiring_both two{refused};
    two.cancel(asio::cancellation_type::total);
    refused.answer(replied(0, 1));
    refused.run();
    BOOST_TEST((two.error == aborted));
    BOOST_TEST(refused.sent().empty());
}

BOOST_AUTO_TEST_CASE(a_limit_ends_what_is_not_answered) {
    known_client all;
    acquiring_both const one{all, {.how_long = patience::limited, .limit = 1ms}};
    BOOST_TEST(all.eventually([&] { return one.done(); }));
    BOOST_TEST((one.error == errc::unreachable));
    all.run();
    BOOST_TEST(all.sent() == "multi_lock.acquire release release");
}

BOOST_AUTO_TEST_CASE(an_answer_is_waited_for_when_the_time_is_up) {
    for (bool const won : {false, true}) {
        known_client all;
        acquiring_both const one{all, {.how_long = patience::limited, .limit = 1ms}};
        all.pass(50ms);
        BOOST_TEST(!one.done());
        all.answer(won ? replied(1, 7, 8) : replied(0, 1));
        all.run();
        BOOST_TEST((one.error == error_code{}));
        BOOST_TEST(static_cast<bool>(one.got) == won);
        BOOST_TEST(all.sent().empty());
    }
    known_client silent;
    acquiring_both const one{silent, {.how_long = patience::limited, .limit = 1ms}};
    silent.pass(100ms);
    BOOST_TEST(!one.done());
    silent.pass(2ms);
    BOOST_TEST((one.error == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(members_that_are_taken_one_by_one_end_together_with_the_time) {
    scripted_client all;
    acquiring_both const one{all, {.how_long = patience::limited, .limit = 10ms}};
    all.pass(60ms);
    // The first one is granted when the time is up, and there is no answer for the second.
    all.answer(granted(7));
    all.run();
    BOOST_TEST(all.sent() == "acquire");
    all.pass(40ms);
    BOOST_TEST(!one.done());
    all.pass(12ms);
    BOOST_TEST((one.error == errc::unreachable));
    all.run();
    BOOST_TEST(all.sent() == "acquire release release");
}

BOOST_AUTO_TEST_CASE(a_limit_that_found_one_busy_ends_without_a_lease) {
    known_client all;
    acquiring_both const one{all, {.how_long = patience::limited, .limit = 30ms}};
    all.answer(replied(0, 1));
    all.run();
    all.answer(granted(7));
    all.run();
    all.answer(busy());
    BOOST_TEST(all.eventually([&] { return one.done(); }));
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(!one.got);
    all.run();
    BOOST_TEST(all.sent() == "release");
}

BOOST_AUTO_TEST_CASE(what_limits_the_lease_begins_when_all_are_held) {
    known_client all;
    acquiring_both const one{all, {.max_hold = 60ms}};
    all.answer(replied(0, 1));
    all.run();
    all.answer(granted(7));
    auto const taken = holdfast::lease_clock::now();
    all.eventually([&] { return holdfast::lease_clock::now() > taken + 80ms; });
    BOOST_TEST(all.count().leases_now == 1U);
    all.answer(granted(8));
    all.run();
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(one.got.valid());
    BOOST_TEST(all.eventually([&] { return !one.got.valid(); }));
    BOOST_TEST(one.got.loss() == loss_reason::max_hold);
}

// Its renewals read the limits there.
BOOST_AUTO_TEST_CASE(the_limits_of_a_member_begin_on_the_strand_of_its_client) {
    known_client lead;
    scripted_client other;
    acquiring_both const one{lead, {.max_hold = 60ms, .other = &other}};
    lead.answer(granted(7));
    other.run();
    other.answer(granted(8));
    lead.run();
    BOOST_TEST(!one.done());
    other.run();
    lead.run();
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(one.got.valid());
    BOOST_TEST(lead.eventually([&] { return !one.got.valid(); }));
    BOOST_TEST(one.got.loss() == loss_reason::max_hold);
}

BOOST_AUTO_TEST_CASE(those_that_are_granted_together_have_their_full_length) {
    known_client all;
    acquiring_both const one{all, {.renew = false}};
    all.answer(replied(1, 41, 57));
    all.run();
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(all.sent().empty());
}

namespace {

/// Both are held, and the first one has to be renewed before its limits begin.
struct limiting_both : known_client {
    explicit limiting_both(options const& how = {.who = owner::make(), .renew = false})
        : one{*this, how} {
        answer(granted(7));
        answer(busy(7'200'000));
        std::string const channel = "redisson_lock__channel:{b}";
        on_strand([&] { server->listeners->on_confirmed(channel); });
        answer(busy(7'200'000));
        pass(1h);
        on_strand([&] { server->listeners->on_notification(channel, "0"); });
        answer(granted(8));
        run();
        BOOST_TEST(!one.done());
        BOOST_TEST(text().starts_with("lock.renew 1 a "));
    }

    acquiring_both one;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_member_that_was_held_before_the_last_one_is_renewed_first) {
    limiting_both all;
    all.answer(replied(1));
    all.run();
    BOOST_TEST((all.one.error == error_code{}));
    BOOST_TEST(all.one.got.valid());
    BOOST_TEST((all.one.got.remaining() > 24h - 2min));
    // It is not renewed again.
    all.pass(20h);
    BOOST_TEST(all.sent().empty());
}

BOOST_AUTO_TEST_CASE(a_member_that_cannot_be_renewed_then_is_taken_again_with_the_others) {
    for (auto const& answer : {unanswered(), replied(0, 1)}) {
        limiting_both all;
        all.answer(answer);
        all.run();
        BOOST_TEST(!all.one.done());
        BOOST_TEST(all.sent() == "release release acquire");
        all.answer(freed());
        all.answer(freed());
        all.answer(granted(9));
        all.run();
        all.answer(granted(10));
        all.run();
        BOOST_TEST((all.one.error == error_code{}));
        BOOST_TEST((all.one.got.token(1) == fencing_token{9}));
    }
    limiting_both forbidden;
    forbidden.answer(failed(errc::no_permission));
    forbidden.run();
    BOOST_TEST((forbidden.one.error == errc::no_permission));
    BOOST_TEST(forbidden.sent() == "release release");
}

BOOST_AUTO_TEST_CASE(a_cancellation_before_the_limits_begin_gives_all_back_or_delivers_all) {
    limiting_both at_once;
    at_once.one.cancel(asio::cancellation_type::terminal);
    BOOST_TEST((at_once.one.error == aborted));
    BOOST_TEST(at_once.sent() == "renew release release");

    limiting_both patient;
    patient.one.cancel(asio::cancellation_type::total);
    BOOST_TEST(!patient.one.done());
    patient.answer(replied(1));
    patient.run();
    BOOST_TEST((patient.one.error == error_code{}));
    BOOST_TEST(patient.one.got.valid());
}

BOOST_AUTO_TEST_CASE(a_limited_operation_waits_for_the_beginning_of_the_limits_as_for_an_answer) {
    options const limited{
        .how_long = patience::limited,
        .limit = 1h + 10ms,
        .who = owner::make(),
        .renew = false,
    };
    limiting_both late{limited};
    late.pass(60ms);
    BOOST_TEST(!late.one.done());
    late.answer(replied(1));
    late.run();
    BOOST_TEST((late.one.error == error_code{}));
    BOOST_TEST(late.one.got.valid());
    BOOST_TEST((late.one.got.remaining() > 24h - 2min));

    limiting_both silent{limited};
    silent.pass(105ms);
    BOOST_TEST(!silent.one.done());
    silent.pass(10ms);
    BOOST_TEST((silent.one.error == errc::unreachable));
    BOOST_TEST(silent.sent() == "renew release release");
}

// `max_waiters` is 1.
BOOST_AUTO_TEST_CASE(a_member_whose_client_has_no_room_for_a_waiter_ends_it) {
    holdfast::config settings;
    settings.max_waiters = 1;
    scripted_client all{settings};
    acquiring_both const first{all};
    acquiring_both const second{all};
    BOOST_TEST(!first.done());
    BOOST_TEST((second.error == errc::too_many_waiters));
}

BOOST_AUTO_TEST_CASE(when_the_client_stops_all_is_given_back) {
    known_client all;
    acquiring_both one{all};
    all.answer(replied(0, 1));
    all.run();
    all.answer(granted(7));
    all.run();
    all.answer(busy());
    all.run();
    all.state->shutdown([](error_code) {});
    all.run();
    BOOST_TEST((one.error == errc::client_stopped));
    BOOST_TEST(all.sent() == "release");
    all.answer(freed());
}

BOOST_AUTO_TEST_SUITE_END()
