// How acquisitions of every kind end: not without both an error and a valid lease, and at once when
// a cancellation finds nothing in flight.

#include "acquire/end_acquire.hpp"

#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"

#include <holdfast.hpp>
#include <holdfast/testing/memory_server.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using holdfast::acquire_options;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease;
using holdfast::multi_lock;
using holdfast::quorum_lock;
using holdfast::detail::end_acquire;
using holdfast::detail::patience;
using holdfast::detail::pending_handler;
using holdfast::test::scripted_client;
using holdfast::testing::memory_server;
using holdfast::testing::virtual_time;

namespace {

// What a caller with this patience is told when an acquisition ends with `ec` and `given`.
struct ended {
    ended(scripted_client& in, patience how_long, error_code ec, lease given) {
        pending_handler<error_code, lease> handler{
            [this](error_code why, lease one) {
                error = why;
                got = std::move(one);
            },
            in.context.get_executor()
        };
        end_acquire(handler, how_long, ec, std::move(given));
        in.run();
    }

    std::optional<error_code> error;
    lease got;
};

/// One acquisition of any kind.
struct attempt {
    auto handler() {
        return asio::bind_cancellation_slot(signal.slot(), [this]<class T>(error_code ec, T given) {
            error = ec;
            valid = given.valid();
            keeps = std::make_shared<T>(std::move(given));
        });
    }

    std::optional<error_code> error;
    bool valid = false;
    std::shared_ptr<void> keeps;
    asio::cancellation_signal signal;
};

struct one_of_each_kind {
    static holdfast::config settings(std::string host, std::chrono::milliseconds delay) {
        holdfast::config made;
        made.host = std::move(host);
        made.lock_delay = delay;
        made.restart_delay = 0ms;
        return made;
    }
    explicit one_of_each_kind(std::chrono::milliseconds delay) {
        for (auto const* const host : {"a", "b", "c"}) {
            auto& made = servers.emplace_back(virtual_time);
            nodes.emplace_back(context, made, settings(host, delay));
        }
        server().settle();
    }
    /// Other clients of the same servers.
    explicit one_of_each_kind(one_of_each_kind& beside) {
        for (std::size_t i = 0; i < 3; ++i) {
            nodes.emplace_back(context, beside.servers[i], settings({'d', char('0' + i)}, 0s));
        }
        beside.server().settle();
    }
    std::size_t executed_scripts() const {
        std::size_t all = 0;
        for (auto const& each : servers) {
            all += each.executed_scripts();
        }
        return all;
    }
    // Time is the same for all.
    memory_server& server() { return servers.front(); }

    using kind = std::function<void(attempt&)>;
    std::vector<kind> kinds(acquire_options const& with = {}) {
        auto& one = nodes[0];
        auto const plain = [with](auto lock) {
            return kind{[=](attempt& to) { lock.acquire(with, to.handler()); }};
        };
        return {
            plain(one.lock("a")),
            plain(one.fair_lock("f")),
            plain(one.read_write_lock("r").read()),
            plain(one.read_write_lock("w").write()),
            plain(multi_lock{one.lock("m"), one.lock("n")}),
            plain(multi_lock{one.lock("k"), nodes[1].fair_lock("l")}),
            plain(quorum_lock{nodes[0].lock("q"), nodes[1].lock("q"), nodes[2].lock("q")}),
            [&one, with](attempt& to) { one.election("e").campaign("me", with, to.handler()); },
        };
    }

