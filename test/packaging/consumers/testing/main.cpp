// A test of its own code, as a user has it: two hours with a lock, without a server.
#include <holdfast.hpp>
#include <holdfast/testing/memory_server.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <iostream>
#include <utility>

int main() {
    using namespace std::chrono_literals;
    boost::asio::io_context context;
    holdfast::testing::memory_server server{holdfast::testing::virtual_time};
    holdfast::client client{context, server};
    holdfast::lease lease;
    client.lock("consumer").acquire([&](holdfast::error_code, holdfast::lease result) {
        lease = std::move(result);
    });
    server.advance(2h);
    bool const kept = lease.valid() && server.inspect("consumer").held;
    server.lose_data();
    server.advance(1min);
    std::cout << (kept && !lease.valid() ? "token" : "wrong") << ' ' << lease.token().value << '\n';
}
