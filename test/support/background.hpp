#ifndef HOLDFAST_TEST_SUPPORT_BACKGROUND_HPP
#define HOLDFAST_TEST_SUPPORT_BACKGROUND_HPP

#include <holdfast.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace holdfast::test {

/// An acquisition that runs beside a test's coroutine.
struct acquisition {
    bool done = false;
    error_code error{};
    lease held{};
    lease_clock::time_point at{};  // when the handler ran
    bool rival_was_valid = false;  // at that moment
};

/// What `acquire`, `try_acquire` and `try_acquire_for` are given to complete with.
std::function<void(error_code, lease)> keep(
    std::shared_ptr<acquisition> result,
    lease const* rival = nullptr
);

/// Starts one. `rival`, if there is one, must outlive the acquisition.
std::shared_ptr<acquisition> start_acquire(
    lock const& on,
    acquire_options options = {},
    lease const* rival = nullptr
);

/// The end of a lease, as its holder is told.
struct loss {
    bool told = false;
    error_code error{};
    loss_reason reason = loss_reason::none;
    lease_clock::time_point at{};
};

std::shared_ptr<loss> watch(lease& held);

/// What `parse_url` makes of the URL, with leases of this length. A third of the lease lies between
/// the notification of a loss and the deadline, so that a busy machine does not tell the holder too
/// late.
config short_leases(std::string const& url, std::chrono::milliseconds lease);

/// What the operation completes with.
boost::asio::awaitable<error_code> release(lease& held);
boost::asio::awaitable<error_code> renew(lease& held);

/// Takes and releases a lock of its own: the connection is up and the server knows the scripts.
boost::asio::awaitable<void> warm_up(client& by);

/// Runs something that blocks, on a thread of its own.
boost::asio::awaitable<void> run_aside(std::function<void()> work);

}  // namespace holdfast::test

#endif
