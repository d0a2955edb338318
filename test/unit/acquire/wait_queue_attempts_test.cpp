// The attempts of a wait queue: one at a time, for all who wait in it, with one holder id.

#include "acquire/wait_queue.hpp"
#include "protocol/semaphore.hpp"
#include "unit/acquire/handing_client.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::log_level;
using holdfast::detail::exec_result;
using holdfast::test::acquiring;
using holdfast::test::acquiring_options;
using holdfast::test::busy;
using holdfast::test::freed;
using holdfast::test::granted;
using holdfast::test::handing_client;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::unanswered;

BOOST_AUTO_TEST_SUITE(wait_queue_attempts_test)

BOOST_AUTO_TEST_CASE(an_attempt_asks_for_as_many_tokens_as_there_are_waiters) {
    handing_client all;
    acquiring const first{all};
    BOOST_TEST(all.text().ends_with(" 1 1 0 1 0 0"));
    acquiring const second{all};
    acquiring const third{all};
    all.answer(busy());
    all.confirm_all();
    BOOST_TEST(all.text().ends_with(" 3 3000 0 1 0 0"));
}

namespace {

acquiring_options const patient{.orphan_after = 50ms};

// Another tool has it, without an expiry.
exec_result endless(std::string const& holder, int count = 1) {
    return replied(0, -1, 0, 0, 0, count, holder);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_take_over_without_an_answer_is_an_attempt_like_any_other) {
    handing_client all;
    acquiring const waiting{all, patient};
    all.answer(endless("tool:1"));
    BOOST_TEST(all.eventually([&] { return all.sent() == "take_over"; }));
    auto const id = all.id();
    all.answer(unanswered());
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
    BOOST_TEST(all.id() == id);
    all.answer(granted(9));
    BOOST_TEST(waiting.got.valid());
}

namespace {

holdfast::config with_replicas() {
    holdfast::config settings;
    settings.replicas.count = 1;
    return settings;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_waiter_tries_again_with_another_id_until_replicas_have_its_grant) {
    scripted_client all{with_replicas()};
    acquiring const waiting{all};
    auto const id_of = [&](std::size_t i) {
        auto const& what = all.server->requests.at(i).what;
        std::size_t at = 0;
        while (!what.word(at).starts_with(all.state->client_id())) {
            ++at;
        }
        return std::string{what.word(at)};
    };
    auto const first = id_of(0);
    all.answer(granted());
    BOOST_TEST(id_of(0) == first);
    all.answer(granted());
    BOOST_TEST(!waiting.done());
    BOOST_TEST(all.sent().starts_with("release"));
    BOOST_TEST(all.log.count(log_level::warning, "is given back") == 1U);
    BOOST_TEST(all.eventually([&] { return all.sent() == "release acquire"; }));
    BOOST_TEST(id_of(1) != first);
    all.answer(freed());
    all.server->replicas = 1;
    all.answer(granted());
    all.answer(granted());
    BOOST_TEST(waiting.got.valid());
    BOOST_TEST(all.sent().empty());
}

// Another holder id, and the same turn.
BOOST_AUTO_TEST_CASE(a_grant_that_replicas_do_not_have_costs_its_waiter_no_place) {
    constexpr std::int64_t score = 1'700'000'000'000'000;
    scripted_client all{with_replicas()};
    auto const on = std::make_shared<holdfast::detail::target const>(
        holdfast::detail::make_write_lock_target("", "a")
    );
    acquiring const waiting{all, {.on = on}};
    all.answer(replied(0, 10, 0, score, score + 1, 0));
    BOOST_TEST(all.eventually([&] { return all.sent() == "write_lock.acquire"; }));
    all.answer(granted());
    all.answer(granted());
    BOOST_TEST(all.eventually([&] { return all.sent() == "write_lock.release write_lock.acquire"; })
    );
    auto const& asked = all.server->requests.at(1).what;
    bool stated = false;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        stated = stated || asked.word(i).starts_with(std::to_string(score) + ' ');
    }
    BOOST_TEST(stated);
}

// Of a semaphore.
BOOST_AUTO_TEST_CASE(an_attempt_states_the_limit_of_the_first_waiter_that_has_one) {
    scripted_client all;
    auto const of = [](std::int64_t limit) {
        auto made = holdfast::detail::make_semaphore_target("", "a");
        made.limit = limit;
        return acquiring_options{.on = std::make_shared<holdfast::detail::target const>(made)};
    };
    // The eighth argument, behind the keys.
    auto const stated = [&] {
        auto const& sent = all.server->requests.at(0).what;
        return std::string{sent.word(sent.keys() + 7)};
    };
    acquiring const first{all, of(0)};
    BOOST_TEST(stated() == "0");
    acquiring const second{all, of(0)};
    acquiring third{all, of(5)};
    acquiring const fourth{all, of(7)};
    all.answer(busy());
    all.pass(31s);
    BOOST_TEST(stated() == "5");
    third.signal.emit(asio::cancellation_type::terminal);
    all.answer(replied(0, 500, 0, 0, 0, 7, 0));
    all.pass(1s);
    BOOST_TEST(stated() == "7");
    all.answer(replied(1, 9, 1, 0, 0, 7, 0));
    BOOST_TEST(first.got.valid());
    BOOST_TEST(!second.done());
}

BOOST_AUTO_TEST_CASE(without_a_number_waiters_without_a_limit_end_and_the_next_one_tries) {
    scripted_client all;
    auto made = holdfast::detail::make_semaphore_target("", "a");
    acquiring_options const silent{.on = std::make_shared<holdfast::detail::target const>(made)};
    made.limit = 5;
    acquiring_options const stating{.on = std::make_shared<holdfast::detail::target const>(made)};
    acquiring const first{all, silent};
    acquiring const second{all, silent};
    acquiring const third{all, stating};
    BOOST_TEST(all.sent() == "semaphore.acquire");
    all.answer(replied(4));
    BOOST_TEST((first.error == errc::permits_not_set));
    BOOST_TEST(!second.done());
    // Its attempt states what the third one knows.
    BOOST_TEST(all.sent() == "semaphore.acquire");
    all.answer(replied(1, 9, 1, 0, 0, 5, 0));
    BOOST_TEST(second.got.valid());
    BOOST_TEST(all.log.count(log_level::warning, "") == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
