#ifndef HOLDFAST_CLIENT_GRANT_DELAY_HPP
#define HOLDFAST_CLIENT_GRANT_DELAY_HPP

#include "core/lease_terms.hpp"
#include "protocol/reply.hpp"
#include "runtime/client_context.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace holdfast::detail {

/// Keeps a client from being granted locks until `config::lock_delay` after a failover. Used on the
/// client's strand; it is a part of the client.
///
/// The server says when it was first met, so that a client that comes later does not wait again.
class grant_delay {
public:
    /// `over` is called when attempts may be made for what was connected to.
    grant_delay(client_context& client, std::function<void(client_context::some const&)> over)
        : client_{client},
          over_{std::move(over)} {}

    /// A connection is up to the server with this run id; empty if it is not known. It has `those`.
    void on_connected(std::string_view run_id, client_context::some those);
    void on_disconnected() noexcept;
    void clear() noexcept;

private:
    void on_met(exec_result const& result, time_point sent_at);
    void wait(nanos rest);
    void end();

    client_context& client_;
    std::function<void(client_context::some const&)> over_;
    client_context::some those_;
    std::optional<timer> timer_;
    // Of the connection: what was asked on another one counts no more.
    std::uint64_t epoch_ = 0;
};

}  // namespace holdfast::detail

#endif
