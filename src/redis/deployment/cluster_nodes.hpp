#ifndef HOLDFAST_REDIS_DEPLOYMENT_CLUSTER_NODES_HPP
#define HOLDFAST_REDIS_DEPLOYMENT_CLUSTER_NODES_HPP

#include "core/lease_terms.hpp"
#include "protocol/backend.hpp"
#include "redis/cluster_observer.hpp"
#include "redis/deployment/slot_map.hpp"
#include "redis/server.hpp"
#include "runtime/runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace holdfast::detail {

/// The servers of a cluster that are connected to: those in use. Used on the client's strand.
///
/// A request for a server that was not connected to yet waits for its connection, until it is given
/// up. A connection that broke is another matter: nobody knows when it comes back.
class cluster_nodes {
public:
    /// `common` is what all servers have in common. `later` runs a function in a later turn of the
    /// strand, unless the deployment has gone.
    cluster_nodes(
        server_context common,
        backend_events& events,
        std::function<void(std::function<void()>)> later
    );
    ~cluster_nodes();

    /// The server of this number; it is connected to if it was not.
    server& open(std::uint32_t number, config::address const& where);
    /// Null: it is not connected to.
    [[nodiscard]] server* find(std::uint32_t number) const noexcept;
    /// Requests can be sent to it.
    [[nodiscard]] bool usable(std::uint32_t number) const noexcept;
    /// Requests can be sent to it, or could be soon: it is connected to, and nothing has failed.
    [[nodiscard]] bool within_reach(std::uint32_t number) const noexcept;
    /// One of those that can be used; `preferred`, if it is one. Null: there is none.
    [[nodiscard]] server* any_usable(std::uint32_t preferred, std::uint32_t& number) const noexcept;
    /// Another one than this that can be used. Null: there is none.
    [[nodiscard]] server* any_usable_but(std::uint32_t not_this, std::uint32_t& number)
        const noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] std::vector<std::uint32_t> numbers() const;

    void exec(std::uint32_t number, config::address const& where, routed_call&& what);
    /// It waits for its connection as long as it has time.
    void exec(std::uint32_t number, config::address const& where, replicated_call&& what);
    /// It has a connection for commands: what waited for it is sent.
    void on_up(std::uint32_t number);

    /// Ends the connections to it. What is under way is answered `unknown`.
    void close(std::uint32_t number);
    /// Closes those that nobody has needed for so long, but not the last one of `wanted`; and those
    /// that are not wanted as soon as they are idle. True if one of these is not idle. A wanted
    /// node that cannot be used stays open, because a caller may wait for it.
    bool close_unused(nanos idle_after, std::function<bool(std::uint32_t)> const& wanted);
    void stop();

    template <class F>
    void for_each(F f) const {
        for (auto const& [number, one] : nodes_) {
            f(number, *one.link);
        }
    }

private:
    struct node {
        std::unique_ptr<server> link;
        std::vector<routed_call> waiting;
        time_point used_at{};
    };

    [[nodiscard]] bool idle(node const& one) const noexcept {
        return one.waiting.empty() && one.link->idle();
    }
    void wait(node& on, routed_call&& what);
    void arm(time_point at);
    void give_up(time_point now);

    server_context common_;
    backend_events& events_;
    std::function<void(std::function<void()>)> later_;
    std::map<std::uint32_t, node> nodes_;
    timer timer_;
    time_point armed_for_ = time_point::max();
};

}  // namespace holdfast::detail

#endif
