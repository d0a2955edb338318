// What each kind of lock makes of the options of an acquisition: the same option means the same
// wherever a lock stands, alone, in a multi-lock, on a quorum or under an election.

#include <holdfast.hpp>
#include <holdfast/testing/memory_server.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using holdfast::acquire_options;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease_duration;
using holdfast::multi_lock;
using holdfast::owner;
using holdfast::quorum_lock;
using holdfast::testing::memory_server;
using holdfast::testing::virtual_time;

namespace {

struct asked_of_each_kind {
    asked_of_each_kind() {
        server.settle();
        client.semaphore("pool").try_set_permits(1'000, [](error_code ec, bool) {
            BOOST_TEST(!ec);
        });
        server.settle();
    }
    static holdfast::config settings(std::string host) {
        holdfast::config made;
        made.host = std::move(host);
        made.restart_delay = std::chrono::milliseconds{0};
        return made;
    }

    // What an acquisition ends with that has 10 s, and nobody is in its way.
    template <class Lock>
    error_code ask(
        Lock const& of,
        acquire_options const& with,
        std::optional<std::chrono::nanoseconds> limit = {}
    ) {
        std::optional<error_code> ended;
        auto handler = [&ended](error_code ec, auto const&) { ended = ec; };
        limit ? of.try_acquire_for(*limit, with, handler) : of.acquire(with, handler);
        server.advance(10s);
        BOOST_TEST_REQUIRE(ended.has_value());
        return *ended;
    }
    error_code campaign(std::string const& name, acquire_options const& with) {
        std::optional<error_code> ended;
        client.election(name).campaign("me", with, [&](error_code ec, auto const&) { ended = ec; });
        server.advance(10s);
        BOOST_TEST_REQUIRE(ended.has_value());
        return *ended;
    }
    quorum_lock quorum(std::string const& name) {
        return quorum_lock{nodes[0].lock(name), nodes[1].lock(name), nodes[2].lock(name)};
    }
    // What each kind says to these options.
    std::vector<error_code> answers(
        acquire_options const& with,
        std::optional<std::chrono::nanoseconds> limit = {}
    ) {
        auto const rw = client.read_write_lock("rw");
        std::vector<error_code> all{
            ask(client.lock("a"), with, limit),
            ask(client.fair_lock("f"), with, limit),
            ask(rw.read(), with, limit),
            ask(rw.write(), with, limit),
            ask(client.semaphore("pool"), with, limit),
            ask(multi_lock{client.lock("a"), client.fair_lock("f")}, with, limit),
            ask(multi_lock{rw.read(), client.semaphore("pool")}, with, limit),
            ask(quorum("q"), with, limit),
        };
        if (!limit) {
            all.push_back(campaign("e", with));
        }
        return all;
    }
    void all_say(errc what, acquire_options const& with) { all_say(what, with, {}); }
    void all_say(
        errc what,
        acquire_options const& with,
        std::optional<std::chrono::nanoseconds> limit
    ) {
        for (auto const& each : answers(with, limit)) {
            BOOST_TEST((each == what), each.message());
        }
    }

    asio::io_context context;
    memory_server server{virtual_time};
    memory_server second{virtual_time};
    memory_server third{virtual_time};
    holdfast::client client{context, server};
    std::array<holdfast::client, 3> nodes{
        holdfast::client{context, server, settings("a")},
        holdfast::client{context, second, settings("b")},
        holdfast::client{context, third, settings("c")},
    };
};

}  // namespace

BOOST_AUTO_TEST_SUITE(lock_request_test)

BOOST_FIXTURE_TEST_CASE(an_option_out_of_range_is_refused_by_each_kind, asked_of_each_kind) {
    all_say(errc::invalid_lease, {.lease = 999ms});
    all_say(errc::invalid_lease, {.lease = 24h + 1ms});
    all_say(errc::invalid_lease, {.lease = -1ms});
    all_say(errc::invalid_options, {.renew_at = 0.0});
    all_say(errc::invalid_options, {.renew_at = 0.51});
    all_say(errc::invalid_options, {.renew_at = std::numeric_limits<double>::quiet_NaN()});
    all_say(errc::invalid_options, {.max_hold = -1ns});
    all_say(errc::invalid_options, {.max_hold = 29s});
    all_say(errc::invalid_options, {.orphan_after = -1ns});
    all_say(errc::invalid_options, {.lease = holdfast::learned, .renew = false});
    all_say(errc::invalid_options, {}, -1ns);
    BOOST_TEST(server.executed_scripts() == 1U);  // the one that set the permits
    for (auto const& each : answers({})) {
        BOOST_TEST(!each, each.message());
    }
}

