#ifndef HOLDFAST_TEST_UNIT_ACQUIRE_ACQUIRING_HPP
#define HOLDFAST_TEST_UNIT_ACQUIRE_ACQUIRING_HPP

#include "unit/scripted_client.hpp"

#include <holdfast/detail/acquire.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace holdfast::test {

/// How one acquisition is to go about it.
struct acquiring_options {
    detail::patience how_long = detail::patience::unlimited;
    std::chrono::nanoseconds limit{0};
    std::optional<owner> who = {};
    /// The client's own if there is none.
    std::shared_ptr<detail::target const> on = {};
    lease_duration lease = {};
    std::chrono::nanoseconds orphan_after{0};
};

inline acquiring_options const once{.how_long = detail::patience::one_attempt};

/// One acquisition, and what came of it.
struct acquiring {
    explicit acquiring(scripted_client& client, acquiring_options const& how = {}) {
        auto handler = [this](error_code ec, lease given) {
            error = ec;
            got = std::move(given);
        };
        detail::start_acquire(
            {.client = client.state,
             .key = how.on ? how.on : client.on,
             .options = {.lease = how.lease, .orphan_after = how.orphan_after, .owner = how.who},
             .how_long = how.how_long,
             .limit = how.limit},
            client.context.get_executor(),
            asio::bind_cancellation_slot(signal.slot(), handler)
        );
        inside = done();
        client.run();
    }

    [[nodiscard]] bool done() const { return error.has_value(); }

    std::optional<error_code> error;
    lease got;
    asio::cancellation_signal signal;
    /// It completed inside the initiating function.
    bool inside = false;
};

}  // namespace holdfast::test

#endif
