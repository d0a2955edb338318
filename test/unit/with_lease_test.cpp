// How long with_lease waits for its lock. What it does while it has the lock is tested on a real
// server, in test/integration/with_lease_test.cpp.

#include "unit/in_virtual_time.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <optional>

using namespace std::chrono_literals;
using namespace holdfast::test;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::with_lease_options;
using holdfast::testing::memory_server;
using holdfast::testing::virtual_time;

namespace {

/// One call: its body acquires the lock "inner" and ends.
struct call {
    template <class Lock>
    call(in_virtual_time& all, Lock const& on, with_lease_options const& options) {
        auto const inner = all.client.lock("inner");
        asio::co_spawn(all.context, run(on, inner, options), [this](std::exception_ptr thrown) {
            ended = error_code{};
            try {
                if (thrown) {
                    std::rethrow_exception(thrown);
                }
            } catch (boost::system::system_error const& e) {
                ended = e.code();
            }
        });
    }

    template <class Lock>
    asio::awaitable<void> run(Lock on, holdfast::lock inner, with_lease_options options) {
        auto body = [&](holdfast::lease_of<Lock>&) -> asio::awaitable<void> {
            entered = true;
            auto const lease = co_await inner.acquire();
            done = lease.valid();
        };
        co_await holdfast::with_lease(on, body, options);
    }

    bool entered = false;
    bool done = false;
    std::optional<error_code> ended;
};

struct world : in_virtual_time {
    world() { server.settle(); }

    // `held` is the same lock, or its other side, of another client.
    template <class Held, class Lock>
    void ends_while_it_is_held(Held held, Lock wanted) {
        auto const kept = take(held);
        call waits{*this, wanted, {.wait_at_most = 2s}};
        server.advance(1'900ms);
        BOOST_TEST(!waits.ended.has_value());
        server.advance(300ms);
        BOOST_TEST((waits.ended == error_code{asio::error::try_again}));
        BOOST_TEST(!waits.entered);
    }

    holdfast::client other{context, server};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(with_lease_test, world)

BOOST_AUTO_TEST_CASE(a_wait_for_a_lock_ends_at_its_limit_without_the_body) {
    ends_while_it_is_held(other.lock("a"), client.lock("a"));
}
BOOST_AUTO_TEST_CASE(a_wait_for_a_fair_lock_ends_at_its_limit_without_the_body) {
    ends_while_it_is_held(other.fair_lock("a"), client.fair_lock("a"));
}
BOOST_AUTO_TEST_CASE(a_wait_for_a_read_or_write_lock_ends_at_its_limit_without_the_body) {
    ends_while_it_is_held(other.read_write_lock("a").write(), client.read_write_lock("a").read());
    ends_while_it_is_held(other.read_write_lock("b").read(), client.read_write_lock("b").write());
}
BOOST_AUTO_TEST_CASE(a_wait_for_permits_ends_at_its_limit_without_the_body) {
    auto const pool = client.semaphore("a").limit(3);
    ends_while_it_is_held(other.semaphore("a").limit(3).permits(2), pool.permits(2));
}
BOOST_AUTO_TEST_CASE(a_wait_for_several_locks_ends_at_its_limit_without_the_body) {
    holdfast::multi_lock const both{client.lock("a"), client.lock("b")};
    ends_while_it_is_held(other.lock("b"), both);
}
BOOST_AUTO_TEST_CASE(a_wait_for_a_quorum_ends_at_its_limit_without_the_body) {
    memory_server second{virtual_time};
    memory_server third{virtual_time};
    holdfast::client b{context, second};
    holdfast::client c{context, third};
    server.advance(1min);  // until then they may have forgotten something
    auto const elsewhere = take(b.lock("a"));
    holdfast::quorum_lock const all{client.lock("a"), b.lock("a"), c.lock("a")};
    ends_while_it_is_held(other.lock("a"), all);
}

// asio::cancel_after would cancel the body, too.
BOOST_AUTO_TEST_CASE(the_limit_ends_with_the_grant) {
    auto first = take(other, "a");
    auto inner = take(other, "inner");
    call one{*this, client.lock("a"), {.wait_at_most = 2s}};
    server.advance(1s);
    first = {};
    server.advance(1min);
    BOOST_TEST(one.entered);
    BOOST_TEST(!one.ended.has_value());
    inner = {};
    server.advance(1s);
    BOOST_TEST(one.done);
    BOOST_TEST((one.ended == error_code{}));
    BOOST_TEST(server.lock_keys().empty());
}

BOOST_AUTO_TEST_CASE(no_time_means_one_attempt) {
    auto first = take(other, "a");
    call const refused{*this, client.lock("a"), {.wait_at_most = 0s}};
    server.settle();
    BOOST_TEST((refused.ended == error_code{asio::error::try_again}));
    first = {};
    server.settle();
    call const granted{*this, client.lock("a"), {.wait_at_most = 0s}};
    server.settle();
    BOOST_TEST((granted.ended == error_code{}));
    BOOST_TEST(granted.done);
}

BOOST_AUTO_TEST_CASE(without_a_limit_it_waits_and_its_options_count) {
    auto first = take(other, "a");
    call const waits{*this, client.lock("a"), {.acquire = {.lease = 5s}}};
    server.advance(10min);
    BOOST_TEST(!waits.ended.has_value());
    first = {};
    server.advance(1s);
    BOOST_TEST((waits.ended == error_code{}));
    call const wrong{*this, client.lock("a"), {.acquire = {.lease = 1ms}, .wait_at_most = 2s}};
    server.settle();
    BOOST_TEST((wrong.ended == errc::invalid_lease));
    call const negative{*this, client.lock("a"), {.wait_at_most = -1s}};
    server.settle();
    BOOST_TEST((negative.ended == errc::invalid_options));
}

BOOST_AUTO_TEST_CASE(a_server_that_cannot_be_asked_is_not_a_busy_lock) {
    server.stop();
    call const one{*this, client.lock("a"), {.wait_at_most = 2s}};
    server.advance(3s);
    BOOST_TEST((one.ended == errc::unreachable));
    BOOST_TEST(!one.entered);
}

BOOST_AUTO_TEST_SUITE_END()
