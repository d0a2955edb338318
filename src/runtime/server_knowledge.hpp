#ifndef HOLDFAST_RUNTIME_SERVER_KNOWLEDGE_HPP
#define HOLDFAST_RUNTIME_SERVER_KNOWLEDGE_HPP

#include "core/server_clock.hpp"
#include "core/server_identity.hpp"
#include "core/token_clock.hpp"

namespace holdfast::detail {

/// What a client knows of the server that it is connected to.
struct server_knowledge {
    /// It runs from the first grant on a connection. So the commands that a holder needs are
    /// allowed there.
    token_clock tokens;
    server_clock time;

    server_identity identity;

    /// A new connection begins with nothing, except that it may lead to another server.
    void reset() noexcept {
        tokens = {};
        time = {};
    }
};

}  // namespace holdfast::detail

#endif
