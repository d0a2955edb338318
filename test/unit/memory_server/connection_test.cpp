// How a backend in memory answers while gates are closed and connections break.

#include "memory_server/connection.hpp"

#include "protocol/scripts.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast::detail;
using holdfast::errc;
using holdfast::error_code;
using holdfast::memory::server;

namespace {

struct fixture : backend_events, subscriber {
    fixture() {
        to->start(*this);
        context.poll();
    }

    void on_up(connection_id) override { said.emplace_back("up"); }
    void on_down(connection_id) override { said.emplace_back("down"); }
    void on_failure(connection_id, error_code) override { said.emplace_back("failure"); }
    void on_confirmed(bool) override { said.emplace_back("confirmed"); }
    void on_unconfirmed() override { said.emplace_back("unconfirmed"); }
    using backend_events::on_refused;
    void on_refused(error_code) override { said.emplace_back("refused"); }
    void on_notification(std::string_view) override { said.emplace_back("notification"); }

    void poll() {
        context.restart();
        context.poll();
    }
    void release() {
        call what{scripts::lock_release, 10s};
        what.key("k").key("c").arg("id:1").arg("").arg("").arg("0").arg("0").arg("0").arg("0");
        result.reset();
        to->exec(std::move(what), [this](exec_result made) { result = std::move(made); });
        poll();
    }

    boost::asio::io_context context;
    std::shared_ptr<server> on = server::make();
    std::shared_ptr<counters> count = std::make_shared<counters>();
    std::unique_ptr<backend> to = on->make_backend(context.get_executor(), count);
    std::vector<std::string> said;
    std::optional<exec_result> result;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_connection_test)

BOOST_FIXTURE_TEST_CASE(a_request_arrives_is_executed_and_is_answered, fixture) {
    on->hold_requests(true);
    release();
    BOOST_TEST(on->arrived("lock.release") == 1U);
    BOOST_TEST(on->executed() == 0U);
    on->hold_replies(true);
    on->hold_requests(false);
    poll();
    BOOST_TEST(on->executed("lock.release") == 1U);
    BOOST_TEST(!result.has_value());
    on->hold_replies(false);
    poll();
    BOOST_TEST_REQUIRE(result.has_value());
    BOOST_TEST((result->status == exec_status::replied));
    BOOST_TEST(result->reply.integer(0) == 0);
}

BOOST_FIXTURE_TEST_CASE(an_answer_that_is_dropped_is_unknown_once_the_connection_breaks, fixture) {
    on->drop_replies("lock.release");
    release();
    BOOST_TEST(!result.has_value());
    on->set_commands_up(false);
    poll();
    BOOST_TEST_REQUIRE(result.has_value());
    BOOST_TEST((result->status == exec_status::unknown));
    release();
    BOOST_TEST((result->status == exec_status::not_sent));
}

BOOST_FIXTURE_TEST_CASE(a_refusal_takes_the_place_of_the_execution, fixture) {
    on->refuse("lock.release", {exec_status::refused, errc::server_refused, {}});
    release();
    BOOST_TEST((result->status == exec_status::refused));
    release();
    BOOST_TEST((result->status == exec_status::replied));
    on->set("k", "a text");
    release();
    BOOST_TEST((result->status == exec_status::failed));
}

BOOST_FIXTURE_TEST_CASE(a_channel_is_confirmed_when_the_gate_opens, fixture) {
    said.clear();
    on->hold_confirmations(true);
    auto held = to->subscribe("c", *this);
    on->publish("c");
    poll();
    BOOST_TEST(said.empty());
    on->hold_confirmations(false);
    on->publish("c");
    poll();
    BOOST_TEST(said == (std::vector<std::string>{"confirmed", "notification"}));
    on->set_notifications_up(false);
    poll();
    BOOST_TEST(said.back() == "down");
    BOOST_TEST(on->subscriptions() == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_server_may_fail_for_good, fixture) {
    on->fail(errc::auth_failed);
    poll();
    BOOST_TEST(to->why_down().permanent);
    BOOST_TEST(!to->up(connection_id::purpose::commands));
}

BOOST_FIXTURE_TEST_CASE(there_are_no_replicas_which_is_answered_when_time_is_up, fixture) {
    std::optional<unsigned> confirmed;
    auto const ask = [&](std::chrono::milliseconds time) {
        call what{scripts::lock_release, 10s};
        what.key("k").key("c").arg("id:1").arg("").arg("").arg("0").arg("0").arg("0").arg("0");
        confirmed.reset();
        to->exec_replicated(std::move(what), {2, time}, [&](exec_result, unsigned have) {
            confirmed = have;
        });
        poll();
    };
    ask(20ms);
    BOOST_TEST(!confirmed.has_value());
    while (!confirmed) {
        context.restart();
        context.run_one();
    }
    BOOST_TEST((confirmed == 0U));
    on->refuse("lock.release", {exec_status::refused, errc::server_refused, {}});
    ask(10s);
    BOOST_TEST((confirmed == 0U));
}

BOOST_AUTO_TEST_SUITE_END()
