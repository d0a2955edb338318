#ifndef HOLDFAST_RUNTIME_SERVER_KNOWLEDGE_HPP
#define HOLDFAST_RUNTIME_SERVER_KNOWLEDGE_HPP

#include "core/server_clock.hpp"
#include "core/server_identity.hpp"

namespace holdfast::detail {

/// What a client knows of the server that it is connected to.
struct server_knowledge {
    /// Something was granted on this connection, so the commands that a holder needs are allowed
    /// there.
    bool has_granted = false;
    server_clock time;

    server_identity identity;

    /// A new connection begins with nothing, except that it may lead to another server.
    void reset() noexcept {
        has_granted = false;
        time = {};
    }
};

}  // namespace holdfast::detail

#endif
