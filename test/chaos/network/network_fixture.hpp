#ifndef HOLDFAST_TEST_CHAOS_NETWORK_NETWORK_FIXTURE_HPP
#define HOLDFAST_TEST_CHAOS_NETWORK_NETWORK_FIXTURE_HPP

#include "network/virtual_network.hpp"
#include "support/one_server.hpp"

#include <cstddef>
#include <functional>
#include <memory>

namespace holdfast::test {

using network_body = std::function<task(virtual_network&, asio::any_io_executor)>;

/// Runs a coroutine with so many hosts, as `run_with_deadline`. It runs in none of them: clients
/// are given the executors of their hosts.
void with_network(std::size_t hosts, network_body const& body);

/// As `start_acquire` and `watch`, with handlers that run on the test's executor.
std::shared_ptr<acquisition> start_acquire(
    asio::any_io_executor const& executor,
    lock const& on,
    lease const* rival = nullptr
);
std::shared_ptr<loss> watch(asio::any_io_executor const& executor, lease& held);

/// Waits until so many clients wait for the lock, as this client sees it.
task until_waiting(client& seen_by, std::size_t count);

}  // namespace holdfast::test

#endif
