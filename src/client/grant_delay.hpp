#ifndef HOLDFAST_CLIENT_GRANT_DELAY_HPP
#define HOLDFAST_CLIENT_GRANT_DELAY_HPP

#include "core/lease_terms.hpp"
#include "protocol/reply.hpp"
#include "runtime/client_context.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::detail {

/// Keeps a client from being granted locks by one server until `config::lock_delay` after it took
/// over. Used on the client's strand; it is a part of the client.
///
/// The server says when it was first met, so that a client that comes later does not wait again. On
/// a cluster each node has a key for that in the lowest of its slots. When another slot is the
/// lowest, the key is another one, and it is as if the node were met anew. A replica that takes
/// over has the slots of its primary, and so its key, under which another run id stands.
class grant_delay : public std::enable_shared_from_this<grant_delay> {
public:
    /// `over` is called when attempts may be made for what was connected to.
    grant_delay(
        client_context& client,
        std::uint32_t server,
        std::function<void(client_context::some const&)> over
    )
        : client_{client},
          server_{server},
          over_{std::move(over)} {}

    /// A connection is up to the server with this run id; empty if it is not known. It has `those`.
    void on_connected(std::string_view run_id, client_context::some those);
    /// It has another server's keys since a moment ago.
    void on_replaced();
    void on_disconnected() noexcept;
    /// Nothing is granted by this server any more.
    void clear() noexcept;

private:
    void meet();
    /// Where it is written down since when the server is known. None: it has none of the keys.
    [[nodiscard]] std::optional<std::string> key() const;
    void on_met(exec_result const& result, time_point sent_at);
    [[nodiscard]] time_point end_of(millis known_for);
    void wait(nanos rest);
    void end();

    client_context& client_;
    std::uint32_t server_;
    std::function<void(client_context::some const&)> over_;
    client_context::some those_;
    std::string run_id_;
    // The server of whom the end of the delay is known, and that end.
    std::string met_;
    time_point ends_at_{};
    bool connected_ = false;
    std::optional<timer> timer_;
    // Of the connection: what was asked on another one counts no more.
    std::uint64_t epoch_ = 0;
};

}  // namespace holdfast::detail

#endif
