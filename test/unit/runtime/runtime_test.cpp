// The clock, the timer and the randomness of the library.

#include "runtime/runtime.hpp"

#include "runtime/virtual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstdint>

using namespace std::chrono_literals;
using holdfast::lease_clock;
using holdfast::detail::fill_from_system;
using holdfast::detail::random_from_system;
using holdfast::detail::sleep_until;
using holdfast::detail::timer;
using holdfast::detail::virtual_time;

BOOST_AUTO_TEST_SUITE(runtime_test)

BOOST_AUTO_TEST_CASE(the_clock_does_not_go_back) {
    auto last = lease_clock::now();
    for (int i = 0; i < 1'000; ++i) {
        auto const now = lease_clock::now();
        BOOST_TEST((now >= last));
        last = now;
    }
}

BOOST_AUTO_TEST_CASE(all_words_are_filled) {
    std::array<std::uint64_t, 32> words{};
    fill_from_system(words);
    for (auto const word : words) {
        BOOST_TEST(word != 0U);
    }
    BOOST_TEST(random_from_system() != random_from_system());
}

BOOST_AUTO_TEST_CASE(a_timer_is_set_by_the_lease_clock) {
    boost::asio::io_context context;
    timer one{context};
    auto const left = [&] { return one.expiry() - timer::clock_type::now(); };

    sleep_until(one, lease_clock::now() + 1h);
    BOOST_TEST((left() <= 1h));
    BOOST_TEST((left() > 50min));
    // An instant that has passed is now, and the end of time is far away.
    sleep_until(one, lease_clock::time_point::min());
    BOOST_TEST((left() <= 0s));
    BOOST_TEST((left() > -10min));
    sleep_until(one, lease_clock::time_point::max());
    BOOST_TEST((left() > 24h * 300));
    BOOST_TEST((left() <= 24h * 365));
}

// In a suspend the lease clock goes on, and what Asio sleeps with stands still. Behind a timer that
// has been due since then, a later one would not wake it either.
BOOST_AUTO_TEST_CASE(a_timer_that_came_due_in_a_suspend_fires_soon_after_it) {
    boost::asio::io_context context;
    timer due{context};
    timer later{context};
    int fired = 0;
    sleep_until(due, lease_clock::now() + 30s);
    due.async_wait([&](auto) { ++fired; });
    virtual_time::move_to(lease_clock::now() + 1h);
    sleep_until(later, lease_clock::now() + 2s);
    later.async_wait([&](auto) { ++fired; });

    auto const before = std::chrono::steady_clock::now();
    context.run();
    BOOST_TEST(fired == 2);
    BOOST_TEST((std::chrono::steady_clock::now() - before < 15s));
}

BOOST_AUTO_TEST_SUITE_END()
