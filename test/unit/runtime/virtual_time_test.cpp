// How a test moves the lease clock, and which instants it is told of.

#include "runtime/virtual_time.hpp"

#include "runtime/runtime.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

using namespace std::chrono_literals;
using holdfast::lease_clock;
using holdfast::detail::system_time;
using holdfast::detail::timer;
using holdfast::detail::virtual_time;

BOOST_AUTO_TEST_SUITE(virtual_time_test)

BOOST_AUTO_TEST_CASE(the_clock_runs_unless_it_is_stopped) {
    auto const system_before = system_time();
    auto const before = lease_clock::now();
    std::this_thread::sleep_for(1ms);
    auto const passed = lease_clock::now() - before;
    BOOST_TEST((passed >= 1ms));
    BOOST_TEST((passed <= system_time() - system_before));
}

BOOST_AUTO_TEST_CASE(a_stopped_clock_moves_by_hand_only_and_never_back) {
    auto const before = lease_clock::now();
    std::optional<virtual_time::watch> first{std::in_place, true};
    auto const stopped = lease_clock::now();
    BOOST_TEST((stopped >= before));
    std::this_thread::sleep_for(1ms);
    BOOST_TEST((lease_clock::now() == stopped));
    virtual_time::move_to(stopped + 1h);
    virtual_time::move_to(stopped + 1min);
    BOOST_TEST((lease_clock::now() == stopped + 1h));
    {
        // Stopped by both, until the last one goes.
        virtual_time::watch const second{true};
        first.reset();
        BOOST_TEST((lease_clock::now() == stopped + 1h));
    }
    auto const later = lease_clock::now();
    BOOST_TEST((later >= stopped + 1h));
    std::this_thread::sleep_for(1ms);
    BOOST_TEST((lease_clock::now() >= later + 1ms));
}

BOOST_AUTO_TEST_CASE(a_running_clock_can_be_moved_ahead) {
    virtual_time::watch const watch{false};
    auto const before = lease_clock::now();
    virtual_time::move_to(before + 1h);
    auto const after = lease_clock::now();
    BOOST_TEST((after >= before + 1h));
    BOOST_TEST((after < before + 2h));
    std::this_thread::sleep_for(1ms);
    BOOST_TEST((lease_clock::now() > after));
}

BOOST_AUTO_TEST_CASE(the_instants_of_timers_are_noted_while_somebody_watches) {
    boost::asio::io_context context;
    timer early{context};
    BOOST_TEST(!virtual_time::is_watched());
    early.expires_after(1s);
    virtual_time::watch const watch{true};
    BOOST_TEST(virtual_time::is_watched());
    auto const now = lease_clock::now();
    timer two{context};
    timer one{context};
    two.expires_after(2s);
    one.expires_at(now + 1s);
    BOOST_TEST(!virtual_time::take_next(now + 999ms).has_value());
    BOOST_TEST((virtual_time::take_next(now + 1h) == now + 1s));
    // What has passed is forgotten.
    timer three{context};
    three.expires_after(3s);
    virtual_time::move_to(now + 2s);
    BOOST_TEST((virtual_time::take_next(now + 1h) == now + 3s));
    BOOST_TEST(!virtual_time::take_next(now + 1h).has_value());
}

BOOST_AUTO_TEST_CASE(a_timer_fires_when_the_clock_has_come_to_it) {
    boost::asio::io_context context;
    virtual_time::watch const watch{true};
    timer sleep{context};
    sleep.expires_after(1h);
    bool fired = false;
    sleep.async_wait([&](auto ec) { fired = !ec; });
    context.poll();
    BOOST_TEST(!fired);
    virtual_time::move_to(lease_clock::now() + 1h);
    // It wakes the context, which looks at all timers.
    timer look{context};
    look.expires_at(lease_clock::time_point::min());
    look.async_wait([](auto) {});
    while (!fired && context.run_one() > 0) {
    }
    BOOST_TEST(fired);
}

BOOST_AUTO_TEST_SUITE_END()
