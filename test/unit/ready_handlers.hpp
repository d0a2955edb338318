#ifndef HOLDFAST_TEST_UNIT_READY_HANDLERS_HPP
#define HOLDFAST_TEST_UNIT_READY_HANDLERS_HPP

#include "runtime/runtime.hpp"

#include <holdfast/lease_clock.hpp>

#include <boost/asio/io_context.hpp>

namespace holdfast::test {

/// Runs what is ready, and the timers that are due where a test has moved the lease clock: a
/// context sleeps by the system's, and looks at its timers when one of them was to wake it.
inline void run_ready(boost::asio::io_context& context) {
    detail::timer look{context.get_executor()};
    bool looked = false;
    look.expires_at(lease_clock::time_point::min());
    look.async_wait([&looked](boost::system::error_code) { looked = true; });
    context.restart();
    while (!looked) {
        context.run_one();
    }
    context.poll();
}

}  // namespace holdfast::test

#endif