    asio::io_context context;
    std::deque<memory_server> servers;
    std::deque<holdfast::client> nodes;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(end_acquire_test)

BOOST_AUTO_TEST_CASE(success_comes_with_a_valid_lease) {
    for (auto const how_long : {patience::unlimited, patience::one_attempt, patience::limited}) {
        scripted_client all;
        ended const one{all, how_long, {}, grant(all)};
        BOOST_TEST((one.error == error_code{}));
        BOOST_TEST(one.got.valid());
    }
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_over_is_given_back_and_reported) {
    for (auto const how_long : {patience::unlimited, patience::one_attempt, patience::limited}) {
        scripted_client all;
        ended const one{all, how_long, {}, grant(all, {.sent_ago = 24h})};
        BOOST_TEST((one.error == errc::lease_lost));
        BOOST_TEST(!one.got);
        BOOST_TEST(all.count().leases_now == 0U);
    }
}

BOOST_AUTO_TEST_CASE(an_operation_that_does_not_wait_may_end_without_a_lease) {
    scripted_client all;
    for (auto const how_long : {patience::one_attempt, patience::limited}) {
        ended const one{all, how_long, {}, {}};
        BOOST_TEST((one.error == error_code{}));
        BOOST_TEST(!one.got);
    }
    ended const failed{all, patience::unlimited, errc::unreachable, {}};
    BOOST_TEST((failed.error == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(a_total_cancellation_ends_at_once_what_lock_delay_keeps_waiting) {
    for (std::size_t i = 0; i < 8; ++i) {
        one_of_each_kind all{20s};
        attempt one;
        all.kinds().at(i)(one);
        all.server().settle();
        BOOST_TEST(!one.error.has_value(), i << " waits");
        one.signal.emit(asio::cancellation_type::total);
        all.server().settle();
        BOOST_TEST((one.error == error_code{asio::error::operation_aborted}), i << " is cancelled");
        all.server().advance(1min);
        for (auto const& each : all.servers) {
            BOOST_TEST(each.lock_keys().empty(), i << " leaves nothing");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_total_cancellation_ends_at_once_what_waits_for_a_connection) {
    for (std::size_t i = 0; i < 8; ++i) {
        one_of_each_kind all{0s};
        for (auto& each : all.servers) {
            each.stop();
        }
        all.server().advance(100ms);
        attempt one;
        all.kinds().at(i)(one);
        all.server().advance(1s);
        BOOST_TEST(!one.error.has_value(), i << " waits");
        one.signal.emit(asio::cancellation_type::total);
        all.server().settle();
        BOOST_TEST((one.error == error_code{asio::error::operation_aborted}), i << " is cancelled");
        for (auto& each : all.servers) {
            each.start();
        }
    }
}

// In the last millisecond of a lease its servers say that it lasts for 0 ms. In virtual time an
// attempt takes no time.
BOOST_AUTO_TEST_CASE(an_attempt_follows_another_one_after_a_millisecond) {
    one_of_each_kind held{0s};
    one_of_each_kind waiting{held};
    for (std::size_t i = 0; i < 8; ++i) {
        for (auto before_end = 100us; before_end < 2ms; before_end += 200us) {
            attempt first;
            held.kinds({.lease = 2s, .renew = false}).at(i)(first);
            held.server().settle();
            BOOST_TEST_REQUIRE(first.valid);
            held.server().advance(2s - before_end);
            auto const before = held.executed_scripts();
            attempt second;
            waiting.kinds().at(i)(second);
            held.server().advance(1s);
            BOOST_TEST_REQUIRE(second.valid, i << " waits");
            BOOST_TEST(held.executed_scripts() < before + 100U, i << " asks too often");
            first.keeps = {};
            second.keeps = {};
            held.server().settle();
        }
    }
}

BOOST_AUTO_TEST_CASE(an_acquisition_without_room_to_wait_says_so) {
    holdfast::config settings;
    settings.max_waiters = 2;
    asio::io_context context;
    memory_server server{virtual_time};
    holdfast::client const client{context, server, settings};
    server.settle();
    {
        // The client knows the server: members are asked for together from now on.
        attempt before;
        client.lock("before").acquire(before.handler());
        server.settle();
    }
    server.hold_as_other("b", 30s);
    attempt waiter;
    client.lock("b").acquire(waiter.handler());
    server.settle();
    std::deque<attempt> all(3);
    for (auto& each : all) {
        multi_lock{client.lock("a"), client.lock("b")}.acquire(each.handler());
    }
    server.advance(1s);
    std::size_t refused = 0;
    for (auto const& each : all) {
        if (each.error) {
            BOOST_TEST((each.error == errc::too_many_waiters));
            ++refused;
        }
    }
    BOOST_TEST(refused >= 1U);
}

BOOST_AUTO_TEST_CASE(a_quorum_whose_clients_have_no_room_to_wait_says_so) {
    holdfast::config settings;
    settings.max_waiters = 1;
    settings.restart_delay = 0ms;
    asio::io_context context;
    std::deque<memory_server> servers;
    std::deque<holdfast::client> nodes;
    for (int i = 0; i < 3; ++i) {
        nodes.emplace_back(context, servers.emplace_back(virtual_time), settings);
    }
    servers.front().settle();
    for (auto& each : servers) {
        each.pause();
    }
    auto const quorum = [&](std::size_t i, std::size_t j, std::size_t k) {
        return quorum_lock{nodes[i].lock("q"), nodes[j].lock("q"), nodes[k].lock("q")};
    };
    // The one that is led by another client asks the same nodes.
    attempt another;
    quorum(1, 0, 2).try_acquire(another.handler());
    attempt one;
    quorum(0, 1, 2).try_acquire(one.handler());
    servers.front().settle();
    BOOST_TEST_REQUIRE(one.error.has_value());
    BOOST_TEST((one.error == errc::too_many_waiters), one.error->message());
    // Each owner has a line of its own, and there are not more of them.
    auto const mine = [] { return holdfast::acquire_options{.owner = holdfast::owner::make()}; };
    attempt first;
    attempt second;
    quorum(2, 1, 0).acquire(mine(), first.handler());
    quorum(2, 1, 0).acquire(mine(), second.handler());
    servers.front().settle();
    BOOST_TEST(!first.error);
    BOOST_TEST((second.error == errc::too_many_waiters));
}

BOOST_AUTO_TEST_CASE(a_client_that_is_stopped_between_grant_and_handler_says_so) {
    asio::io_context context;
    memory_server server{virtual_time};
    std::optional<holdfast::client> client{std::in_place, context, server};
    server.settle();
    server.pause();
    attempt one;
    client->lock("a").acquire(one.handler());
    server.advance(100ms);
    server.resume();
    client.reset();
    server.settle();
    BOOST_TEST((one.error == errc::client_stopped));
}

BOOST_AUTO_TEST_SUITE_END()
