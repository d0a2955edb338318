#ifndef HOLDFAST_TEST_SUPPORT_REDIS_SOCKET_HPP
#define HOLDFAST_TEST_SUPPORT_REDIS_SOCKET_HPP

#include "resp.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::test {

/// A blocking connection to a server on this machine. Failures are `std::system_error`s.
class redis_socket {
public:
    explicit redis_socket(std::string const& unix_socket);
    explicit redis_socket(std::uint16_t tcp_port);
    redis_socket(redis_socket&& other) noexcept;
    redis_socket& operator=(redis_socket&& other) noexcept;
    ~redis_socket() { close(); }

    void send(std::string_view bytes);

    /// The next message; nothing when it does not come in time. Throws `std::runtime_error` at
    /// the end of the stream.
    std::optional<redis_value> receive(std::chrono::milliseconds limit);

    void close() noexcept;

private:
    int descriptor_ = -1;
    std::string unread_;
};

}  // namespace holdfast::test

#endif
