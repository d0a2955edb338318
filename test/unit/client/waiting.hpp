#ifndef HOLDFAST_TEST_UNIT_CLIENT_WAITING_HPP
#define HOLDFAST_TEST_UNIT_CLIENT_WAITING_HPP

#include "unit/scripted_client.hpp"

#include <holdfast/detail/counted_handle.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace holdfast::test {

/// How an operation waits for a number.
struct waiting_options {
    std::shared_ptr<detail::target const> on;
    detail::patience how_long = detail::patience::unlimited;
    std::chrono::nanoseconds limit{0};
    std::int64_t permits = 1;
};

/// One operation that waits for a number, and what came of it.
struct waiting {
    waiting(scripted_client& client, waiting_options const& how) {
        if (how.how_long == detail::patience::unlimited) {
            auto handler = [this](error_code ec) {
                error = ec;
                success = !ec;
            };
            detail::start_wait_for_number(
                {client.state, how.on},
                how.permits,
                asio::bind_cancellation_slot(signal.slot(), handler)
            );
        } else {
            auto handler = [this](error_code ec, bool got) {
                error = ec;
                success = got;
            };
            detail::start_try_number(
                {client.state, how.on},
                how.permits,
                how.how_long,
                how.limit,
                asio::bind_cancellation_slot(signal.slot(), handler)
            );
        }
        inside = done();
        client.run();
    }

    [[nodiscard]] bool done() const { return error.has_value(); }

    std::optional<error_code> error;
    bool success = false;
    asio::cancellation_signal signal;
    /// It completed inside the initiating function.
    bool inside = false;
};

}  // namespace holdfast::test

#endif
