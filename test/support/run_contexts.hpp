#ifndef HOLDFAST_TEST_SUPPORT_RUN_CONTEXTS_HPP
#define HOLDFAST_TEST_SUPPORT_RUN_CONTEXTS_HPP

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

}  // namespace holdfast::test

#endif
