#ifndef HOLDFAST_CLI_CLIENT_ACCESS_HPP
#define HOLDFAST_CLI_CLIENT_ACCESS_HPP

#include "client/client_state.hpp"

#include <holdfast/client.hpp>

#include <memory>
#include <utility>

namespace holdfast {

/// What a client consists of, for a program that listens to channels, and for its tests.
struct client_access {
    [[nodiscard]] static client made_of(std::shared_ptr<detail::client_state> state) {
        return client{std::move(state)};
    }
    [[nodiscard]] static std::shared_ptr<detail::client_context> context_of(client const& of) {
        return of.state_;
    }
};

}  // namespace holdfast

#endif
