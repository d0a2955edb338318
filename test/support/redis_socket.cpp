#include "redis_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace holdfast::test {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

[[noreturn]] void throw_errno(std::string const& what, int error = errno) {
    throw std::system_error{error, std::generic_category(), what};
}

template <class Address>
int connect_to(Address const& address, std::string const& name) {
    auto const* const generic = reinterpret_cast<sockaddr const*>(&address);
    int const descriptor = ::socket(generic->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        throw_errno("socket");
    }
    if (::connect(descriptor, generic, sizeof address) != 0) {
        int const error = errno;
        ::close(descriptor);
        throw_errno("connecting to " + name, error);
    }
    return descriptor;
}

}  // namespace

redis_socket::redis_socket(std::string const& unix_socket) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (unix_socket.size() >= sizeof address.sun_path) {
        throw std::invalid_argument{"the socket's path is too long: " + unix_socket};
    }
    std::memcpy(address.sun_path, unix_socket.c_str(), unix_socket.size() + 1);
    descriptor_ = connect_to(address, unix_socket);
}

redis_socket::redis_socket(std::uint16_t tcp_port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(tcp_port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    descriptor_ = connect_to(address, "port " + std::to_string(tcp_port));
}

redis_socket::redis_socket(redis_socket&& other) noexcept
    : descriptor_{std::exchange(other.descriptor_, -1)},
      unread_{std::move(other.unread_)} {}

redis_socket& redis_socket::operator=(redis_socket&& other) noexcept {
    if (this != &other) {
        close();
        descriptor_ = std::exchange(other.descriptor_, -1);
        unread_ = std::move(other.unread_);
    }
    return *this;
}

void redis_socket::close() noexcept {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
    descriptor_ = -1;
}

void redis_socket::send(std::string_view bytes) {
    while (!bytes.empty()) {
        auto const count = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) {
            throw_errno("sending to redis");
        }
        bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
}

std::optional<redis_value> redis_socket::receive(milliseconds limit) {
    auto const deadline = steady_clock::now() + limit;
    for (;;) {
        if (auto const size = message_size(unread_); size > 0) {
            std::string_view rest{unread_};
            auto value = parse_message(rest);
            unread_.erase(0, size);
            return value;
        }
        auto const left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now()).count();
        pollfd look{.fd = descriptor_, .events = POLLIN, .revents = 0};
        int const ready = ::poll(&look, 1, static_cast<int>(std::max<long>(left, 0)));
        if (ready == 0) {
            return std::nullopt;
        }
        char bytes[65536];
        auto const count = ready < 0 ? -1 : ::recv(descriptor_, bytes, sizeof bytes, 0);
        if (count == 0) {
            throw std::runtime_error{"redis closed the connection"};
        }
        if (count < 0 && errno != EINTR) {
            throw_errno("receiving from redis");
        }
        unread_.append(bytes, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
}

}  // namespace holdfast::test
