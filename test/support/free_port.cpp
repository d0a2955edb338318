#include "free_port.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace holdfast::test {

std::uint16_t free_tcp_port() {
    int const fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
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

}  // namespace holdfast::test
