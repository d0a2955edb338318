#ifndef HOLDFAST_ACQUIRE_QUORUM_KEEPER_HPP
#define HOLDFAST_ACQUIRE_QUORUM_KEEPER_HPP

#include "acquire/quorum_node.hpp"
#include "lease/lease_group.hpp"

#include <holdfast/fencing_token.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::detail {

class quorum_line;

/// Brings further nodes to a quorum's lease: those that answer late, and those that have lost it or
/// could not be asked. Used on the strand of the client that leads.
///
/// A node that has lost the lease grants it anew. It joins when a majority has confirmed the lease
/// after that. Otherwise a lease that a majority has lost, perhaps to another holder for a moment,
/// would come back node by node before the loss of the next node is known.
class quorum_keeper final : public group_keeper,
                            public std::enable_shared_from_this<quorum_keeper> {
public:
    struct quorum {
        std::vector<quorum_node> nodes;
        std::optional<owner> who;
        fencing_token token;
        time_point granted_at;
        // That of an owner's lease, which is found there.
        std::shared_ptr<quorum_line> line;
    };

    /// `asked`: what is still to be answered, for each node.
    quorum_keeper(
        std::shared_ptr<client_context> lead,
        quorum what,
        std::weak_ptr<lease_group> group,
        std::vector<std::weak_ptr<acquire_op>> asked
    );

    /// The answer of a node that was asked with those that granted the lease: an empty lease if it
    /// did not.
    void on_late_answer(std::size_t node, lease given);
    void ask_for_missing(time_point now) override;
    void on_group_over() noexcept override;

private:
    void ask(std::size_t node, lease_group const& group, time_point now);
    void on_answer(std::size_t node, lease given);
    void join(std::size_t node, lease given);

    std::shared_ptr<client_context> lead_;
    quorum what_;
    std::weak_ptr<lease_group> group_;
    std::vector<std::weak_ptr<acquire_op>> asked_;
    // When each node may be asked again: the members are not renewed all at once.
    std::vector<time_point> next_;
};

}  // namespace holdfast::detail

#endif
