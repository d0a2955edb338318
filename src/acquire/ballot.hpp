#ifndef HOLDFAST_ACQUIRE_BALLOT_HPP
#define HOLDFAST_ACQUIRE_BALLOT_HPP

#include "core/lease_terms.hpp"
#include "protocol/primitive.hpp"

#include <holdfast/fencing_token.hpp>

#include <optional>

namespace holdfast::detail {

/// What one node of a quorum is asked, and what it said. The node's acquisition writes it on the
/// strand of its client before it completes, and does not touch it after that.
struct ballot {
    /// The token that all nodes should give.
    fencing_token proposed;
    /// What `acquire_options::max_hold` counts from, at each node.
    time_point held_since = {};
    /// Of the last attempt that was answered.
    std::optional<attempt_reply> reply = {};
};

}  // namespace holdfast::detail

#endif
