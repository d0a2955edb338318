// The link breaks again and again: a lease that is renewed now and then is kept, and neither
// connections nor anything else pile up.

#include "support/redis_server.hpp"
#include "support/run.hpp"
#include "wire/flapping_run.hpp"
#include "wire/plan.hpp"
#include "wire/report.hpp"
#include "wire/stall_detector.hpp"

#include <holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>

using namespace holdfast::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

std::array<flapping, 6> all_flappings() {
    auto const nothing = [](tcp_proxy&) {};
    auto const refuse = [](cut_kind how) {
        return [how](tcp_proxy& link) {
            link.refuse_new(true);
            link.cut(how);
        };
    };
    auto const admit = [](tcp_proxy& link) { link.refuse_new(false); };
    auto const set = [](proxy_mode mode) {
        return [mode](tcp_proxy& link) { link.set_mode(mode); };
    };
    return {{
        {"reset every 100 ms",
         100ms,
         0ms,
         [](tcp_proxy& link) { link.cut(cut_kind::rst); },
         nothing,
         true,
         false},
        {"closed every 100 ms",
         100ms,
         0ms,
         [](tcp_proxy& link) { link.cut(cut_kind::fin); },
         nothing,
         true,
         false},
        {"up for 100 ms, refused for 300 ms", 100ms, 300ms, refuse(cut_kind::rst), admit},
        {"up for 50 ms, refused for 100 ms", 50ms, 100ms, refuse(cut_kind::fin), admit},
        {"up for 100 ms, stalled for 100 ms",
         100ms,
         100ms,
         set(proxy_mode::stall()),
         set(proxy_mode::forward()),
         false,
         false},
        {"up for 200 ms, a black hole for 200 ms",
         200ms,
         200ms,
         set(proxy_mode::drop()),
         [](tcp_proxy& link) {
             link.set_mode(proxy_mode::forward());
             link.cut(cut_kind::rst);
         }},
    }};
}

std::size_t open_files() {
    std::filesystem::directory_iterator const files{"/proc/self/fd"};
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_link_that_comes_and_goes) {
    auto const all = all_flappings();
    redis_server server;
    report findings;
    std::size_t flaps = 0;
    std::size_t doubts = 0;
    std::size_t waits = 0;
    std::uint64_t reconnects = 0;
    std::uint64_t renewals = 0;
    auto const files = open_files();
    auto const run_all = [&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client steady{executor, server.url()};
        stall_detector beat{executor, steady};
        std::size_t running = all.size();
        int names = 0;
        auto const run_one = [&](flapping const& how) -> asio::awaitable<void> {
            std::function<asio::awaitable<void>(std::shared_ptr<report>)> const run =
                [&](std::shared_ptr<report> found) -> asio::awaitable<void> {
                flapping_run one{executor, server, found, how, ++names};
                co_await one.run();
                flaps += one.flaps();
                doubts += one.doubts();
                waits += one.waits();
                reconnects += one.reconnects();
                renewals += one.renewals();
            };
            co_await until_undisturbed(findings, beat, flapping_timeout / 2, run);
        };
        for (auto const& how : all) {
            asio::co_spawn(executor, run_one(how), [&](std::exception_ptr failure) {
                BOOST_TEST(!failure);
                --running;
            });
        }
        while (running != 0) {
            co_await sleep_for(5ms);
        }
    };
    run_with_deadline(run_all, run_limit());
    BOOST_TEST(open_files() == files);
    std::cout << fmt::format(
                     "wire flaps: {} flaps, {} reconnects, {} renewals, {} times in doubt, {} "
                     "times the link waited for a renewal, {}",
                     flaps,
                     reconnects,
                     renewals,
                     doubts,
                     waits,
                     findings.summary()
                 )
              << std::endl;
    findings.check();
    BOOST_TEST(server.probe().lock_keys().empty());
}

// AddressSanitizer has memory of its own, and a look at leaks.
#ifndef HOLDFAST_TEST_SANITIZER
BOOST_AUTO_TEST_CASE(nothing_piles_up_while_a_link_flaps) {
    constexpr std::ptrdiff_t noise = 256 << 10;
    flapping const often{
        "reset every 20 ms",
        20ms,
        0ms,
        [](tcp_proxy& link) { link.cut(cut_kind::rst); },
        [](tcp_proxy&) {},
        true,
        false
    };
    redis_server server;
    auto const findings = std::make_shared<report>();
    run_with_deadline(
        [&](asio::any_io_executor executor) -> asio::awaitable<void> {
            constexpr std::uint64_t reconnects = 100;
            flapping_run one{executor, server, findings, often, 0, reconnects};
            co_await one.run();
            std::cout << fmt::format(
                             "wire flaps: memory grew by {} KiB in {} flaps with {} reconnects",
                             one.growth() / 1024,
                             one.flaps(),
                             one.reconnects()
                         )
                      << std::endl;
            BOOST_TEST(one.growth() < noise);
            // One that is kept takes more than 10 KiB.
            BOOST_TEST(one.reconnects() >= reconnects);
        },
        run_limit()
    );
    findings->check();
}
#endif
