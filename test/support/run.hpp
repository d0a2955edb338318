#ifndef HOLDFAST_TEST_SUPPORT_RUN_HPP
#define HOLDFAST_TEST_SUPPORT_RUN_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>

namespace holdfast::test {

using test_body = std::function<boost::asio::awaitable<void>(boost::asio::any_io_executor)>;

/// A test body that runs for longer hangs, on the slowest machine, too.
inline constexpr std::chrono::seconds hang_limit{60};

/// How long a context may have work left after the body of a test has ended.
inline constexpr std::chrono::seconds idle_limit{6};

/// Runs a coroutine on a context of its own and rethrows what it throws.
///
/// Throws `std::runtime_error` when the body does not end within `deadline`, and when the context
/// still has work `idle_limit` after that: an operation was left behind.
///
/// The first of the `threads` is the caller's. With more than one, the body runs on a strand,
/// while the executor it is given is the context's.
void run_with_deadline(
    test_body const& body,
    std::chrono::milliseconds deadline = hang_limit,
    int threads = 1
);

/// Looks until `holds` returns true, at most for `limit`; false if it never did. While the machine
/// stands still the limit does, too.
bool eventually(std::chrono::milliseconds limit, std::function<bool()> const& holds);

/// The same for coroutines, on their executor.
///
/// GCC 12 destroys some temporaries of a `co_await` expression twice: let the lambda capture by
/// reference, or give it a name first.
boost::asio::awaitable<bool> co_eventually(
    std::chrono::milliseconds limit,
    std::function<bool()> holds
);

boost::asio::awaitable<void> sleep_for(std::chrono::nanoseconds duration);

}  // namespace holdfast::test

#endif
