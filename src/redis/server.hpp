#ifndef HOLDFAST_REDIS_SERVER_HPP
#define HOLDFAST_REDIS_SERVER_HPP

#include "protocol/backend.hpp"
#include "redis/command_connection.hpp"
#include "redis/replica_connection.hpp"
#include "redis/subscription_connection.hpp"
#include "redis/supervisor.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::detail {

/// One server: its connections, and that all lead to the same server. That which waits for replicas
/// is there only if `config::replicas` asks for some. Used on the client's strand.
class server {
public:
    server(server_context of, backend_events& events);

    /// May be called again after it threw.
    void start();
    void stop();
    /// It is another one from now on.
    void move_to(config const& there);
    /// Ends its connections, because another server has its place. Its unanswered requests end.
    void drop(std::string_view why);
    void exec(call&& what, exec_handler&& handler);
    void exec_replicated(call&& what, replication const& wanted, replicated_handler&& handler);
    void exec_replicated(replicated_call&& what) { replicas_->exec(std::move(what)); }
    void exec(routed_call&& what) { commands_->exec(std::move(what)); }
    [[nodiscard]] subscription subscribe(std::string channel, subscriber& to);
    [[nodiscard]] bool up(connection_id::purpose what) const;
    /// Requests were sent there before.
    [[nodiscard]] bool was_up() const noexcept { return commands_->was_up(); }
    /// Nothing is under way, and nobody listens.
    [[nodiscard]] bool idle() const noexcept {
        return commands_->idle() && subscriptions_->idle() && (!replicas_ || replicas_->idle());
    }
    /// Since when requests can be sent there, while they can.
    [[nodiscard]] lease_clock::time_point up_since() const noexcept {
        return commands_->up_since();
    }
    [[nodiscard]] std::optional<lease_clock::time_point> silent_since() const {
        return commands_->silent_since();
    }
    [[nodiscard]] backend::obstacle why_down() const;
    [[nodiscard]] backend::identity who() const;

private:
    [[nodiscard]] static bool at_the_same(supervisor const& one, supervisor const& other);
    /// False if it leads to another server than those that know better. It ends then.
    bool stays(supervisor& newer);
    void on_up(connection_id which);

    backend_events& events_;
    std::shared_ptr<command_connection> commands_;
    std::shared_ptr<subscription_connection> subscriptions_;
    std::shared_ptr<replica_connection> replicas_;  // none if they are not waited for
    bool commands_started_ = false;
    bool subscriptions_started_ = false;
    bool replicas_started_ = false;
};

}  // namespace holdfast::detail

#endif
