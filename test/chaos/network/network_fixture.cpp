#include "network_fixture.hpp"

#include <boost/asio/bind_executor.hpp>

#include <stdexcept>

namespace holdfast::test {

void with_network(std::size_t hosts, network_body const& body) {
    virtual_network network{hosts};
    run_with_deadline(
        [&](asio::any_io_executor executor) { return body(network, std::move(executor)); },
        120s
    );
}

std::shared_ptr<acquisition> start_acquire(
    asio::any_io_executor const& executor,
    lock const& on,
    lease const* rival
) {
    auto result = std::make_shared<acquisition>();
    on.acquire(asio::bind_executor(executor, keep(result, rival)));
    return result;
}

std::shared_ptr<loss> watch(asio::any_io_executor const& executor, lease& held) {
    auto result = std::make_shared<loss>();
    held.wait_lost(asio::bind_executor(executor, [result](error_code ec, loss_reason reason) {
        result->at = lease_clock::now();
        result->error = ec;
        result->reason = reason;
        result->told = true;
    }));
    return result;
}

task until_waiting(client& seen_by, std::size_t count) {
    auto const lock = seen_by.lock("a");
    for (int look = 0; look < 500; ++look) {
        auto const info = co_await lock.inspect();
        if (info.waiting_clients == count) {
            co_return;
        }
        co_await sleep_for(10ms);
    }
    throw std::runtime_error{"a client does not wait for the lock"};
}

}  // namespace holdfast::test
