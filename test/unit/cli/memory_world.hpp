#ifndef HOLDFAST_TEST_UNIT_CLI_MEMORY_WORLD_HPP
#define HOLDFAST_TEST_UNIT_CLI_MEMORY_WORLD_HPP

#include "client/client_state.hpp"
#include "memory_server/server.hpp"
#include "support/run.hpp"

#include <holdfast/client.hpp>
#include <holdfast/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace holdfast {

/// Makes a client of what it consists of, for its tests.
struct client_access {
    [[nodiscard]] static client made_of(std::shared_ptr<detail::client_state> state) {
        return client{std::move(state)};
    }
};

}  // namespace holdfast

namespace holdfast::test {

/// Clients of a server in memory, for what the program asks of a client.
class memory_world {
public:
    [[nodiscard]] client make_client(boost::asio::any_io_executor executor, config settings = {})
        const {
        auto const factory = [this](auto strand, auto const&, auto count) {
            return server->make_backend(std::move(strand), std::move(count));
        };
        return client_access::made_of(
            detail::client_state::make(std::move(executor), std::move(settings), factory)
        );
    }

    std::shared_ptr<memory::server> server = memory::server::make();
};

/// Runs a body with a client of a server in memory.
inline void with_memory(
    std::function<boost::asio::awaitable<void>(memory_world&, client&)> const& body
) {
    memory_world world;
    run_with_deadline([&](boost::asio::any_io_executor executor) -> boost::asio::awaitable<void> {
        auto client = world.make_client(executor);
        co_await body(world, client);
    });
}

}  // namespace holdfast::test

#endif
