#ifndef HOLDFAST_TEST_SIMULATION_CALL_HPP
#define HOLDFAST_TEST_SIMULATION_CALL_HPP

#include "runtime/runtime.hpp"
#include "simulation/world.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace holdfast::sim {

/// The error that a coroutine ended with. An exception of another kind is the body's own.
inline error_code code_of(std::exception_ptr const& failure) {
    try {
        if (failure) {
            std::rethrow_exception(failure);
        }
    } catch (boost::system::system_error const& e) {
        return e.code();
    } catch (std::runtime_error const&) {
    }
    return {};
}

/// An operation with a callback, and what came of it.
template <class... Results>
struct call : std::enable_shared_from_this<call<Results...>> {
    explicit call(asio::any_io_executor executor)
        : on{std::move(executor)},
          cancel_timer{on},
          wake{on} {}

    /// The completion token of the operation.
    auto token() {
        return asio::bind_cancellation_slot(
            signal.slot(),
            asio::bind_executor(
                on,
                [self = this->shared_from_this()](error_code ec, Results... values) {
                    self->complete(ec, std::move(values)...);
                }
            )
        );
    }

    void complete(error_code ec, Results... values) {
        own_business const own;
        if (done || initiating) {
            world::current().violation(
                done ? "a handler was called twice" : "a handler was called by the initiating call"
            );
        }
        done = true;
        done_at = world::current().now();
        error = ec;
        results.emplace(std::move(values)...);
        cancel_timer.cancel();
        wake.cancel();
    }

    void cancel(asio::cancellation_type type) {
        cancelled = true;
        cancelled_by = type;
        cancelled_at = world::current().now();
        signal.emit(type);
    }

    void cancel_after(nanos delay, asio::cancellation_type type) {
        cancel_timer.expires_after(delay);
        cancel_timer.async_wait(asio::bind_executor(
            on,
            [self = this->shared_from_this(), type](error_code ec) {
                if (!ec && !self->done) {
                    self->cancel(type);
                }
            }
        ));
    }

    asio::any_io_executor on;
    asio::cancellation_signal signal;
    detail::timer cancel_timer;
    detail::timer wake;
    error_code error;
    std::optional<std::tuple<Results...>> results;
    nanos done_at{0};
    nanos cancelled_at{0};
    asio::cancellation_type cancelled_by = asio::cancellation_type::none;
    bool cancelled = false;
    bool initiating = false;
    bool done = false;
};

}  // namespace holdfast::sim

#endif
