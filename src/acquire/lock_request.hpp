#ifndef HOLDFAST_ACQUIRE_LOCK_REQUEST_HPP
#define HOLDFAST_ACQUIRE_LOCK_REQUEST_HPP

#include "core/lease_terms.hpp"
#include "protocol/target.hpp"

#include <holdfast/config.hpp>
#include <holdfast/detail/acquire.hpp>
#include <holdfast/detail/patience.hpp>
#include <holdfast/error.hpp>
#include <holdfast/owner.hpp>

#include <memory>
#include <optional>

namespace holdfast::detail {

class joint_attempt;
struct ballot;

/// What an acquisition asks for of one lock. An operation on several locks has one for each.
struct lock_request {
    std::shared_ptr<target const> on;
    lease_terms terms;
    patience how_long = patience::unlimited;
    nanos limit{0};
    std::optional<owner> who;
    /// Zero: never.
    nanos orphan_after{0};
    /// Its first attempt is sent with those of others. Only with one attempt.
    std::shared_ptr<joint_attempt> with = {};
    /// It is a node's part of a quorum.
    std::shared_ptr<ballot> vote = {};
    /// An operation on several locks gets the lease, not the user.
    bool part = false;
    /// If it is refused, the operation on several locks goes on: that is no result to tell of.
    bool provisional = false;
};

/// Checks what a user asked for, and turns it into a request to this client's server. A single
/// lock, each member of a multi-lock, each node of a quorum and a campaign come here, so that an
/// option means the same wherever the lock stands. On an error `out` has no meaning:
/// `invalid_name`, `invalid_lease` or `invalid_options`.
[[nodiscard]] error_code make_lock_request(
    config const& settings,
    acquire_request const& asked,
    lock_request& out
);

}  // namespace holdfast::detail

#endif
