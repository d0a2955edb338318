// with_lease runs a function while holding the lock. If the lease is lost meanwhile, here because
// an operator takes it away, the function is cancelled and the caller gets errc::lease_lost.
#include "main.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <fmt/format.h>

#include <chrono>

using namespace std::chrono_literals;

asio::awaitable<void> co_main(holdfast::config config) {
    auto executor = co_await asio::this_coro::executor;
    holdfast::client client{executor, config};
    holdfast::client operators_client{executor, config};

    // GCC 12 destroys some temporaries of a co_await expression twice: the body gets a name.
    auto body = [&](holdfast::lease& lease) -> asio::awaitable<void> {
        fmt::print("working, with token {}\n", lease.token().value);
        bool const taken = co_await operators_client.lock("with_lease").force_release();
        expect(taken, "there was no lock to take away");
        fmt::print("the operator took the lock away\n");

        asio::steady_timer work{executor, 10s};
        auto [ec] = co_await work.async_wait(asio::as_tuple);
        expect(ec && !lease.valid(), "the body was not cancelled");
        fmt::print("cancelled: {}\n", ec.message());
    };

    // The holder learns of it at its next renewal, after a third of the lease.
    holdfast::acquire_options const short_lease{.lease = 1s};
    auto lock = client.lock("with_lease");
    holdfast::error_code caught;
    try {
        co_await holdfast::with_lease(lock, body, short_lease);
    } catch (boost::system::system_error const& e) {
        caught = e.code();
    }
    fmt::print("with_lease: {}\n", caught.message());
    expect(caught == holdfast::errc::lease_lost, "the loss was not reported");
}
