#ifndef HOLDFAST_TEST_UNIT_IN_VIRTUAL_TIME_HPP
#define HOLDFAST_TEST_UNIT_IN_VIRTUAL_TIME_HPP

#include <holdfast.hpp>
#include <holdfast/testing/memory_server.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

namespace holdfast::test {

/// What an acquisition came to, and when.
template <class Lease = lease>
struct acquired_of {
    auto handler() {
        return [this](error_code ec, Lease result) {
            ended = ec;
            got = std::move(result);
            at = lease_clock::now();
        };
    }
    [[nodiscard]] bool granted() const { return ended && !*ended && got; }
    [[nodiscard]] bool busy() const { return ended && !*ended && !got; }

    std::optional<error_code> ended;
    Lease got;
    lease_clock::time_point at;
};
using acquired = acquired_of<>;

/// A client of a memory server, as users' tests have it. Time stands still but for the test.
struct in_virtual_time {
    explicit in_virtual_time(config const& settings = {}) : client{context, server, settings} {}

    [[nodiscard]] auto passed() const { return lease_clock::now() - began; }
    /// The lease of a lock that is free.
    template <class Lock>
    [[nodiscard]] lease take(Lock lock, acquire_options const& options = {}) {
        server.settle();  // what waits for a connection is spread over a moment
        acquired result;
        lock.acquire(options, result.handler());
        server.settle();
        BOOST_TEST_REQUIRE(result.granted());
        return std::move(result.got);
    }
    [[nodiscard]] lease take(client const& by, std::string_view name) {
        return take(by.lock(name));
    }
    /// Until it has ended.
    [[nodiscard]] bool wait_for(
        acquired const& what,
        std::chrono::nanoseconds limit = std::chrono::minutes{2}
    ) {
        return server.advance_until([&] { return what.ended.has_value(); }, limit);
    }

    boost::asio::io_context context;
    testing::memory_server server{testing::virtual_time};
    holdfast::client client;
    lease_clock::time_point began = lease_clock::now();
};

}  // namespace holdfast::test

#endif
