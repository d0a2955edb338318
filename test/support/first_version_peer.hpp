#ifndef HOLDFAST_TEST_SUPPORT_FIRST_VERSION_PEER_HPP
#define HOLDFAST_TEST_SUPPORT_FIRST_VERSION_PEER_HPP

#include "support/redis_probe.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string>

namespace holdfast::test {

/// The scripts of version 0.1. They are not the library's, and stay as they are whatever becomes of
/// those.
extern std::string const first_version_acquire;
extern std::string const first_version_release;

/// A process that shares a lock by the scripts of version 0.1, and not by this library. It has no
/// place in a queue: it asks again when it hears that the lock is free.
///
/// Whatever the server refuses is thrown. A command blocks the thread until the server answers.
class first_version_peer {
public:
    first_version_peer(
        std::string const& unix_socket,
        std::string const& name,
        redis_credentials const& who = {}
    );

    /// Waits until it is granted. Returns the token.
    [[nodiscard]] boost::asio::awaitable<std::uint64_t> acquire();
    void release();

private:
    redis_probe commands_;
    redis_probe messages_;
    std::string lock_;
    std::string counter_;
    std::string channel_;
    std::string client_id_;
    std::string holder_;
    std::uint64_t last_number_ = 0;
    bool subscribed_ = false;
};

}  // namespace holdfast::test

#endif
