// The waiters of one target whose time is up, or who come while another one's attempt is under way.

#include "acquire/wait_queue.hpp"

#include "unit/acquire/acquiring.hpp"
#include "unit/printers.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <vector>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::make_lock_target;
using holdfast::detail::patience;
using holdfast::detail::target;
using holdfast::test::acquiring;
using holdfast::test::acquiring_options;
using holdfast::test::busy;
using holdfast::test::failed;
using holdfast::test::granted;
using holdfast::test::scripted_client;
using holdfast::test::unanswered;

namespace {

// The first attempt was refused; then the subscription was confirmed, and the next one too.
void sleep(scripted_client& all) {
    all.answer(busy());
    all.confirm();
    all.answer(busy());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(wait_queue_test)

BOOST_AUTO_TEST_CASE(a_newcomer_that_soon_gives_up_has_the_server_asked) {
    scripted_client all;
    acquiring const first{all};
    sleep(all);
    acquiring const patient{all, {.how_long = patience::limited, .limit = 10s}};
    BOOST_TEST(all.sent().empty());
    acquiring const brief{all, {.how_long = patience::limited, .limit = 400ms}};
    BOOST_TEST(all.sent() == "acquire");
}

namespace {

acquiring_options limited(std::chrono::nanoseconds limit) {
    return {.how_long = patience::limited, .limit = limit};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_waiter_whose_time_is_up_waits_for_the_attempt_of_the_first) {
    scripted_client all;
    acquiring const first{all};
    sleep(all);
    acquiring const brief{all, limited(5ms)};
    all.run();
    acquiring const other{all, limited(6ms)};
    // One attempt is sent for both.
    BOOST_TEST(all.sent() == "acquire");
    all.pass(20ms);
    BOOST_TEST(all.sent() == "acquire");
    BOOST_TEST(!brief.done());
    all.answer(busy());
    BOOST_TEST((brief.error == error_code{}));
    BOOST_TEST(!brief.got);
    // The other one began after that was sent: it is served by the next one.
    BOOST_TEST(!other.done());
    BOOST_TEST(all.sent() == "acquire");
    all.answer(busy());
    BOOST_TEST((other.error == error_code{}));
    BOOST_TEST(!first.done());
    BOOST_TEST(all.sent().empty());
}

BOOST_AUTO_TEST_CASE(many_waiters_that_come_during_an_attempt_share_the_next_one) {
    scripted_client all;
    acquiring const first{all};
    sleep(all);
    std::list<acquiring> many;
    for (int i = 0; i < 100; ++i) {
        many.emplace_back(all, limited(5ms));
    }
    BOOST_TEST(all.sent() == "acquire");
    all.pass(10ms);
    all.answer(busy());
    BOOST_TEST(all.sent() == "acquire");
    all.answer(busy());
    BOOST_TEST(all.sent().empty());
    for (auto const& each : many) {
        BOOST_TEST((each.error == error_code{}));
    }
}

BOOST_AUTO_TEST_CASE(a_grant_to_the_first_tells_those_whose_time_is_up_that_the_lock_is_busy) {
    scripted_client all;
    acquiring const first{all};
    sleep(all);
    acquiring const brief{all, limited(5ms)};
    all.pass(10ms);
    all.answer(granted());
    BOOST_TEST(first.got.valid());
    BOOST_TEST((brief.error == error_code{}));
    BOOST_TEST(!brief.got);
}

BOOST_AUTO_TEST_CASE(a_waiter_whose_time_is_up_may_be_granted_the_lock) {
    scripted_client all;
    acquiring first{all};
    sleep(all);
    acquiring const brief{all, limited(5ms)};
    all.pass(10ms);
    first.signal.emit(asio::cancellation_type::terminal);
    all.run();
    all.answer(granted());
    BOOST_TEST((brief.error == error_code{}));
    BOOST_TEST(brief.got.valid());
}

BOOST_AUTO_TEST_CASE(an_answer_that_decides_nothing_ends_those_whose_time_is_up_with_its_cause) {
    scripted_client all;
    acquiring const first{all};
    sleep(all);
    acquiring const brief{all, limited(5ms)};
    all.pass(10ms);
    all.answer(failed(errc::server_refused, holdfast::detail::exec_status::refused));
    BOOST_TEST((brief.error == errc::server_refused));
    BOOST_TEST(!first.done());
}

BOOST_AUTO_TEST_CASE(a_later_answer_that_decides_nothing_does_not_take_back_that_the_lock_was_busy
) {
    scripted_client all;
    acquiring const one{all, limited(1s)};
    all.answer(busy(100));
    all.confirm();
    all.answer(failed(errc::server_refused, holdfast::detail::exec_status::refused));
    all.pass(1s);
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(!one.got);
}

BOOST_AUTO_TEST_CASE(whoever_has_not_asked_when_its_time_is_up_asks) {
    scripted_client all;
    acquiring const first{all};
    // After a reconnection the attempts are spread.
    acquiring const patient{all, limited(1s)};
    all.answer(unanswered());
    all.set_commands_up(false);
    all.pass(1s - 1ms);
    all.set_commands_up(true);
    all.pass(3ms);
    BOOST_TEST(all.sent() == "acquire");
    BOOST_TEST(!patient.done());
    all.answer(busy());
    BOOST_TEST((patient.error == error_code{}));
}

BOOST_AUTO_TEST_CASE(a_stopped_client_ends_those_whose_time_is_up) {
    scripted_client all;
    acquiring const first{all};
    sleep(all);
    acquiring const brief{all, limited(5ms)};
    all.pass(10ms);
    all.state->abandon();
    all.run();
    BOOST_TEST((brief.error == errc::client_stopped));
}

BOOST_AUTO_TEST_CASE(a_waiter_whose_time_is_up_behind_another_can_be_cancelled) {
    for (auto const type : {asio::cancellation_type::terminal, asio::cancellation_type::total}) {
        scripted_client all;
        acquiring const first{all};
        sleep(all);
        acquiring brief{all, limited(5ms)};
        all.pass(10ms);
        brief.signal.emit(type);
        all.run();
        BOOST_TEST((brief.error == error_code{asio::error::operation_aborted}));
        // The attempt is the first one's.
        BOOST_TEST(all.sent() == "acquire");
        all.answer(granted());
        BOOST_TEST(first.got.valid());
    }
}

BOOST_AUTO_TEST_CASE(subscriptions_that_come_back_together_do_not_have_all_ask_at_once) {
    scripted_client all;
    std::list<acquiring> waiting;
    std::vector<std::shared_ptr<target const>> targets;
    for (int i = 0; i < 50; ++i) {
        targets.push_back(std::make_shared<target const>(make_lock_target("", std::to_string(i))));
        waiting.emplace_back(all, acquiring_options{.on = targets.back()});
        all.answer(busy());
        all.on_strand([&] { all.server->listeners->on_confirmed(targets.back()->channel()); });
        all.answer(busy());
    }
    BOOST_TEST(all.sent().empty());
    std::size_t at_once = 0;
    all.on_strand([&] {
        all.server->listeners->on_down();
        for (auto const& on : targets) {
            all.server->listeners->on_confirmed(on->channel());
        }
        at_once = all.server->requests.size();
    });
    BOOST_TEST(at_once < 25U);
    BOOST_TEST(all.eventually([&] { return all.server->requests.size() == 50; }));
}

BOOST_AUTO_TEST_SUITE_END()
