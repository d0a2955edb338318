// Sentinels that cannot be reached or do not answer. What real ones say is tested with them.

#include "redis/deployment/sentinels.hpp"

#include "unit/redis/nowhere.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using holdfast::config;
using holdfast::errc;
using holdfast::log_level;
using holdfast::detail::address_source;
using holdfast::detail::sentinels;
using holdfast::test::nowhere;

namespace {

// Takes connections and says nothing.
struct silent_server {
    silent_server() { acceptor.non_blocking(true); }
    ~silent_server() { std::filesystem::remove(path); }
    std::size_t taken() {
        boost::system::error_code ec;
        if (auto next = acceptor.accept(ec); !ec) {
            connections.push_back(std::move(next));
        }
        return connections.size();
    }

    /// Each connection that was taken has been asked something.
    bool asked() {
        return std::all_of(connections.begin(), connections.end(), [](auto const& each) {
            return each.available() > 0;
        });
    }
    /// Breaks the silence.
    void say(std::size_t connection, std::string const& what) {
        asio::write(connections[connection], asio::buffer(what));
    }

    std::string path = (std::filesystem::temp_directory_path() /
                        ("holdfast-silent-" + std::to_string(::getpid()) + ".sock"))
                           .string();
    asio::io_context context;
    asio::local::stream_protocol::acceptor acceptor{context, path};
    std::deque<asio::local::stream_protocol::socket> connections;
};

struct fixture {
    explicit fixture(std::string const& missing_ca_file = {}, silent_server const* silent = nullptr)
        : at{missing_ca_file} {
        auto made = *at.settings;
        made.unix_socket = silent != nullptr ? silent->path : "";
        // These ports refuse at once.
        made.sentinels = {{"127.0.0.1", 1}, {"127.0.0.1", 2}, {"127.0.0.1", 3}};
        made.primary_name = "mymaster";
        made.sentinel_tls = made.tls;
        made.sentinel_password = "s3cret";
        all = std::make_shared<sentinels>(at.strand, std::make_shared<config const>(made));
    }

    void ask() {
        asio::co_spawn(
            at.strand,
            all->find(),
            [this](std::exception_ptr failed, address_source::answer found) {
                BOOST_TEST(!failed);
                answers.push_back(std::move(found));
            }
        );
    }

    nowhere at;
    std::shared_ptr<sentinels> all;
    std::vector<address_source::answer> answers;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(sentinels_test)

BOOST_AUTO_TEST_CASE(if_nobody_answers_all_who_asked_are_told_the_same) {
    fixture test;
    test.ask();
    test.ask();
    BOOST_TEST(test.answers.empty());
    BOOST_TEST(test.at.ends());
    BOOST_REQUIRE(test.answers.size() == 2U);
    for (auto const& answer : test.answers) {
        BOOST_TEST(!answer.settings);
        BOOST_TEST((answer.cause == errc::unreachable));
        BOOST_TEST(!answer.permanent);
        BOOST_TEST(
            answer.text.starts_with(
                "no Sentinel names the primary \"mymaster\": the Sentinel at 127.0.0.1:1 cannot be "
                "asked: "
            ),
            answer.text
        );
    }
    // They asked together. The line about the primary has the cause of one of the three.
    BOOST_TEST(test.at.log.count(log_level::warning, "cannot be asked") == 4U);
    BOOST_TEST(test.at.log.count("no Sentinel names the primary \"mymaster\"") == 1U);
    BOOST_TEST(test.at.log.count("s3cret") == 0U);
    test.ask();
    BOOST_TEST(test.at.ends());
    BOOST_TEST(test.answers.size() == 3U);
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_used_are_a_failure_that_does_not_pass) {
    fixture test{"/nowhere/ca.crt"};
    test.ask();
    BOOST_TEST(test.at.ends());
    BOOST_REQUIRE(test.answers.size() == 1U);
    BOOST_TEST((test.answers[0].cause == errc::tls_failed));
    BOOST_TEST(test.answers[0].permanent);
}

BOOST_AUTO_TEST_CASE(those_that_are_stopped_answer_at_once) {
    silent_server silent;
    fixture test{{}, &silent};
    test.all->start({});
    test.ask();
    test.ask();
    // One that asks each, and one that listens to it.
    BOOST_TEST(test.at.eventually([&] { return silent.taken() == 6U; }));
    BOOST_TEST(test.answers.empty());
    test.all->stop();
    BOOST_TEST(test.at.ends());
    BOOST_REQUIRE(test.answers.size() == 2U);
    test.ask();
    BOOST_TEST(test.at.ends());
    BOOST_REQUIRE(test.answers.size() == 3U);
    BOOST_TEST((test.answers[2].cause == errc::client_stopped));
    BOOST_TEST(!test.answers[2].permanent);
}

BOOST_AUTO_TEST_CASE(who_asks_is_told_what_is_known_when_he_goes_on) {
    silent_server silent;
    fixture test{{}, &silent};
    test.ask();
    BOOST_TEST(test.at.eventually([&] { return silent.taken() == 3U && silent.asked(); }));
    auto const answer = [](std::string const& port, std::string const& config_epoch) {
        return "%1\r\n$4\r\nmode\r\n$8\r\nsentinel\r\n"
               "*2\r\n$9\r\n127.0.0.1\r\n$4\r\n" +
               port + "\r\n%1\r\n$12\r\nconfig-epoch\r\n$1\r\n" + config_epoch + "\r\n";
    };
    // Two are a majority. The third knows better, and is heard at the same moment.
    silent.say(0, answer("7001", "1"));
    silent.say(1, answer("7001", "1"));
    silent.say(2, answer("7002", "2"));
    BOOST_TEST(test.at.eventually([&] { return !test.answers.empty(); }));
    BOOST_REQUIRE((test.answers.size() == 1U && test.answers[0].settings));
    BOOST_TEST(test.answers[0].settings->port == 7002);
    BOOST_TEST(test.answers[0].version == 2U);
}

BOOST_AUTO_TEST_CASE(they_are_listened_to_until_the_end) {
    fixture test;
    bool moved = false;
    test.all->start([&](config const&) { moved = true; });
    // As often as it takes, and told of once for each.
    BOOST_TEST(test.at.eventually([&] { return test.at.log.count("Sentinel connection to") == 3U; })
    );
    test.all->stop();
    test.all.reset();
    BOOST_TEST(test.at.ends());
    BOOST_TEST(!moved);
}

BOOST_AUTO_TEST_CASE(one_that_cannot_be_reached_is_one_line) {
    fixture test;
    test.all->start({});
    for (std::size_t asked = 1; asked < 20; ++asked) {
        test.ask();
        BOOST_TEST(test.at.eventually([&] { return test.answers.size() == asked; }));
    }
    for (auto const* const place : {"127.0.0.1:1 ", "127.0.0.1:2 ", "127.0.0.1:3 "}) {
        auto const line = std::string{"Sentinel connection to "} + place + "cannot be made";
        BOOST_TEST(test.at.eventually([&] { return test.at.log.count(line) == 1U; }));
    }
    BOOST_TEST(test.at.log.count("no Sentinel names the primary") == 1U);
    BOOST_TEST(test.at.log.count(log_level::warning) == 4U, test.at.log.all());
    test.all->stop();
}

BOOST_AUTO_TEST_CASE(they_may_go_before_their_context) {
    auto test = std::make_unique<fixture>();
    test->all->start({});
    test->ask();
    test->at.do_what_is_ready();
    test->all.reset();
}

BOOST_AUTO_TEST_SUITE_END()
