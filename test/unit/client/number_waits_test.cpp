// Waiting at a latch and for permits: what the operations are told, who else passes, and what is
// given back.

#include "client/counting.hpp"
#include "protocol/counted.hpp"
#include "unit/client/waiting.hpp"
#include "unit/printers.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <deque>
#include <memory>
#include <string>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::make_counting_semaphore_target;
using holdfast::detail::make_latch_target;
using holdfast::detail::target;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::unanswered;
using holdfast::test::waiting;
using holdfast::test::waiting_options;

namespace {

using patience = holdfast::detail::patience;

struct world : scripted_client {
    explicit world(target made, holdfast::config settings = {})
        : scripted_client{std::move(settings)},
          what{std::make_shared<target const>(std::move(made))} {}

    waiting_options wait() const { return {.on = what}; }
    waiting_options try_once() const { return {.on = what, .how_long = patience::one_attempt}; }
    waiting_options try_for(std::chrono::nanoseconds limit) const {
        return {.on = what, .how_long = patience::limited, .limit = limit};
    }
    void confirm() {
        on_strand([this] { server->listeners->on_confirmed(what->channel()); });
    }
    void notify(std::string const& message) {
        on_strand([this, message] { server->listeners->on_notification(what->channel(), message); }
        );
    }
    /// The names of the scripts that were not answered.
    std::string asked() const {
        std::string all;
        for (auto const& one : server->requests) {
            all += (all.empty() ? "" : " ") + std::string{one.what.what().name};
        }
        return all;
    }
    /// The mark of the attempt that was not answered.
    std::string mark() const { return std::string{server->requests.at(0).what.word(1)}; }

    std::shared_ptr<target const> what;
};

struct at_a_latch : world {
    at_a_latch() : world{make_latch_target("", "a")} {}
};
struct at_a_semaphore : world {
    at_a_semaphore() : world{make_counting_semaphore_target("", "a")} {}
};

auto const closed = [] { return replied(1, 2); };
auto const it_is_open = [] { return replied(1, 0); };
auto const too_few = [] { return replied(0); };
auto const taken = [] { return replied(1); };

}  // namespace

BOOST_AUTO_TEST_SUITE(number_waits_test)

BOOST_AUTO_TEST_CASE(busy_is_no_error_and_no_success) {
    at_a_semaphore all;
    waiting const granted{all, all.try_once()};
    all.answer(taken());
    BOOST_TEST((granted.error == error_code{}));
    BOOST_TEST(granted.success);
    waiting const busy{all, all.try_once()};
    all.answer(too_few());
    BOOST_TEST((busy.error == error_code{}));
    BOOST_TEST(!busy.success);
    BOOST_TEST(all.count().leases_now == 0U);
    BOOST_TEST(all.count().grants == 1U);
}

BOOST_AUTO_TEST_CASE(when_a_latch_opens_all_who_wait_pass_by_one_look) {
    at_a_latch all;
    std::deque<waiting> all_waiters;
    for (int i = 0; i < 5; ++i) {
        all_waiters.emplace_back(all, all.wait());
    }
    all.answer(closed());
    all.confirm();
    all.answer(closed());
    BOOST_TEST(all.asked() == "");
    all.notify("0");
    BOOST_TEST(all.asked() == "counted.read");
    all.answer(it_is_open());
    for (auto const& one : all_waiters) {
        BOOST_TEST((one.error == error_code{}));
    }
    BOOST_TEST(all.asked() == "");
    BOOST_TEST(all.count().grants == 5U);
}

BOOST_AUTO_TEST_CASE(a_waiter_at_a_latch_that_gives_up_takes_nothing_back) {
    at_a_latch all;
    waiting waiter{all, all.wait()};
    waiter.signal.emit(asio::cancellation_type::terminal);
    all.run();
    BOOST_TEST((waiter.error == asio::error::operation_aborted));
    waiting trying{all, all.try_once()};
    trying.signal.emit(asio::cancellation_type::terminal);
    all.run();
    all.answer(closed());
    all.answer(unanswered());
    BOOST_TEST(all.asked() == "");
    BOOST_TEST(all.count().withdrawals == 0U);
}

