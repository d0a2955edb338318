// What the operations of a client stand on: where things run, what happens without a backend and
// after the end of the context, and its holder ids.

#include "runtime/client_context.hpp"

#include "unit/bare_client.hpp"
#include "unit/calls.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::config;
using holdfast::errc;
using holdfast::error_code;
using holdfast::log_level;
using holdfast::detail::abort_on_cancel;
using holdfast::detail::call;
using holdfast::detail::exec_result;
using holdfast::detail::exec_status;
using holdfast::detail::pending_handler;
using holdfast::detail::script;
using holdfast::test::bare_client;
using holdfast::test::bare_world;
using holdfast::test::reply_of;

namespace {

constexpr script example{"example", "return 1", ""};

// What `f` says in a forked child.
template <class F>
std::string said_in_child(F f) {
    int ends[2];
    BOOST_REQUIRE(::pipe(ends) == 0);
    auto const child = ::fork();
    if (child == 0) {
        std::string const said = f();
        auto const written = ::write(ends[1], said.data(), said.size());
        ::_exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
    }
    BOOST_REQUIRE(child > 0);
    ::close(ends[1]);
    std::string said(1'000, ' ');
    auto const size = ::read(ends[0], said.data(), said.size());
    ::close(ends[0]);
    int status = -1;
    BOOST_TEST(::waitpid(child, &status, 0) == child);
    BOOST_TEST(status == 0);
    said.resize(size > 0 ? static_cast<std::size_t>(size) : 0U);
    return said;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_context_test)

BOOST_AUTO_TEST_CASE(what_is_for_the_strand_runs_there_and_later) {
    bare_world on;
    bool ran = false;
    on.client->on_strand([&] { ran = true; });
    BOOST_TEST(!ran);
    on.run();
    BOOST_TEST(ran);
}

BOOST_AUTO_TEST_CASE(the_strand_is_entered_at_once_where_that_is_possible) {
    bare_world on;
    std::string order;
    // A thread that does not run the context cannot.
    on.client->enter_strand([&] { order += "outside "; });
    BOOST_TEST(order.empty());
    on.run();
    asio::post(on.context, [&] {
        on.client->enter_strand([&] { order += "entered "; });
        order += "after ";
    });
    on.run();
    // Code on the strand is in the middle of something.
    on.client->on_strand([&] {
        on.client->enter_strand([&] { order += "inner"; });
        order += "outer ";
    });
    on.run();
    BOOST_TEST(order == "outside entered after outer inner");
}

BOOST_AUTO_TEST_CASE(nothing_runs_after_the_end_of_the_context) {
    bare_world on;
    bool ran = false;
    BOOST_TEST(!on.client->gone());
    on.client->mark_gone();
    on.client->leave_context();
    BOOST_TEST(on.client->gone());
    on.client->on_strand([&] { ran = true; });
    on.client->enter_strand([&] { ran = true; });
    on.client->exec(call{example, 1s}, [&](exec_result const&) { ran = true; });
    on.run();
    BOOST_TEST(!ran);
}

BOOST_AUTO_TEST_CASE(without_a_backend_nothing_is_sent) {
    bare_world on;
    exec_result got;
    on.client->exec(call{example, 1s}, [&](exec_result const& result) { got = result; });
    BOOST_TEST(!got.error);
    on.run();
    BOOST_TEST((got.status == exec_status::not_sent));
    BOOST_TEST((got.error == errc::client_stopped));
    BOOST_TEST(!on.client->can_execute());
    BOOST_TEST(!on.client->why_down().cause);
    struct : holdfast::detail::subscriber {
        void on_confirmed(bool) override {}
        void on_unconfirmed() override {}
        void on_refused(error_code) override {}
        void on_notification(std::string_view) override {}
    } nobody;
    BOOST_TEST(!on.client->subscribe("c", nobody));
}

BOOST_AUTO_TEST_CASE(the_backend_is_asked) {
    bare_world on;
    auto& server = on.client->connect();
    on.client->exec(call{example, 1s}, [](exec_result const&) {});
    BOOST_TEST(server.requests.size() == 1U);
    BOOST_TEST(on.client->can_execute());
    server.subscriptions_up = false;
    BOOST_TEST(on.client->can_execute());
    server.commands_up = false;
    BOOST_TEST(!on.client->can_execute());
}

BOOST_AUTO_TEST_CASE(only_a_cause_that_does_not_pass_is_a_failure) {
    bare_world on;
    auto& server = on.client->connect();
    server.why = {errc::server_refused, false};
    BOOST_TEST(!on.client->failure());
    BOOST_TEST((on.client->why_down().cause == errc::server_refused));
    server.why = {errc::auth_failed, true};
    BOOST_TEST((on.client->failure() == errc::auth_failed));
}

BOOST_AUTO_TEST_CASE(a_closed_client_is_not_gone) {
    bare_world on;
    BOOST_TEST(!on.client->closed());
    on.client->close();
    BOOST_TEST(on.client->closed());
    BOOST_TEST(!on.client->gone());
}

BOOST_AUTO_TEST_CASE(the_name_of_the_connections_ends_with_what_holder_ids_begin_with) {
    bare_world on{{.client_name = "shop"}};
    BOOST_TEST(on.client->settings().client_name == "shop:" + on.client->client_id());
    bare_world const nameless{{.client_name = ""}};
    BOOST_TEST(nameless.client->settings().client_name.empty());
}

BOOST_AUTO_TEST_CASE(holder_ids_are_of_one_client_and_each_is_new) {
    bare_world on;
    std::string const first{on.client->make_holder_id().view()};
    std::string const second{on.client->make_holder_id().view()};
    std::regex const shape{
        "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}:[0-9]{1,19}"
    };
    BOOST_TEST(std::regex_match(first, shape), first);
    BOOST_TEST(first.substr(0, 37) == second.substr(0, 37));
    BOOST_TEST(first != second);
    auto const other = std::make_shared<bare_client>(on.context);
    BOOST_TEST(other->make_holder_id().view().substr(0, 37) != first.substr(0, 37));
    std::set<std::string> all{first, second};
    for (int i = 0; i < 1'000; ++i) {
        all.emplace(on.client->make_holder_id().view());
        all.emplace(other->make_holder_id().view());
    }
    BOOST_TEST(all.size() == 2'002U);
}

BOOST_AUTO_TEST_CASE(two_processes_have_different_holder_ids) {
    auto const make_one = [] {
        bare_world const on;
        return std::string{on.client->make_holder_id().view()};
    };
    auto const theirs = said_in_child(make_one);
    auto const ours = make_one();
    BOOST_TEST(theirs.size() > 37U);
    BOOST_TEST(theirs.substr(0, 37) != ours.substr(0, 37));
    BOOST_TEST(theirs.substr(37) != ours.substr(37));
}

BOOST_AUTO_TEST_CASE(the_copy_of_a_client_in_a_forked_child_sends_nothing) {
    bare_world on;
    auto& server = on.client->connect();
    auto const ask = [&]() -> std::string {
        exec_result got;
        on.client->exec(call{example, 1s}, [&](exec_result const& result) { got = result; });
        on.run();
        bool const refused =
            got.status == exec_status::not_sent && got.error == errc::client_stopped;
        return on.client->in_forked_child() && refused && server.requests.empty() ? "refused"
                                                                                  : "sent";
    };
    BOOST_TEST(said_in_child(ask) == "refused");
    BOOST_TEST(!on.client->in_forked_child());
    BOOST_TEST(ask() == "sent");
    // A client that the child makes is its own.
    BOOST_TEST(said_in_child([] {
                   bare_world const own;
                   return std::string{own.client->in_forked_child() ? "copy" : "own"};
               }) == "own");
}

BOOST_AUTO_TEST_CASE(the_log_is_the_users_and_may_be_none) {
    asio::io_context context;
    config settings;
    std::string heard;
    settings.log = [&](log_level, std::string_view line) { heard += line; };
    bare_client{context, settings}.log(log_level::info, "hello");
    bare_client{context}.log(log_level::info, "nobody");
    BOOST_TEST(heard == "hello");
}

BOOST_AUTO_TEST_CASE(a_cancelled_operation_completes_at_once_for_every_type) {
    for (auto const type :
         {asio::cancellation_type::terminal,
          asio::cancellation_type::partial,
          asio::cancellation_type::total}) {
        bare_world on;
        asio::cancellation_signal signal;
        std::optional<error_code> got;
        auto handler = [&](error_code ec, int) { got = ec; };
        auto const waiting = std::make_shared<pending_handler<error_code, int>>(
            asio::bind_cancellation_slot(signal.slot(), handler),
            on.context.get_executor()
        );
        abort_on_cancel<int>(waiting, on.client);
        signal.emit(asio::cancellation_type::none);
        on.run();
        BOOST_TEST(!got.has_value());
        signal.emit(type);
        BOOST_TEST(!got.has_value());
        on.run();
        BOOST_TEST((got == asio::error::operation_aborted));
    }
}

BOOST_AUTO_TEST_CASE(a_slot_does_not_keep_its_handler_alive) {
    bare_world on;
    asio::cancellation_signal signal;
    auto const kept = std::make_shared<int>();
    auto handler = [kept](error_code) {};
    auto waiting = std::make_shared<pending_handler<error_code>>(
        asio::bind_cancellation_slot(signal.slot(), handler),
        on.context.get_executor()
    );
    abort_on_cancel(waiting, on.client);
    waiting.reset();
    BOOST_TEST(kept.use_count() == 2);
    signal.emit(asio::cancellation_type::terminal);
    on.run();
    BOOST_TEST(kept.use_count() == 2);
}

// Replicas

namespace {

template <class... Words>
exec_result replied(Words const&... words) {
    return {exec_status::replied, {}, reply_of(words...)};
}

config with_replicas() {
    config settings;
    settings.replicas = {.count = 2, .timeout = 70ms};
    return settings;
}

// A script that grants something, and what came of it.
struct granting : bare_world {
    explicit granting(config settings = with_replicas()) : bare_world{std::move(settings)} {
        client->exec_granting(
            call{example, 1s},
            call{call{second, 1s}.unless(withdrawn)},
            [](auto const& reply) { return reply.integer(0) == 1; },
            [this](exec_result const& result) { got = result; }
        );
    }
    void answer(exec_result const& result) {
        auto oldest = std::move(server.requests.at(0));
        server.requests.pop_front();
        std::move(oldest.handler)(result);
        run();
    }
    std::string sent() const {
        std::string names;
        for (auto const& one : server.requests) {
            names += std::string{one.what.what().name} + " ";
        }
        return names;
    }

    static constexpr script second{"second", "return 2", ""};
    holdfast::test::scripted_backend& server = client->connect();
    std::shared_ptr<bool> withdrawn = std::make_shared<bool>(false);
    std::optional<exec_result> got;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_grant_is_run_once_more_where_replicas_are_waited_for) {
    granting one;
    BOOST_TEST(one.sent() == "example ");
    BOOST_TEST(one.server.requests.front().replicas == 0U);
    one.answer(replied(1, 5));
    BOOST_TEST(one.sent() == "second ");
    BOOST_TEST(one.server.requests.front().replicas == 2U);
    BOOST_TEST(!one.got.has_value());
    one.server.replicas = 2;
    one.answer(replied(1, 6));
    BOOST_TEST((one.got.value().status == exec_status::replied));
    // The later token: another holder may have had the lock in between.
    BOOST_TEST(one.got->reply.integer(1) == 6);
}

BOOST_AUTO_TEST_CASE(a_grant_that_too_few_replicas_have_is_none) {
    granting one;
    one.answer(replied(1));
    one.server.replicas = 1;
    one.answer(replied(1));
    BOOST_TEST((one.got.value().status == exec_status::unconfirmed));
    BOOST_TEST((one.got->error == errc::not_replicated));
}

BOOST_AUTO_TEST_CASE(a_grant_of_which_nobody_knows_what_became_is_none) {
    struct {
        exec_result second;
        errc cause;
    } const table[] = {
        {{exec_status::unknown, errc::unreachable, {}}, errc::unreachable},
        {{exec_status::failed, errc::no_permission, {}}, errc::no_permission},
        {{exec_status::not_sent, errc::tls_failed, {}}, errc::tls_failed},
        {{exec_status::refused, {}, {}}, errc::not_replicated},
    };
    for (auto const& row : table) {
        granting one;
        one.answer(replied(1));
        one.answer(row.second);
        BOOST_TEST((one.got.value().status == exec_status::unconfirmed));
        BOOST_TEST((one.got->error == row.cause));
    }
}

BOOST_AUTO_TEST_CASE(what_was_no_grant_is_not_confirmed) {
    granting refused;
    refused.answer(replied(0));
    BOOST_TEST(refused.sent().empty());
    BOOST_TEST((refused.got.value().status == exec_status::replied));
    granting unknown;
    unknown.answer({exec_status::unknown, errc::unreachable, {}});
    BOOST_TEST(unknown.sent().empty());
    BOOST_TEST((unknown.got.value().status == exec_status::unknown));
    // It was lost before replicas had it: that needs none of them.
    granting lost;
    lost.answer(replied(1));
    lost.answer(replied(0));
    BOOST_TEST((lost.got.value().status == exec_status::replied));
    BOOST_TEST(!lost.got->error);
}

BOOST_AUTO_TEST_CASE(a_grant_that_was_taken_back_is_not_made_once_more) {
    granting one;
    *one.withdrawn = true;
    one.answer(replied(1));
    BOOST_TEST(one.sent().empty());
    BOOST_TEST(one.got.has_value());
}

BOOST_AUTO_TEST_CASE(without_replicas_a_grant_is_one_request) {
    granting one{config{}};
    one.answer(replied(1));
    BOOST_TEST(one.sent().empty());
    BOOST_TEST((one.got.value().status == exec_status::replied));
}

BOOST_AUTO_TEST_CASE(what_keeps_a_lock_is_confirmed_at_once) {
    bare_world on{with_replicas()};
    auto& server = on.client->connect();
    exec_result got;
    for (auto const have : {1U, 2U}) {
        on.client->exec_confirmed(call{example, 1s}, [&](exec_result const& result) {
            got = result;
        });
        BOOST_REQUIRE(server.requests.size() == 1U);
        BOOST_TEST(server.requests.front().replicas == 2U);
        server.replicas = have;
        auto sent = std::move(server.requests.front());
        server.requests.pop_front();
        std::move(sent.handler)(replied(1));
        bool const enough = have == 2;
        BOOST_TEST((got.status == (enough ? exec_status::replied : exec_status::unconfirmed)));
        BOOST_TEST((got.error == (enough ? error_code{} : errc::not_replicated)));
        BOOST_TEST(got.reply.integer(0) == 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()
