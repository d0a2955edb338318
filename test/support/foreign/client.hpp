#ifndef HOLDFAST_TEST_SUPPORT_FOREIGN_CLIENT_HPP
#define HOLDFAST_TEST_SUPPORT_FOREIGN_CLIENT_HPP

#include "support/foreign/connection.hpp"
#include "support/foreign/protocol.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace holdfast::test {

struct foreign_options {
    foreign_server server;
    dialect speaks = dialect::redisson;
    std::chrono::milliseconds lease{30'000};
    bool renews = false;  // at each third of the lease, as Redisson's watchdog
};

struct foreign_grant {
    std::string name;
    std::string holder;
    std::uint64_t token = 0;  // 0: the dialect has none
};

/// A process that uses our locks without this library: it has scripts, connections and a waiting
/// rule of its own.
///
/// It is as simple as a peer may be. Whatever the server refuses, and a connection that breaks,
/// ends the operation with an exception; so does its destructor. It is used on one executor, which
/// has one thread or is a strand.
class foreign_client {
public:
    /// Connects, or throws `boost::system::system_error`.
    foreign_client(boost::asio::any_io_executor executor, foreign_options options);
    foreign_client(foreign_client const&) = delete;
    foreign_client& operator=(foreign_client const&) = delete;
    ~foreign_client();

    /// Waits until it is granted. Redisson's locks are the thread's, which may have them several
    /// times.
    [[nodiscard]] boost::asio::awaitable<foreign_grant> acquire(
        std::string const& name,
        std::int64_t thread = 1
    );
    [[nodiscard]] boost::asio::awaitable<foreign_release> release(foreign_grant const& grant);
    /// Whether it is still held.
    [[nodiscard]] boost::asio::awaitable<bool> renew(foreign_grant const& grant);

private:
    class state;
    // Shared with its coroutines.
    std::shared_ptr<state> state_;
};

}  // namespace holdfast::test

#endif
