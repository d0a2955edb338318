// A connection that cannot be made: it is tried again, told of once, and ends when it is told to.
// What happens on one that is up is tested with servers.

#include "redis/supervisor.hpp"

#include "unit/redis/nowhere.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

using holdfast::errc;
using holdfast::log_level;
using holdfast::detail::connection_id;
using holdfast::detail::raw_reply;
using holdfast::detail::supervisor;
using holdfast::test::nowhere;

namespace {

// Says where the server is what the test says.
struct said final : holdfast::detail::address_source {
    void start(move_handler) override {}
    void stop() override {}
    boost::asio::awaitable<answer> find() override {
        ++asked;
        co_return next;
    }

    answer next;
    int asked = 0;
};

struct watched final : supervisor {
    explicit watched(nowhere& at, std::shared_ptr<said> source = {})
        : supervisor{
              of(at, std::move(source)),
              connection_id::purpose::commands,
              {.up = [&at](connection_id which) { at.on_up(which); },
               .down = [&at](connection_id which) { at.on_down(which); },
               .failure =
                   [&at](connection_id which, holdfast::error_code cause) {
                       at.on_failure(which, cause);
                   },
               .unconnected =
                   [&at](connection_id, holdfast::error_code cause, std::string_view text) {
                       at.unconnected.emplace_back(cause, text);
                   },
               .refused = {}}
          } {}

    static holdfast::detail::server_context of(nowhere& at, std::shared_ptr<said> source) {
        auto made = at.server();
        made.source = std::move(source);
        return made;
    }

    void on_up() override {}
    void on_down() override {}
    void on_unsolicited(raw_reply&) override {}
};

// A handshake of the command connection.
constexpr unsigned commands_each = 5;

}  // namespace

BOOST_AUTO_TEST_SUITE(supervisor_test)

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_is_tried_again_and_told_of_once) {
    nowhere at;
    auto const one = std::make_shared<watched>(at);
    one->start();
    BOOST_TEST(at.count->commands.get() == 0U);
    BOOST_TEST(at.eventually([&] { return at.count->commands.get() >= 4 * commands_each; }));
    BOOST_TEST(!one->up());
    BOOST_TEST((one->why_down().cause == errc::unreachable));
    BOOST_TEST(!one->why_down().permanent);
    BOOST_TEST(at.failures.empty());
    // Each attempt is reported, with a text for people.
    BOOST_TEST_REQUIRE(at.unconnected.size() >= 2U);
    BOOST_TEST((at.unconnected[1].first == errc::unreachable));
    BOOST_TEST(
        at.unconnected[1].second.find("connection to /nowhere/redis.sock cannot be made: ") !=
        std::string::npos
    );
    BOOST_TEST(at.ups == 0);
    BOOST_TEST(at.downs == 0);
    BOOST_TEST(
        at.log.count(
            log_level::warning,
            "command connection to /nowhere/redis.sock cannot be made"
        ) == 1U
    );
    one->stop();
    BOOST_TEST(at.ends());
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_used_are_a_failure_that_does_not_pass) {
    nowhere at{"/nowhere/ca.crt"};
    auto const one = std::make_shared<watched>(at);
    one->start();
    BOOST_TEST(at.eventually([&] { return at.failures.size() >= 2; }));
    BOOST_TEST((at.failures[0].second == errc::tls_failed));
    BOOST_TEST(at.failures[0].first.server == 3U);
    BOOST_TEST((at.failures[0].first.what == connection_id::purpose::commands));
    BOOST_TEST(at.failures[1].first.epoch > at.failures[0].first.epoch);
    BOOST_TEST(one->why_down().permanent);
    BOOST_TEST(at.log.count(log_level::error, "TLS cannot be set up") == 1U);
    one->stop();
    BOOST_TEST(at.ends());
}

BOOST_AUTO_TEST_CASE(one_that_is_stopped_before_it_began_does_nothing) {
    nowhere at;
    auto const one = std::make_shared<watched>(at);
    one->start();
    one->stop();
    BOOST_TEST(at.ends());
    BOOST_TEST(at.count->commands.get() == 0U);
    // There is no epoch to end.
    one->drop_epoch("for no reason");
    BOOST_TEST(at.log.all() == "");
}

BOOST_AUTO_TEST_CASE(where_the_server_is_is_asked_before_each_attempt) {
    nowhere at;
    auto const source = std::make_shared<said>();
    source->next.cause = errc::unknown_primary;
    source->next.permanent = true;
    auto const one = std::make_shared<watched>(at, source);
    one->start();
    BOOST_TEST(at.eventually([&] { return at.failures.size() >= 2; }));
    BOOST_TEST((at.failures[0].second == errc::unknown_primary));
    BOOST_TEST(one->why_down().permanent);
    // Nothing was tried.
    BOOST_TEST(at.count->commands.get() == 0U);

    auto there = *at.settings;
    there.unix_socket = "/elsewhere";
    source->next = {};
    source->next.settings = std::make_shared<holdfast::config const>(there);
    source->next.version = 7;
    auto const before = source->asked;
    BOOST_TEST(at.eventually([&] { return at.count->commands.get() >= 2 * commands_each; }));
    BOOST_TEST(source->asked >= before + 2);
    BOOST_TEST(one->version() == 7U);
    BOOST_TEST(one->place().unix_socket == "/elsewhere");
    BOOST_TEST(at.log.count("command connection to /elsewhere cannot be made") == 1U);
    one->stop();
    BOOST_TEST(at.ends());
}

BOOST_AUTO_TEST_CASE(news_of_another_place_ends_the_pause_before_the_next_attempt) {
    nowhere at;
    auto settings = *at.settings;
    settings.reconnect_min = settings.reconnect_max = std::chrono::hours{1};
    at.settings = std::make_shared<holdfast::config const>(settings);
    auto const source = std::make_shared<said>();
    source->next.cause = errc::unreachable;
    auto const one = std::make_shared<watched>(at, source);
    one->start();
    BOOST_TEST(at.eventually([&] { return source->asked == 1; }));
    auto there = settings;
    there.host = "elsewhere";
    for (int asked = 2; asked < 5; ++asked) {
        at.eventually([&] { return one->why_down().cause == errc::unreachable; });
        at.do_what_is_ready();
        one->move_to(there);
        BOOST_TEST(at.eventually([&] { return source->asked >= asked; }));
    }
    one->stop();
    BOOST_TEST(at.ends());
}

BOOST_AUTO_TEST_CASE(it_may_be_dropped_while_it_tries) {
    nowhere at;
    std::weak_ptr<watched> left;
    {
        auto const one = std::make_shared<watched>(at);
        left = one;
        one->start();
        BOOST_TEST(at.eventually([&] { return at.count->commands.get() >= commands_each; }));
        one->stop();
    }
    BOOST_TEST(at.ends());
    BOOST_TEST(left.expired());
}

BOOST_AUTO_TEST_SUITE_END()
