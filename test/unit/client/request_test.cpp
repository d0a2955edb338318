// One request, repeated until it is answered: with the same id, through breaks of the connection,
// and no longer than its time.

#include "client/request.hpp"

#include "protocol/counted.hpp"
#include "unit/printers.hpp"
#include "unit/scripted_client.hpp"

#include <holdfast/detail/counted_handle.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::config;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::exec_status;
using holdfast::detail::make_latch_target;
using holdfast::detail::remembered_for;
using holdfast::detail::target;
using holdfast::test::failed;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::unanswered;

namespace {

config settings(std::chrono::milliseconds lease = 30s) {
    config made;
    made.lease = lease;
    made.reconnect_min = 1ms;
    made.reconnect_max = 1ms;
    return made;
}

struct world : scripted_client {
    explicit world(config with = settings(), bool connected = true)
        : scripted_client{std::move(with), connected} {}

    void count_down() {
        holdfast::detail::start_count_down(
            {state, latch},
            2,
            asio::bind_cancellation_slot(signal.slot(), [this](error_code ec) { error = ec; })
        );
        inside = inside || error.has_value();
        run();
    }
    bool sends() {
        return eventually([this] { return !server->requests.empty(); });
    }
    bool ends() {
        return eventually([this] { return error.has_value(); });
    }
    /// The mark's key.
    std::string mark() const { return std::string{server->requests.at(0).what.word(2)}; }

    std::shared_ptr<target const> latch =
        std::make_shared<target const>(make_latch_target("", "a"));
    asio::cancellation_signal signal;
    std::optional<error_code> error;
    bool inside = false;
};

auto const counted = [] { return replied(1, 0, 1); };

}  // namespace

BOOST_AUTO_TEST_SUITE(request_test)

BOOST_AUTO_TEST_CASE(an_answer_ends_it) {
    world all;
    all.count_down();
    BOOST_TEST(all.server->requests.at(0).what.what().name == "latch.count_down");
    BOOST_TEST(all.server->requests.at(0).what.word(4) == "630000");
    all.answer(counted());
    BOOST_TEST((all.error == error_code{}));
    BOOST_TEST(!all.inside);
    BOOST_TEST(all.server->requests.empty());
}

BOOST_AUTO_TEST_CASE(it_is_remembered_for_longer_than_it_is_repeated) {
    auto const of = settings();
    BOOST_TEST((remembered_for(of) > of.lease));
}

BOOST_AUTO_TEST_CASE(without_an_answer_the_same_is_sent_again) {
    world all;
    all.count_down();
    auto const mark = all.mark();
    all.answer(unanswered());
    BOOST_TEST(!all.error.has_value());
    BOOST_TEST(all.sends());
    BOOST_TEST(all.mark() == mark);
    all.answer(failed(errc::server_refused, exec_status::refused));
    BOOST_TEST(all.sends());
    BOOST_TEST(all.mark() == mark);
    all.answer(failed({}, exec_status::not_sent));
    BOOST_TEST(all.sends());
    all.answer(counted());
    BOOST_TEST((all.error == error_code{}));
    // The next one is another request.
    all.error.reset();
    all.count_down();
    BOOST_TEST(all.mark() != mark);
}

BOOST_AUTO_TEST_CASE(a_break_of_the_connection_does_not_end_it) {
    auto with = settings();
    with.request_timeout = 5ms;
    world all{with, false};
    all.count_down();
    // Longer than those are waited for that are asked once.
    all.pass(30ms);
    BOOST_TEST(!all.error.has_value());
    all.set_commands_up(true);
    BOOST_TEST(all.sends());
    all.set_commands_up(false);
    all.answer(unanswered());
    BOOST_TEST(!all.error.has_value());
    all.set_commands_up(true);
    BOOST_TEST(all.sends());
    all.answer(counted());
    BOOST_TEST((all.error == error_code{}));
}

BOOST_AUTO_TEST_CASE(after_its_time_the_caller_is_told_what_is_known) {
    auto with = settings(1s);
    with.request_timeout = 5ms;
    world unconnected{with, false};
    unconnected.server->why = {errc::server_refused, false};
    unconnected.count_down();
    // The time of both passes at once.
    world cut{with};
    cut.count_down();
    cut.set_commands_up(false);
    cut.answer(unanswered());
    BOOST_TEST(unconnected.ends());
    BOOST_TEST((unconnected.error == errc::server_refused));
    BOOST_TEST(cut.ends());
    BOOST_TEST((cut.error == errc::release_unknown));
}

BOOST_AUTO_TEST_CASE(causes_that_do_not_pass_end_it_at_once) {
    world all;
    all.count_down();
    all.answer(failed(errc::no_permission));
    BOOST_TEST((all.error == errc::no_permission));
    all.error.reset();
    all.count_down();
    all.answer(replied(2));
    BOOST_TEST((all.error == errc::corrupt_state));
    all.error.reset();
    all.set_commands_up(false);
    all.count_down();
    BOOST_TEST(!all.error.has_value());
    all.fail(errc::auth_failed);
    BOOST_TEST((all.error == errc::auth_failed));
}

BOOST_AUTO_TEST_CASE(cancelled_it_completes_and_goes_on) {
    world all;
    all.count_down();
    all.signal.emit(asio::cancellation_type::terminal);
    all.run();
    BOOST_TEST((all.error == asio::error::operation_aborted));
    all.answer(unanswered());
    BOOST_TEST(all.sends());
    all.error.reset();
    all.answer(counted());
    BOOST_TEST(!all.error.has_value());
}

BOOST_AUTO_TEST_CASE(the_end_of_the_client_ends_it) {
    {
        world all{settings(), false};
        all.count_down();
        all.state->abandon();
        all.run();
        BOOST_TEST((all.error == errc::client_stopped));
    }
    {
        world all;
        all.count_down();
        all.state->abandon();
        all.run();
        all.answer(unanswered());
        BOOST_TEST((all.error == errc::release_unknown));
    }
    world all;
    all.state->abandon();
    all.run();
    all.count_down();
    BOOST_TEST((all.error == errc::client_stopped));
    BOOST_TEST(!all.inside);
}

BOOST_AUTO_TEST_CASE(names_that_are_not_allowed_and_too_many_at_once_are_refused) {
    auto with = settings();
    with.max_waiters = 1;
    world all{with};
    all.latch = std::make_shared<target const>(make_latch_target("", ""));
    all.count_down();
    BOOST_TEST((all.error == errc::invalid_name));
    BOOST_TEST(!all.inside);
    all.latch = std::make_shared<target const>(make_latch_target("", "a"));
    all.error.reset();
    all.count_down();
    BOOST_TEST(!all.error.has_value());
    all.count_down();
    BOOST_TEST((all.error == errc::too_many_waiters));
}

BOOST_AUTO_TEST_CASE(the_server_is_told_of_those_that_were_sent_once) {
    world all;
    all.count_down();
    auto const repeated = all.mark();
    all.answer(unanswered());
    BOOST_TEST(all.sends());
    all.answer(counted());
    all.count_down();
    auto const once = all.mark();
    all.answer(counted());
    all.on_strand([&] { all.state->numbers().forget_now(); });
    BOOST_REQUIRE(all.server->requests.size() == 1U);
    auto const& sent = all.server->requests.at(0).what;
    BOOST_TEST(sent.what().name == "counted.forget");
    BOOST_TEST(sent.keys() == 1U);
    BOOST_TEST(sent.word(0) == once);
}

BOOST_AUTO_TEST_SUITE_END()
