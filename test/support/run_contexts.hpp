#ifndef HOLDFAST_TEST_SUPPORT_RUN_CONTEXTS_HPP
#define HOLDFAST_TEST_SUPPORT_RUN_CONTEXTS_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <initializer_list>

namespace holdfast::test {

/// Runs several contexts on this thread, in turns, until `holds` returns true, at most for `limit`;
/// false if it never did.
bool run_until(
    std::initializer_list<boost::asio::io_context*> contexts,
    std::chrono::milliseconds limit,
    std::function<bool()> const& holds
);

/// Runs them for a time.
void run_for(
    std::initializer_list<boost::asio::io_context*> contexts,
    std::chrono::milliseconds time
);

/// A coroutine of a holder, which sets its argument once it has the lock.
using holder = std::function<boost::asio::awaitable<void>(bool&)>;

/// Runs the holder on a context of its own beside another one, until it has the lock and perhaps
/// for a little longer; the holder is destroyed with its context. False if it never had the lock.
bool run_and_destroy(boost::asio::io_context& beside, holder const& hold, bool at_once);

}  // namespace holdfast::test

#endif
