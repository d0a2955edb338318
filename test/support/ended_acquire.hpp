#ifndef HOLDFAST_TEST_SUPPORT_ENDED_ACQUIRE_HPP
#define HOLDFAST_TEST_SUPPORT_ENDED_ACQUIRE_HPP

#include "support/one_server.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>

#include <utility>

namespace holdfast::test {

/// What an acquisition of a `Lease` ended with, and the signal that cancels it. It outlives the
/// operation.
template <class Lease>
struct ended_acquire {
    int completions = 0;
    error_code ec;
    Lease lease;
    lease_clock::time_point at{};
    asio::cancellation_signal signal;

    auto handler() {
        return asio::bind_cancellation_slot(signal.slot(), [this](error_code how, Lease given) {
            ++completions;
            ec = how;
            lease = std::move(given);
            at = lease_clock::now();
        });
    }
    bool done() const { return completions != 0; }
    bool aborted() const {
        return completions == 1 && ec == asio::error::operation_aborted && !lease;
    }
};

}  // namespace holdfast::test

#endif
