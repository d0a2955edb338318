// Requests that wait for a connection: each is told once, in time, and there are not too many.

#include "client/connection_waiters.hpp"

#include "unit/bare_client.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>

using namespace std::chrono_literals;
using holdfast::config;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::connection_waiters;
using holdfast::test::bare_world;
using holdfast::test::scripted_backend;

namespace {

config settings_of(std::chrono::milliseconds request_timeout, std::size_t max_waiters = 100) {
    config settings;
    settings.request_timeout = request_timeout;
    settings.max_waiters = max_waiters;
    return settings;
}

struct world : bare_world {
    explicit world(config settings = settings_of(24h)) : bare_world{std::move(settings)} {
        server.commands_up = false;
    }

    auto note(std::string const& who) {
        return
            [this, who](error_code ec) { heard += who + "(" + (ec ? ec.message() : "up") + ") "; };
    }
    static std::string said(std::string const& who, errc cause) {
        return who + "(" + make_error_code(cause).message() + ") ";
    }

    scripted_backend& server = client->connect();
    connection_waiters waiters{*client};
    std::string heard;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(connection_waiters_test)

BOOST_AUTO_TEST_CASE(with_a_connection_nobody_waits) {
    world all;
    all.server.commands_up = true;
    all.waiters.add(all.note("a"));
    BOOST_TEST(all.heard == "a(up) ");
}

BOOST_AUTO_TEST_CASE(without_one_they_wait_until_they_are_told) {
    world all;
    all.waiters.add(all.note("a"));
    all.waiters.add(all.note("b"));
    all.run();
    BOOST_TEST(all.heard.empty());
    all.waiters.tell({});
    BOOST_TEST(all.heard == "a(up) b(up) ");
    all.waiters.tell(errc::unreachable);
    all.run();
    BOOST_TEST(all.heard == "a(up) b(up) ");
}

BOOST_AUTO_TEST_CASE(a_cause_that_does_not_pass_is_told_at_once) {
    world all;
    all.server.why = {errc::auth_failed, true};
    all.waiters.add(all.note("a"));
    BOOST_TEST(all.heard == world::said("a", errc::auth_failed));
}

BOOST_AUTO_TEST_CASE(after_a_request_time_out_they_are_told_why_there_is_none) {
    for (auto const cause : {errc::server_refused, errc{}}) {
        world all{settings_of(1ms)};
        all.server.why = {cause == errc{} ? error_code{} : error_code{cause}, false};
        all.waiters.add(all.note("a"));
        all.context.restart();
        all.context.run_one_for(20s);
        BOOST_TEST(all.heard == world::said("a", cause == errc{} ? errc::unreachable : cause));
        all.waiters.tell({});
        BOOST_TEST(all.heard.find("up") == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(one_that_pauses_is_told_when_its_pause_is_over_or_a_connection_is_made) {
    world all;
    all.server.commands_up = true;
    all.waiters.add_after(1ms, all.note("a"));
    BOOST_TEST(all.heard.empty());
    all.context.restart();
    all.context.run_one_for(20s);
    BOOST_TEST(all.heard == "a(up) ");
    all.waiters.add_after(24h, all.note("b"));
    all.waiters.tell(errc::client_stopped);
    BOOST_TEST(all.heard == "a(up) " + world::said("b", errc::client_stopped));
    // Without a connection it goes on waiting.
    all.server.commands_up = false;
    all.heard.clear();
    all.waiters.add_after(1ms, all.note("c"));
    all.context.restart();
    all.context.run_for(20ms);
    BOOST_TEST(all.heard.empty());
    all.waiters.tell({});
    BOOST_TEST(all.heard == "c(up) ");
}

BOOST_AUTO_TEST_CASE(beyond_the_bound_they_are_refused) {
    world all{settings_of(24h, 1)};
    auto place = all.waiters.reserve();
    BOOST_TEST(place != nullptr);
    BOOST_TEST(all.waiters.reserve() == nullptr);
    place.reset();
    BOOST_TEST(all.waiters.reserve() != nullptr);
}

BOOST_AUTO_TEST_CASE(at_the_end_of_the_context_they_are_dropped) {
    world all;
    all.waiters.add(all.note("a"));
    all.waiters.clear();
    all.waiters.tell({});
    all.run();
    BOOST_TEST(all.heard.empty());
}

BOOST_AUTO_TEST_SUITE_END()
