#include "free_port.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace holdfast::test {

namespace {

// The kernel chooses one for 0.
std::uint16_t bind_for_a_moment(std::uint16_t port) {
    int const fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    bool const bound =
        fd >= 0 && ::bind(fd, generic, size) == 0 && ::getsockname(fd, generic, &size) == 0;
    int const error = errno;
    if (fd >= 0) {
        ::close(fd);
    }
    if (!bound) {
        throw std::system_error{error, std::generic_category(), "looking for a free port"};
    }
    return ntohs(address.sin_port);
}

bool is_free(std::uint16_t port) {
    try {
        bind_for_a_moment(port);
        return true;
    } catch (std::system_error const&) {
        return false;
    }
}

}  // namespace

std::uint16_t free_tcp_port() {
    return bind_for_a_moment(0);
}

std::uint16_t free_cluster_port() {
    constexpr std::uint16_t distance = 10'000;
    constexpr std::uint16_t highest = 65'535 - distance;
    while (true) {
        auto const port = free_tcp_port();
        if (port <= highest && is_free(port + distance)) {
            return port;
        }
    }
}

}  // namespace holdfast::test
