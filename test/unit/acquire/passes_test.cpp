// Waiting for what is no lease: how a grant is told, who else passes, and what is given back.

#include "acquire/acquire_op.hpp"
#include "acquire/wait_queue.hpp"
#include "protocol/counting_semaphore.hpp"
#include "protocol/latch.hpp"
#include "unit/acquire/acquiring.hpp"
#include "unit/printers.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <deque>
#include <memory>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::make_counting_semaphore_target;
using holdfast::detail::make_latch_target;
using holdfast::detail::target;
using holdfast::test::acquiring;
using holdfast::test::acquiring_options;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::unanswered;

namespace {

using patience = holdfast::detail::patience;

struct world : scripted_client {
    explicit world(target made) : what{std::make_shared<target const>(std::move(made))} {}

    acquiring_options wait() const { return {.on = what}; }
    acquiring_options try_once() const { return {.how_long = patience::one_attempt, .on = what}; }
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

BOOST_AUTO_TEST_SUITE(passes_test)

BOOST_AUTO_TEST_CASE(a_grant_comes_without_a_lease_and_busy_is_told_apart) {
    at_a_semaphore all;
    acquiring const granted{all, all.try_once()};
    all.answer(taken());
    BOOST_TEST((granted.error == error_code{}));
    BOOST_TEST(!granted.got);
    acquiring const busy{all, all.try_once()};
    all.answer(too_few());
    BOOST_TEST((busy.error == asio::error::try_again));
    BOOST_TEST(all.count().leases_now == 0U);
    BOOST_TEST(all.count().grants == 1U);
}

BOOST_AUTO_TEST_CASE(when_a_latch_opens_all_who_wait_pass_by_one_look) {
    at_a_latch all;
    std::deque<acquiring> waiting;
    for (int i = 0; i < 5; ++i) {
        waiting.emplace_back(all, all.wait());
    }
    all.answer(closed());
    all.confirm();
    all.answer(closed());
    BOOST_TEST(all.asked() == "");
    all.notify("0");
    BOOST_TEST(all.asked() == "counted.read");
    all.answer(it_is_open());
    for (auto const& one : waiting) {
        BOOST_TEST((one.error == error_code{}));
    }
    BOOST_TEST(all.asked() == "");
    BOOST_TEST(all.count().grants == 5U);
}

BOOST_AUTO_TEST_CASE(a_waiter_at_a_latch_that_gives_up_takes_nothing_back) {
    at_a_latch all;
    acquiring waiting{all, all.wait()};
    waiting.signal.emit(asio::cancellation_type::terminal);
    all.run();
    BOOST_TEST((waiting.error == asio::error::operation_aborted));
    acquiring trying{all, all.try_once()};
    trying.signal.emit(asio::cancellation_type::terminal);
    all.run();
    all.answer(closed());
    all.answer(unanswered());
    BOOST_TEST(all.asked() == "");
    BOOST_TEST(all.count().withdrawals == 0U);
}

BOOST_AUTO_TEST_CASE(after_a_grant_of_permits_the_next_waiter_tries) {
    at_a_semaphore all;
    acquiring const first{all, all.wait()};
    acquiring const second{all, all.wait()};
    auto const mark = all.mark();
    all.answer(taken());
    BOOST_TEST((first.error == error_code{}));
    BOOST_TEST(!second.done());
    BOOST_TEST(all.asked() == "counting_semaphore.acquire");
    BOOST_TEST(all.mark() != mark);
}

BOOST_AUTO_TEST_CASE(one_message_is_enough_for_all_whom_it_leaves_permits) {
    at_a_semaphore all;
    acquiring const first{all, all.wait()};
    acquiring const second{all, all.wait()};
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
        acquiring const waiting{all, all.wait()};
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
    acquiring waiting{all, all.wait()};
    auto const mark = all.mark();
    all.answer(unanswered());
    BOOST_TEST(all.eventually([&] { return all.asked() == "counting_semaphore.acquire"; }));
    BOOST_TEST(all.mark() == mark);
    waiting.signal.emit(asio::cancellation_type::terminal);
    all.run();
    BOOST_TEST(all.asked() == "counting_semaphore.acquire counting_semaphore.withdraw");
    BOOST_TEST(all.server->requests.at(1).what.word(2) == mark);
    BOOST_TEST(all.count().withdrawals == 1U);
}

BOOST_AUTO_TEST_CASE(the_server_may_forget_an_attempt_that_was_sent_once) {
    at_a_semaphore all;
    acquiring const first{all, all.wait()};
    all.answer(unanswered());
    BOOST_TEST(all.eventually([&] { return all.asked() == "counting_semaphore.acquire"; }));
    all.answer(taken());
    BOOST_TEST((first.error == error_code{}));
    acquiring const second{all, all.wait()};
    auto const mark = all.mark();
    all.answer(taken());
    acquiring const third{all, all.try_once()};
    all.answer(taken());
    all.on_strand([&] { all.state->acquires().answered().tell(); });
    BOOST_TEST(all.asked() == "counted.forget");
    auto const& told = all.server->requests.at(0).what;
    BOOST_TEST(told.keys() == 2U);
    BOOST_TEST(told.word(0) == mark);
}

BOOST_AUTO_TEST_CASE(a_try_that_is_cancelled_is_withdrawn) {
    at_a_semaphore all;
    acquiring trying{all, all.try_once()};
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
    acquiring trying{all, all.try_once()};
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
    acquiring trying{all, all.try_once()};
    trying.signal.emit(asio::cancellation_type::total);
    all.run();
    BOOST_TEST(!trying.done());
    all.answer(taken());
    BOOST_TEST((trying.error == error_code{}));
}

BOOST_AUTO_TEST_CASE(something_else_under_the_key_is_not_waited_for) {
    at_a_semaphore all;
    acquiring const waiting{all, all.wait()};
    all.answer(replied(2));
    BOOST_TEST((waiting.error == errc::corrupt_state));
}

BOOST_AUTO_TEST_SUITE_END()
