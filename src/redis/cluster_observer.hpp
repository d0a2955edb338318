#ifndef HOLDFAST_REDIS_CLUSTER_OBSERVER_HPP
#define HOLDFAST_REDIS_CLUSTER_OBSERVER_HPP

#include "protocol/backend.hpp"
#include "protocol/call.hpp"
#include "protocol/reply.hpp"
#include "redis/replies.hpp"

#include <holdfast/lease_clock.hpp>

#include <cstdint>
#include <string_view>

namespace holdfast::detail {

/// A request that is sent to one server after the other, until one has its keys.
struct routed_call {
    call what;
    exec_handler handler;
    /// Zero: the call's time-out from now.
    lease_clock::time_point give_up_at{};
    /// How often a node has named another one.
    unsigned redirections = 0;
    /// Behind ASKING: the node does not have the slot yet.
    bool asking = false;
};

/// The same of a request that waits for replicas.
struct replicated_call {
    call what;
    replicated_handler handler;
    /// So many replicas.
    unsigned count = 1;
    lease_clock::time_point give_up_at{};
    unsigned redirections = 0;
    bool asking = false;
};

/// What the connections to a node of a cluster tell the deployment that it is a part of. Called on
/// the client's strand.
class cluster_observer {
public:
    /// A new connection to the node has asked it for the slots, whether it can be used or not.
    virtual void on_slots(std::uint32_t server, script_reply const& slots) = 0;
    /// The node did not execute the request, because another one has its keys.
    virtual void on_redirected(
        std::uint32_t server,
        redirection const& where,
        routed_call&& what
    ) = 0;
    virtual void on_redirected(
        std::uint32_t server,
        redirection const& where,
        replicated_call&& what
    ) = 0;
    /// The node does not serve the channel, or not any more. It may have said who does.
    virtual void on_channel_moved(
        std::uint32_t server,
        std::string_view channel,
        redirection const* where
    ) = 0;
    /// What is known of the slots may be old.
    virtual void on_doubt(std::uint32_t server) = 0;
    /// The node has owed an answer for longer than usual. It comes again while that lasts.
    virtual void on_silent(std::uint32_t server) = 0;

protected:
    ~cluster_observer() = default;
};

}  // namespace holdfast::detail

#endif
