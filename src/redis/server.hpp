#ifndef HOLDFAST_REDIS_SERVER_HPP
#define HOLDFAST_REDIS_SERVER_HPP

#include "protocol/backend.hpp"
#include "redis/command_connection.hpp"
#include "redis/subscription_connection.hpp"
#include "redis/supervisor.hpp"

#include <memory>
#include <string>
#include <utility>

namespace holdfast::detail {

/// One server: its two connections, and that both lead to the same server. Used on the client's
/// strand.
class server {
public:
    server(server_context of, backend_events& events);

    /// May be called again after it threw.
    void start();
    void stop();
    void exec(call&& what, exec_handler&& handler);
    void exec(routed_call&& what) { commands_->exec(std::move(what)); }
    void begin_burst() noexcept { commands_->begin_burst(); }
    void end_burst() { commands_->end_burst(); }
    [[nodiscard]] subscription subscribe(std::string channel, subscriber& to);
    [[nodiscard]] bool up(connection_id::purpose what) const;
    /// Requests were sent there before.
    [[nodiscard]] bool was_up() const noexcept { return commands_->was_up(); }
    /// Nothing is under way, and nobody listens.
    [[nodiscard]] bool idle() const noexcept { return commands_->idle() && subscriptions_->idle(); }
    [[nodiscard]] backend::obstacle why_down() const;

private:
    void on_up(connection_id which);

    backend_events& events_;
    std::shared_ptr<command_connection> commands_;
    std::shared_ptr<subscription_connection> subscriptions_;
    bool commands_started_ = false;
    bool subscriptions_started_ = false;
};

}  // namespace holdfast::detail

#endif
