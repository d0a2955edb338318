// The kind of lock that the options ask for.

#include "cli/run/wanted_lock.hpp"

#include "support/run.hpp"
#include "unit/cli/memory_world.hpp"

#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>
#include <utility>
#include <variant>

using namespace std::chrono_literals;
using namespace holdfast::cli;
using holdfast::client;
using holdfast::error_code;
using holdfast::lease;
using holdfast::test::co_eventually;
using holdfast::test::memory_world;
using holdfast::test::with_memory;
using task = boost::asio::awaitable<void>;

namespace {

run_options asking(std::string name) {
    run_options options;
    options.name = std::move(name);
    return options;
}

// Acquires without waiting.
boost::asio::awaitable<lease> attempt(client& by, run_options const& options) {
    std::optional<lease> got;
    std::visit(
        [&](auto const& lock) {
            lock.try_acquire([&](error_code ec, lease granted) {
                BOOST_TEST(!ec, ec.message());
                got = std::move(granted);
            });
        },
        make_wanted_lock(by, options)
    );
    auto const answered = [&] { return got.has_value(); };
    bool const in_time = co_await co_eventually(20s, answered);
    BOOST_TEST(in_time);
    co_return std::move(*got);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli_wanted_lock_test)

BOOST_AUTO_TEST_CASE(a_plain_lock_has_one_holder) {
    with_memory([](memory_world& world, client& by) -> task {
        auto const options = asking("a");
        auto const first = co_await attempt(by, options);
        auto const second = co_await attempt(by, options);
        BOOST_TEST(first.valid());
        BOOST_TEST(!second.valid());
        BOOST_TEST(world.server->exists("a"));
    });
}

BOOST_AUTO_TEST_CASE(readers_share_and_a_writer_does_not) {
    with_memory([](memory_world&, client& by) -> task {
        auto reading = asking("a");
        reading.shared = true;
        auto writing = asking("a");
        writing.exclusive = true;
        auto const first = co_await attempt(by, reading);
        auto const second = co_await attempt(by, reading);
        auto const third = co_await attempt(by, writing);
        BOOST_TEST(first.valid());
        BOOST_TEST(second.valid());
        BOOST_TEST(!third.valid());
    });
}

BOOST_AUTO_TEST_CASE(permits_are_counted) {
    with_memory([](memory_world&, client& by) -> task {
        auto setting = by.semaphore("pool").try_set_permits(3, boost::asio::use_awaitable);
        co_await std::move(setting);
        auto options = asking("pool");
        options.permits = 2;
        auto const first = co_await attempt(by, options);
        auto const second = co_await attempt(by, options);
        options.permits = 1;
        auto const third = co_await attempt(by, options);
        BOOST_TEST(first.valid());
        BOOST_TEST(!second.valid());
        BOOST_TEST(third.valid());
    });
}

BOOST_AUTO_TEST_SUITE_END()
