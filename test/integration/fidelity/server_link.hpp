#ifndef HOLDFAST_TEST_FIDELITY_SERVER_LINK_HPP
#define HOLDFAST_TEST_FIDELITY_SERVER_LINK_HPP

#include "memory_server/value.hpp"

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// A blocking connection to a server on this machine that sends many commands at a time and
/// understands RESP2 and RESP3. Failures, and a server that is silent for `limit`, throw
/// `std::runtime_error`.
class server_link {
public:
    static constexpr std::chrono::seconds limit{20};

    explicit server_link(std::string const& unix_socket);
    server_link(server_link const&) = delete;
    server_link& operator=(server_link const&) = delete;
    ~server_link();

    /// Queues a command.
    void add(std::span<std::string_view const> words);
    void add(std::initializer_list<std::string_view> words);
    void add(std::vector<std::string> const& words);

    /// Sends what is queued, and returns as many replies. Pushes are put aside.
    std::vector<memory::value> exchange();
    /// The same for one command.
    memory::value ask(std::initializer_list<std::string_view> words);

    /// Sends what is queued without waiting for anything.
    void send();
    /// The next message, reply or push.
    memory::value receive();

    /// The pushes that came between replies since the last call.
    std::vector<memory::value> take_pushes();

private:
    void fill();
    std::string_view line();
    std::string_view bytes(std::size_t count);
    memory::value parse();

    int descriptor_ = -1;
    std::string unsent_;
    std::size_t expected_ = 0;
    std::string unread_;
    std::size_t position_ = 0;
    std::vector<memory::value> pushes_;
};

}  // namespace holdfast::test

#endif