BOOST_AUTO_TEST_CASE(after_a_grant_of_permits_the_next_waiter_tries) {
    at_a_semaphore all;
    waiting const first{all, all.wait()};
    waiting const second{all, all.wait()};
    auto const mark = all.mark();
    all.answer(taken());
    BOOST_TEST((first.error == error_code{}));
    BOOST_TEST(!second.done());
    BOOST_TEST(all.asked() == "counting_semaphore.acquire");
    BOOST_TEST(all.mark() != mark);
}

BOOST_AUTO_TEST_CASE(one_message_is_enough_for_all_whom_it_leaves_permits) {
    at_a_semaphore all;
    waiting const first{all, all.wait()};
    waiting const second{all, all.wait()};
    all.answer(too_few());
    all.confirm();
    all.answer(too_few());
    BOOST_TEST(all.asked() == "");
    all.notify("2");
    all.answer(taken());
    BOOST_TEST((first.error == error_code{}));
    all.answer(taken());
    BOOST_TEST((second.error == error_code{}));
}

BOOST_AUTO_TEST_CASE(any_number_of_permits_is_a_reason_to_try) {
    for (auto const* const message : {"1", "2", "3"}) {
        at_a_semaphore all;
        waiting const waiter{all, all.wait()};
        all.answer(too_few());
        all.confirm();
        all.answer(too_few());
        BOOST_TEST(all.asked() == "");
        all.notify(message);
        BOOST_TEST(all.asked() == "counting_semaphore.acquire");
    }
}

BOOST_AUTO_TEST_CASE(an_attempt_without_an_answer_is_repeated_or_withdrawn) {
    at_a_semaphore all;
    waiting waiter{all, all.wait()};
    auto const mark = all.mark();
    all.answer(unanswered());
    BOOST_TEST(all.eventually([&] { return all.asked() == "counting_semaphore.acquire"; }));
    BOOST_TEST(all.mark() == mark);
    waiter.signal.emit(asio::cancellation_type::terminal);
    all.run();
    BOOST_TEST(all.asked() == "counting_semaphore.acquire counting_semaphore.withdraw");
    BOOST_TEST(all.server->requests.at(1).what.word(2) == mark);
    BOOST_TEST(all.count().withdrawals == 1U);
}

BOOST_AUTO_TEST_CASE(the_server_may_forget_an_attempt_that_was_sent_once) {
    at_a_semaphore all;
    waiting const first{all, all.wait()};
    all.answer(unanswered());
    BOOST_TEST(all.eventually([&] { return all.asked() == "counting_semaphore.acquire"; }));
    all.answer(taken());
    BOOST_TEST((first.error == error_code{}));
    waiting const second{all, all.wait()};
    auto const mark = all.mark();
    all.answer(taken());
    waiting const third{all, all.try_once()};
    all.answer(taken());
    all.on_strand([&] { all.state->numbers().forget_now(); });
    BOOST_TEST(all.asked() == "counted.forget");
    auto const& told = all.server->requests.at(0).what;
    BOOST_TEST(told.keys() == 2U);
    BOOST_TEST(told.word(0) == mark);
}

BOOST_AUTO_TEST_CASE(a_try_that_is_cancelled_is_withdrawn) {
    at_a_semaphore all;
    waiting trying{all, all.try_once()};
    trying.signal.emit(asio::cancellation_type::partial);
    all.run();
    BOOST_TEST((trying.error == asio::error::operation_aborted));
    BOOST_TEST(all.asked() == "counting_semaphore.acquire counting_semaphore.withdraw");
    all.answer(taken());
    all.answer(replied(1, 1));
    BOOST_TEST(all.asked() == "");
}

BOOST_AUTO_TEST_CASE(a_withdrawal_that_is_refused_comes_again) {
    at_a_semaphore all;
    waiting trying{all, all.try_once()};
    trying.signal.emit(asio::cancellation_type::partial);
    all.run();
    all.answer(taken());
    all.answer(holdfast::test::failed(errc::no_permission));
    BOOST_TEST(all.asked() == "");
    all.set_commands_up(false);
    all.set_commands_up(true);
    BOOST_TEST(all.asked() == "counting_semaphore.withdraw");
}

