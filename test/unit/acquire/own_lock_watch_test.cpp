// An acquisition that waits for a lease of its own client is reported.

#include "acquire/own_lock_watch.hpp"

#include "unit/in_virtual_time.hpp"

#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast::test;
namespace asio = boost::asio;
using holdfast::log_level;
using holdfast::testing::memory_server;
using holdfast::testing::virtual_time;

namespace {

struct logging {
    holdfast::config settings() {
        holdfast::config made;
        made.restart_delay = 0ms;
        made.log = [this](log_level level, std::string_view line) {
            if (level == log_level::warning) {
                lines.emplace_back(line);
            }
        };
        return made;
    }
    std::vector<std::string> lines;
};

struct world : logging, in_virtual_time {
    world() : in_virtual_time{settings()} {}

    template <class Held, class Wanted>
    void reports_a_wait_for_its_own(Held held, Wanted wanted) {
        auto const kept = take(held);
        acquired waits;
        wanted.acquire(waits.handler());
        server.advance(4'900ms);
        BOOST_TEST(lines.empty());
        server.advance(200ms);
        BOOST_TEST_REQUIRE(lines.size() == 1U);
        auto const& line = lines.front();
        BOOST_TEST(line.find("\"a\" has waited for 5.0 s") != line.npos, line);
        BOOST_TEST(line.find(client.id()) != line.npos, line);
        // Once is enough.
        server.advance(5min);
        BOOST_TEST(lines.size() == 1U);
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(own_lock_watch_test, world)

BOOST_AUTO_TEST_CASE(of_a_lock) {
    reports_a_wait_for_its_own(client.lock("a"), client.lock("a"));
}
BOOST_AUTO_TEST_CASE(of_a_fair_lock) {
    reports_a_wait_for_its_own(client.fair_lock("a"), client.fair_lock("a"));
}
BOOST_AUTO_TEST_CASE(of_a_write_lock) {
    auto const both = client.read_write_lock("a");
    reports_a_wait_for_its_own(both.write(), both.write());
}
BOOST_AUTO_TEST_CASE(of_a_writer_behind_a_reader) {
    auto const both = client.read_write_lock("a");
    reports_a_wait_for_its_own(both.read(), both.write());
}
BOOST_AUTO_TEST_CASE(of_a_reader_behind_a_writer) {
    auto const both = client.read_write_lock("a");
    reports_a_wait_for_its_own(both.write(), both.read());
}
BOOST_AUTO_TEST_CASE(of_a_semaphore) {
    auto const pool = client.semaphore("a").limit(1);
    reports_a_wait_for_its_own(pool, pool);
}

BOOST_AUTO_TEST_CASE(of_a_member_of_several_locks) {
    auto const kept = take(client.lock("b"));
    acquired_of<holdfast::multi_lease> waits;
    holdfast::multi_lock const both{client.lock("a"), client.lock("b")};
    both.acquire(waits.handler());
    server.advance(6s);
    BOOST_TEST_REQUIRE(lines.size() == 1U);
    BOOST_TEST(lines.front().find("\"b\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(of_a_quorum) {
    memory_server second{virtual_time};
    memory_server third{virtual_time};
    holdfast::client const b{context, second, settings()};
    holdfast::client const c{context, third, settings()};
    server.settle();
    holdfast::quorum_lock const all{client.lock("a"), b.lock("a"), c.lock("a")};
    acquired_of<holdfast::quorum_lease> kept;
    all.acquire(kept.handler());
    server.settle();
    BOOST_TEST_REQUIRE(kept.granted());
    acquired_of<holdfast::quorum_lease> waits;
    all.acquire(waits.handler());
    server.advance(4'900ms);
    BOOST_TEST(lines.empty());
    server.advance(200ms);
    BOOST_TEST_REQUIRE(lines.size() == 1U);
    auto const& line = lines.front();
    BOOST_TEST(line.find("\"a\" has waited for 5.0 s") != line.npos, line);
    BOOST_TEST(line.find(client.id()) != line.npos, line);
    // Once is enough.
    server.advance(5min);
    BOOST_TEST(lines.size() == 1U);
}

BOOST_AUTO_TEST_CASE(of_a_quorum_after_a_lease_if_that_is_shorter) {
    memory_server second{virtual_time};
    memory_server third{virtual_time};
    holdfast::client const b{context, second, settings()};
    holdfast::client const c{context, third, settings()};
    server.settle();
    holdfast::quorum_lock const all{client.lock("a"), b.lock("a"), c.lock("a")};
    acquired_of<holdfast::quorum_lease> kept;
    acquired_of<holdfast::quorum_lease> waits;
    all.acquire(kept.handler());
    server.settle();
    BOOST_TEST_REQUIRE(kept.granted());
    all.acquire({.lease = 2s}, waits.handler());
    server.advance(1'900ms);
    BOOST_TEST(lines.empty());
    server.advance(200ms);
    BOOST_TEST(lines.size() == 1U);
}

BOOST_AUTO_TEST_CASE(what_a_client_says_of_itself_is_the_holder_that_others_see) {
    auto const kept = take(client, "a");
    std::string holder;
    client.lock("a").inspect([&](holdfast::error_code, holdfast::lock_info found) {
        holder = found.holder;
    });
    server.settle();
    BOOST_TEST(holder.starts_with(client.id() + ':'));
    holdfast::client const other{context, server};
    BOOST_TEST(other.id() != client.id());
}

BOOST_AUTO_TEST_CASE(after_a_lease_if_that_is_shorter) {
    auto const kept = take(client.lock("a"), {.lease = 60s});
    acquired waits;
    client.lock("a").acquire({.lease = 2s}, waits.handler());
    server.advance(1'900ms);
    BOOST_TEST(lines.empty());
    server.advance(200ms);
    BOOST_TEST(lines.size() == 1U);
}

// Each of them has it for three seconds, and the last one waits for all of them.
BOOST_AUTO_TEST_CASE(nothing_is_reported_while_others_come_and_go) {
    auto held = take(client, "a");
    acquired last;
    std::vector<acquired> others(5);
    for (auto& each : others) {
        client.lock("a").acquire(each.handler());
    }
    client.lock("a").acquire(last.handler());
    for (auto& each : others) {
        server.advance(3s);
        held.release(asio::detached);
        server.settle();
        BOOST_TEST_REQUIRE(each.granted());
        held = std::move(each.got);
    }
    BOOST_TEST(lines.empty());
    // The last one but one keeps it.
    server.advance(4'900ms);
    BOOST_TEST(lines.empty());
    server.advance(200ms);
    BOOST_TEST(lines.size() == 1U);
    server.advance(1min);
    BOOST_TEST(lines.size() == 1U);
    lines.clear();
    // A lock of another client is another's business.
    holdfast::client const other{context, server};
    auto const theirs = take(other, "b");
    acquired waits;
    client.lock("b").acquire(waits.handler());
    held.release(asio::detached);
    server.advance(1min);
    BOOST_TEST(lines.empty());
}

BOOST_AUTO_TEST_SUITE_END()
