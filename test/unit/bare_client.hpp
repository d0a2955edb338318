#ifndef HOLDFAST_TEST_UNIT_BARE_CLIENT_HPP
#define HOLDFAST_TEST_UNIT_BARE_CLIENT_HPP

#include "runtime/client_context.hpp"
#include "unit/scripted_backend.hpp"

#include <holdfast/config.hpp>

#include <boost/asio/io_context.hpp>

#include <memory>
#include <utility>

namespace holdfast::test {

/// The ground that the parts of a client stand on, without the parts.
struct bare_client final : detail::client_context {
    bare_client(boost::asio::io_context& context, config settings = {})
        : client_context{context.get_executor(), std::move(settings)} {}

    scripted_backend& connect() {
        auto made = std::make_unique<scripted_backend>(strand());
        auto& server = *made;
        backend_ = std::move(made);
        return server;
    }
    using client_context::close;
    using client_context::leave_context;
    using client_context::mark_gone;
};

struct bare_world {
    explicit bare_world(config settings = {})
        : client{std::make_shared<bare_client>(context, plain(std::move(settings)))} {}
    // Without hand-over.
    static config plain(config settings) {
        settings.hand_over = false;
        return settings;
    }
    /// What the server did not answer holds the client, and the client holds the server.
    ~bare_world() { client->leave_context(); }
    bare_world(bare_world const&) = delete;
    bare_world& operator=(bare_world const&) = delete;

    /// Runs what is ready.
    void run() {
        context.restart();
        context.poll();
    }

    boost::asio::io_context context;
    std::shared_ptr<bare_client> client;
};

}  // namespace holdfast::test

#endif
