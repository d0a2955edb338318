// What is under a name is found out by asking, and taken away by the same way.

#include "cli/found_lock.hpp"

#include "unit/cli/memory_world.hpp"

#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using holdfast::client;
using holdfast::errc;
using holdfast::error_code;
using namespace holdfast::cli;
using holdfast::test::memory_world;
using holdfast::test::with_memory;
using task = asio::awaitable<void>;

BOOST_AUTO_TEST_SUITE(cli_found_lock_test)

BOOST_AUTO_TEST_CASE(a_lock_is_found_and_freed) {
    with_memory([](memory_world& world, client& by) -> task {
        error_code ec;
        auto none = co_await find_lock(by, "a", lock_kind::automatic, ec);
        BOOST_TEST(!ec);
        BOOST_TEST(!none.held());
        BOOST_TEST((none.kind == lock_kind::automatic));
        world.server->lock_as_other("a", 10s);
        auto found = co_await find_lock(by, "a", lock_kind::automatic, ec);
        BOOST_TEST(!ec);
        BOOST_TEST((found.kind == lock_kind::lock));
        BOOST_TEST(found.held());
        BOOST_TEST(!found.holder().empty());
        bool const freed = co_await free_lock(by, "a", lock_kind::automatic, ec);
        BOOST_TEST(freed);
        BOOST_TEST(!world.server->exists("a"));
        bool const again = co_await free_lock(by, "a", lock_kind::automatic, ec);
        BOOST_TEST(!again);
        BOOST_TEST(!ec);
    });
}

BOOST_AUTO_TEST_CASE(a_read_write_lock_is_found_and_freed_on_both_sides) {
    with_memory([](memory_world&, client& by) -> task {
        auto acquiring = by.read_write_lock("a").read().acquire(asio::use_awaitable);
        auto const lease = co_await std::move(acquiring);
        error_code ec;
        auto const found = co_await find_lock(by, "a", lock_kind::automatic, ec);
        BOOST_TEST(!ec, ec.message());
        BOOST_TEST((found.kind == lock_kind::read_write_lock));
        BOOST_REQUIRE(found.readers);
        BOOST_TEST(found.readers->readers == 1U);
        BOOST_TEST(found.holder() == found.readers->holder);
        bool const freed = co_await free_lock(by, "a", lock_kind::automatic, ec);
        BOOST_TEST(freed);
    });
}

BOOST_AUTO_TEST_CASE(permits_and_numbers_are_told_apart) {
    with_memory([](memory_world& world, client& by) -> task {
        auto setting = by.semaphore("pool").try_set_permits(3, asio::use_awaitable);
        co_await std::move(setting);
        auto acquiring = by.semaphore("pool").permits(2).acquire(asio::use_awaitable);
        auto const lease = co_await std::move(acquiring);
        error_code ec;
        auto const pool = co_await find_lock(by, "pool", lock_kind::automatic, ec);
        BOOST_TEST(!ec, ec.message());
        BOOST_TEST((pool.kind == lock_kind::semaphore));
        BOOST_REQUIRE(pool.permits);
        BOOST_TEST(pool.permits->acquired == 2);
        BOOST_TEST(pool.held());

        auto const latch = co_await find_lock(by, "gate", lock_kind::latch, ec);
        BOOST_TEST(latch.number.value_or(-1) == 0);
        world.server->set("text", "hello");
        auto const text = co_await find_lock(by, "text", lock_kind::automatic, ec);
        BOOST_TEST((ec == errc::corrupt_state));
        BOOST_TEST(!text.held());
    });
}

BOOST_AUTO_TEST_CASE(kinds_have_the_names_of_the_library) {
    BOOST_TEST(to_string(lock_kind::fair_lock) == "fair_lock");
    BOOST_TEST(to_string(lock_kind::read_write_lock) == "read_write_lock");
    BOOST_TEST(to_string(lock_kind::counting_semaphore) == "counting_semaphore");
    BOOST_TEST(to_string(lock_kind::automatic) == "unknown");
}

BOOST_AUTO_TEST_SUITE_END()