BOOST_AUTO_TEST_CASE(cancelled_after_the_reply_what_was_granted_is_told) {
    at_a_semaphore all;
    waiting trying{all, all.try_once()};
    trying.signal.emit(asio::cancellation_type::total);
    all.run();
    BOOST_TEST(!trying.done());
    all.answer(taken());
    BOOST_TEST((trying.error == error_code{}));
}

BOOST_AUTO_TEST_CASE(something_else_under_the_key_is_not_waited_for) {
    at_a_semaphore all;
    waiting const waiter{all, all.wait()};
    all.answer(replied(2));
    BOOST_TEST((waiter.error == errc::corrupt_state));
}

BOOST_AUTO_TEST_CASE(a_withdrawal_is_sent_while_the_client_shuts_down) {
    at_a_semaphore all;
    waiting const waiter{all, all.wait()};
    all.state->abandon();
    all.run();
    BOOST_TEST((waiter.error == errc::client_stopped));
    BOOST_TEST(all.asked() == "counting_semaphore.acquire counting_semaphore.withdraw");
    all.answer(taken());
    all.answer(unanswered());
    BOOST_TEST(all.eventually([&] { return all.asked() == "counting_semaphore.withdraw"; }));
}

BOOST_AUTO_TEST_CASE(the_time_is_up_and_the_number_is_too_small) {
    at_a_semaphore all;
    waiting const waiter{all, all.try_for(1s)};
    all.answer(too_few());
    all.pass(2s);
    BOOST_TEST((waiter.error == error_code{}));
    BOOST_TEST(!waiter.success);
}

BOOST_AUTO_TEST_CASE(a_late_answer_is_waited_for_a_moment) {
    at_a_semaphore all;
    waiting const waiter{all, all.try_for(1s)};
    all.pass(1s);
    BOOST_TEST(!waiter.done());
    all.answer(too_few());
    BOOST_TEST((waiter.error == error_code{}));
    BOOST_TEST(!waiter.success);
    waiting const other{all, all.try_for(1s)};
    all.pass(1s + 150ms);
    BOOST_TEST((other.error == errc::unreachable));
    BOOST_TEST(all.asked() == "counting_semaphore.acquire counting_semaphore.withdraw");
}

BOOST_AUTO_TEST_CASE(who_joins_those_that_wait_and_soon_gives_up_has_an_answer_of_his_own) {
    at_a_semaphore all;
    waiting const first{all, all.wait()};
    all.answer(too_few());
    all.confirm();
    all.answer(too_few());
    all.pass(1s);
    waiting const brief{all, all.try_for(100ms)};
    BOOST_TEST(all.asked() == "counting_semaphore.acquire");
    all.answer(too_few());
    all.pass(200ms);
    BOOST_TEST((brief.error == error_code{}));
    BOOST_TEST(!brief.success);
}

BOOST_AUTO_TEST_CASE(without_a_connection_a_try_says_that_it_could_not_ask) {
    at_a_semaphore all;
    all.set_commands_up(false);
    waiting const trying{all, all.try_once()};
    BOOST_TEST(!trying.done());
    all.pass(4s);
    BOOST_TEST((trying.error == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(a_try_waits_for_its_replicas) {
    holdfast::config settings;
    settings.request_timeout = 500ms;
    settings.replicas.count = 1;
    settings.replicas.timeout = 2s;
    world all{make_counting_semaphore_target("", "a"), settings};
    all.server->replicas = 1;
    waiting const trying{all, all.try_once()};
    all.answer(taken());
    BOOST_TEST(all.asked() == "counting_semaphore.acquire");
    all.pass(1500ms);
    BOOST_TEST(!trying.done());
    all.answer(taken());
    BOOST_TEST((trying.error == error_code{}));
    BOOST_TEST(trying.success);
}

BOOST_AUTO_TEST_CASE(after_a_reconnection_they_look_again) {
    at_a_latch all;
    waiting const waiter{all, all.wait()};
    all.answer(closed());
    all.confirm();
    all.answer(closed());
    all.set_commands_up(false);
    all.pass(1min);
    BOOST_TEST(all.asked() == "");
    all.set_commands_up(true);
    BOOST_TEST(all.eventually([&] { return all.asked() == "counted.read"; }));
    all.answer(it_is_open());
    BOOST_TEST((waiter.error == error_code{}));
}

BOOST_AUTO_TEST_SUITE_END()