BOOST_FIXTURE_TEST_CASE(a_name_that_is_not_allowed_is_refused_by_each_kind, asked_of_each_kind) {
    std::string const longest(512, 'x');
    std::string const too_long(513, 'x');
    for (auto const& name : {std::string{}, too_long}) {
        auto const wrong = client.lock(name);
        BOOST_TEST((ask(wrong, {}) == errc::invalid_name));
        BOOST_TEST((ask(client.semaphore(name), {}) == errc::invalid_name));
        BOOST_TEST((ask(multi_lock{client.lock("a"), wrong}, {}) == errc::invalid_name));
        BOOST_TEST((ask(multi_lock{wrong, wrong}, {}) == errc::invalid_name));
        BOOST_TEST((ask(quorum(name), {}) == errc::invalid_name));
        BOOST_TEST((campaign(name, {}) == errc::invalid_name));
    }
    BOOST_TEST(!ask(client.lock(longest), {}));
}

BOOST_FIXTURE_TEST_CASE(permits_that_cannot_be_had_are_refused_by_each_kind, asked_of_each_kind) {
    auto const pool = client.semaphore("pool");
    for (auto const count : {-1, 0, 1'001}) {
        BOOST_TEST((ask(pool.permits(count), {}) == errc::invalid_options));
        multi_lock const both{pool.permits(count), client.lock("a")};
        BOOST_TEST((ask(both, {}) == errc::invalid_options));
        BOOST_TEST((ask(both, {}, 0ns) == errc::invalid_options));
    }
    BOOST_TEST(!ask(pool.permits(1'000), {}));
    BOOST_TEST(!ask(multi_lock{pool.permits(1'000), client.lock("a")}, {}));
}

// A Java reader's watchdog sets the expiry of the whole lock to 30 s, whatever a reader in C++ has
// asked for.
BOOST_FIXTURE_TEST_CASE(a_read_lease_is_renewed_within_ten_seconds_everywhere, asked_of_each_kind) {
    for (auto const together : {false, true}) {
        holdfast::multi_lease both;
        holdfast::lease alone;
        auto const before = client.stats().renewals;
        if (together) {
            multi_lock const lock{
                client.read_write_lock("rw").read(),
                client.read_write_lock("other").write(),
            };
            lock.acquire({.lease = 2min}, [&](error_code ec, holdfast::multi_lease given) {
                BOOST_TEST(!ec);
                both = std::move(given);
            });
        } else {
            client.read_write_lock("rw").read().acquire(
                {.lease = 2min},
                [&](error_code ec, holdfast::lease given) {
                    BOOST_TEST(!ec);
                    alone = std::move(given);
                }
            );
        }
        server.settle();
        BOOST_TEST((both || alone));
        server.advance(32s);
        BOOST_TEST(client.stats().renewals == before + 3);
        both = {};
        alone = {};
        server.settle();
    }
}

BOOST_FIXTURE_TEST_CASE(only_some_kinds_have_owners_and_learn, asked_of_each_kind) {
    auto const learned = answers({.lease = holdfast::learned});
    auto const owned = answers({.owner = owner::make()});
    constexpr std::size_t of_quorum = 7;
    constexpr std::size_t of_election = 8;
    for (std::size_t i = 0; i <= of_election; ++i) {
        if (i != of_quorum) {
            BOOST_TEST(!learned.at(i));
            BOOST_TEST((owned.at(i) == errc::invalid_options) == (i == of_election));
        }
    }
    BOOST_TEST((learned.at(of_quorum) == errc::invalid_options));
    BOOST_TEST((ask(quorum("q"), {.orphan_after = 1s}) == errc::invalid_options));
}

BOOST_AUTO_TEST_SUITE_END()
