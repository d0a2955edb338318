#ifndef HOLDFAST_REDIS_DEPLOYMENT_CLUSTER_ROUTES_HPP
#define HOLDFAST_REDIS_DEPLOYMENT_CLUSTER_ROUTES_HPP

#include "core/lease_terms.hpp"
#include "protocol/backend.hpp"
#include "protocol/slot.hpp"
#include "redis/cluster_observer.hpp"
#include "redis/deployment/cluster_channels.hpp"
#include "redis/deployment/cluster_nodes.hpp"
#include "redis/deployment/slot_map.hpp"
#include "runtime/runtime.hpp"

#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::detail {

/// Which requests and which subscriptions of a client go to which node of a cluster, and what
/// follows when slots move. Used on the client's strand; connections may outlive it.
class cluster_routes final : public std::enable_shared_from_this<cluster_routes>,
                             public cluster_observer,
                             public backend_events {
public:
    cluster_routes(server_context common, nanos idle_after);

    void start(backend_events& events);
    void stop();

    void exec(call&& what, exec_handler&& handler);
    void exec_replicated(call&& what, replication const& wanted, replicated_handler&& handler);
    [[nodiscard]] subscription subscribe(std::string channel, subscriber& to);

    [[nodiscard]] bool up(connection_id::purpose what) const;
    [[nodiscard]] backend::obstacle why_down() const;
    [[nodiscard]] std::optional<std::uint32_t> server_of(std::uint16_t slot) const {
        return map_.server_of(slot);
    }
    [[nodiscard]] bool reach(std::uint16_t slot);
    [[nodiscard]] std::optional<lease_clock::time_point> silent_since(std::uint16_t slot) const;
    [[nodiscard]] backend::obstacle why_out_of_reach(std::uint16_t slot) const;
    [[nodiscard]] backend::identity who(std::uint32_t server) const;

    // cluster_observer
    void on_slots(std::uint32_t server, script_reply const& slots) override;
    void on_redirected(std::uint32_t server, redirection const& where, routed_call&& what) override;
    void on_redirected(std::uint32_t server, redirection const& where, replicated_call&& what)
        override;
    void on_channel_moved(std::uint32_t server, std::string_view channel, redirection const* where)
        override;
    void on_doubt(std::uint32_t server) override;
    void on_silent(std::uint32_t server) override;

private:
    using slot_set = std::bitset<slot_count>;

    // A request is sent to no more nodes than this because of what the last one said.
    static constexpr unsigned most_redirections = 5;

    // backend_events, of the nodes
    void on_up(connection_id which) override;
    void on_down(connection_id which) override;
    void on_failure(connection_id which, error_code cause) override;
    void on_unconnected(connection_id which, error_code cause, std::string_view text) override;
    void on_refused(refusal const& what) override;
    void on_closed(std::uint32_t server) override;

    void later(std::function<void()> f);
    server& open(std::uint32_t number) { return nodes_->open(number, map_.address(number)); }
    void open_seeds();
    [[nodiscard]] bool is_seed(std::uint32_t server) const;
    template <class Call>
    void redirect(std::uint32_t server, redirection const& where, Call&& what);
    /// With `config::lock_delay`: what was sent to another server must not be granted by this one.
    [[nodiscard]] bool may_be_new(std::uint32_t server, nanos longest_request) const;
    [[nodiscard]] std::uint32_t target_of(std::uint32_t server, redirection const& where);
    /// The server has said that this one has the slot.
    void on_slot_moved(std::uint32_t server, std::uint16_t slot, std::uint32_t to);
    void on_map_changed();
    void settle();
    void tell_of_moves(std::vector<slot_map::move> const& moves);
    /// What was sent to the former server of these has ended.
    void tell_of_lost(slot_set const& by_a_former_server);
    /// Their servers are up.
    void tell_moved(slot_set const& these);
    /// Has those say themselves which slots they have that others named.
    void ask_the_named();
    /// Marks the slots as wanted that a connected server has lost, and that no server has.
    void want_again(std::vector<slot_map::move> const& moves);
    /// Connects to those that have slots which are wanted.
    void open_wanted();
    void leave_replaced();
    void leave_unused();
    void close_unused();
    /// Forgets the servers that no node names, that the user did not name, and that are not
    /// connected to.
    void forget_unnamed();
    void leave_unless_primary(std::uint32_t server);
    /// Asks a node for the slots; `server` if it can be asked.
    void ask_for_slots(std::uint32_t server);
    void on_slots_answered(std::uint32_t server, exec_result const& result);
    /// A slot has no server, or a server that has slots cannot be reached.
    [[nodiscard]] bool something_is_missing() const;
    void look_soon();
    void look_within(nanos pause);
    void sweep_later();
    /// A primary that has lost its place, and its connections not, says nothing by itself.
    void refresh_later();
    void say_complete(bool complete);

    server_context common_;
    nanos idle_after_;
    backend_events* events_ = nullptr;
    slot_map map_;
    std::unique_ptr<cluster_nodes> nodes_;
    std::unique_ptr<cluster_channels> channels_;
    // Connections that came up before the slots were known.
    std::vector<connection_id> untold_;
    // A slot is wanted when `reach` was asked for it in vain, or when a connected server has lost
    // it and no server has it. The routes connect to its server as soon as one is known, and the
    // events tell the caller, who need not ask again.
    slot_set wanted_;
    // Servers that are connected to because they were named, and have not answered.
    std::set<std::uint32_t> awaited_;
    // Slots that a server has lost since it was connected to.
    std::map<std::uint32_t, slot_set> lost_by_;
    // Servers whose place was taken by another.
    std::set<std::uint32_t> replaced_;
    timer look_timer_;
    timer sweep_timer_;
    timer refresh_timer_;
    time_point asked_at_ = time_point::min();
    std::uint32_t asked_whom_ = 0;
    std::size_t refreshed_ = 0;
    bool asking_ = false;
    // What was heard since it asked makes it ask again, and whom.
    std::optional<std::uint32_t> ask_again_;
    bool looking_ = false;
    bool settling_ = false;
    bool was_complete_ = false;
    bool stopped_ = false;
};

}  // namespace holdfast::detail

#endif
