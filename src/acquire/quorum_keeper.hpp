#ifndef HOLDFAST_ACQUIRE_QUORUM_KEEPER_HPP
#define HOLDFAST_ACQUIRE_QUORUM_KEEPER_HPP

#include "acquire/quorum_node.hpp"
#include "lease/lease_group.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/fencing_token.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::detail {

class quorum_keepers;

/// Brings further nodes to a quorum's lease: those that answered late, and, at intervals, those
/// that have lost it or could not be asked. Of a lease that is lost it gives back what is left.
/// Used on the strand of the client that leads.
class quorum_keeper final : public group_keeper,
                            public std::enable_shared_from_this<quorum_keeper> {
public:
    struct quorum {
        std::vector<quorum_node> nodes;
        std::optional<owner> who;
        fencing_token token;
        time_point granted_at;
    };

    quorum_keeper(quorum_keepers& all, std::shared_ptr<client_context> lead, quorum what);

    /// `asked`: what is still to be answered, for each node.
    void start(
        std::shared_ptr<lease_group> const& group,
        std::vector<std::weak_ptr<acquire_op>> asked
    );
    /// A node's answer: an empty lease if it did not grant the lock.
    void on_answer(std::size_t node, lease given);
    void on_group_over() noexcept override;
    /// It is time to look for nodes that are missing, and whether the lease is lost.
    void look(time_point now);

private:
    void stop() noexcept;
    void ask(std::size_t node, time_point now);
    void look_again(time_point now);
    void on_loss(lease_group& group, time_point now);

    quorum_keepers& all_;
    std::shared_ptr<client_context> lead_;
    quorum what_;
    std::weak_ptr<lease_group> group_;
    std::vector<std::weak_ptr<acquire_op>> asked_;
    std::optional<std::multimap<time_point, std::weak_ptr<quorum_keeper>>::iterator> place_;

    friend class quorum_keepers;
};

/// The keepers of a client's quorum leases, by the time at which they want to look. One timer
/// serves them all.
class quorum_keepers {
public:
    explicit quorum_keepers(client_context& lead) noexcept : lead_{lead} {}

    void add(quorum_keeper& which, time_point at);
    void remove(quorum_keeper& which) noexcept;
    void clear() noexcept;

private:
    void arm();
    void on_timer();

    client_context& lead_;
    std::multimap<time_point, std::weak_ptr<quorum_keeper>> waiting_;
    std::optional<timer> timer_;
    time_point armed_for_ = time_point::max();
};

}  // namespace holdfast::detail

#endif
