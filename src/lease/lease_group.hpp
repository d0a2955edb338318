#ifndef HOLDFAST_LEASE_LEASE_GROUP_HPP
#define HOLDFAST_LEASE_LEASE_GROUP_HPP

#include "core/lease_terms.hpp"
#include "runtime/client_context.hpp"
#include "runtime/guarded_executor.hpp"

#include <holdfast/fencing_token.hpp>
#include <holdfast/leadership.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/multi_lease.hpp>
#include <holdfast/quorum_lease.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace holdfast::detail {

class group_answers;
struct lease_share;

/// What a lease stands for.
struct lease_access {
    [[nodiscard]] static std::shared_ptr<lease_share> const& share_of(lease const& which) noexcept {
        return which.share_;
    }
    /// @{
    /// What stays the same when a lease is moved; null for an empty lease.
    [[nodiscard]] static void const* identity_of(lease const& which) noexcept {
        return which.share_.get();
    }
    [[nodiscard]] static void const* identity_of(leadership const& which) noexcept {
        return identity_of(which.lease_);
    }
    [[nodiscard]] static void const* identity_of(multi_lease const& which) noexcept {
        return which.group_.get();
    }
    [[nodiscard]] static void const* identity_of(quorum_lease const& which) noexcept {
        return which.group_.get();
    }
    /// @}
    /// Of a lease that is not empty.
    static void raise_token(lease const& which, fencing_token to) noexcept;
    [[nodiscard]] static fencing_token quorum_token(lease const& which) noexcept;
};

/// Who brings further members to a group.
class group_keeper {
public:
    virtual ~group_keeper() = default;
    /// The members are being renewed, and enough of them are left: those that are missing are asked
    /// for. On the strand of the group's client.
    virtual void ask_for_missing(time_point now) = 0;
    /// The group is released, or was dropped. From any thread.
    virtual void on_group_over() noexcept = 0;
};

/// Several leases as one: those of the members of a multi-lock, all of which are needed, or those
/// of a quorum's nodes, of which a majority is.
///
/// A member is lost for good. Another lease may take its place while the group stands, see
/// `join()`. A group that was lost stays so.
///
/// The members renew themselves. A group with a keeper asks for those that are missing at each
/// renewal, and gives back what is left once it is lost.
///
/// Readable from any thread.
class lease_group : public std::enable_shared_from_this<lease_group> {
public:
    static constexpr std::size_t most_members = 64;

    /// `client` is where a caller without an executor of its own is called. An empty lease is a
    /// place for one that may join later; at least one is not empty.
    lease_group(
        std::shared_ptr<client_context> client,
        std::vector<lease>&& leases,
        std::size_t needed
    );
    /// Of a multi-lock, in the order in which the user named the members.
    [[nodiscard]] static multi_lease make(
        std::shared_ptr<client_context> client,
        std::vector<lease>&& leases
    );
    /// The lease of a quorum's group, which has this token.
    [[nodiscard]] static quorum_lease make_lease(
        std::shared_ptr<lease_group> group,
        fencing_token token
    );

    /// Of a lease that is not empty.
    [[nodiscard]] static std::vector<lease> const& leases_of(multi_lease const& which) noexcept {
        return which.group_->leases_;
    }

    [[nodiscard]] lease_state state() const noexcept;
    [[nodiscard]] loss_reason loss() const noexcept;
    [[nodiscard]] time_point deadline() const noexcept;
    /// Of a group that no other members join.
    [[nodiscard]] std::vector<lease> const& leases() const noexcept { return leases_; }
    /// The number of members whose leases are valid.
    [[nodiscard]] std::size_t standing() const noexcept;
    [[nodiscard]] asio::any_io_executor executor() const noexcept { return client_->executor(); }

    /// There is no valid lease in this place.
    [[nodiscard]] bool has_room(std::size_t place) const noexcept;
    /// The executor of the holder, on which another member would be renewed. Empty if its context
    /// is gone.
    [[nodiscard]] guarded_executor holder() const;
    /// Puts a lease in that place. False if the group is lost or released: the lease is left where
    /// it is.
    bool join(std::size_t place, lease&& given);
    /// Asks each member whether it still has its lock, and renews it. Success: enough of them do.
    void confirm(plain_handler handler);
    /// Before anybody else knows the group.
    void set_keeper(std::shared_ptr<group_keeper> keeper) noexcept;
    /// A member is being renewed. From any thread.
    void on_renewal();

    void renew(plain_handler handler);
    void release(plain_handler handler);
    void wait_lost(loss_handler handler);
    /// It was dropped without a release. What its operations share may live on.
    void abandon() noexcept;

private:
    class watch;
    using share_ptr = std::shared_ptr<lease_share>;

    [[nodiscard]] std::shared_ptr<group_answers> expect_answers(
        plain_handler handler,
        std::size_t all,
        std::size_t enough
    );
    [[nodiscard]] std::vector<share_ptr> shares() const;
    void look_after_members();
    void release_rest();
    static void begin_releases(
        std::vector<share_ptr> const& members,
        std::function<void(std::size_t, error_code)> const& on_answer
    );
    void end_keeping() noexcept;
    // Under the mutex.
    [[nodiscard]] lease_state look() const noexcept;
    [[nodiscard]] loss_reason look_for_loss() const noexcept;

    std::shared_ptr<client_context> client_;
    std::size_t needed_;

    mutable std::mutex mutex_;
    // Guarded by it, unless no other members join.
    std::vector<lease> leases_;
    // Guarded by it.
    std::vector<std::weak_ptr<watch>> watches_;
    std::shared_ptr<group_keeper> keeper_;
    bool released_ = false;
    bool will_look_ = false;
    // Of the member that was the first to be seen lost when too few were left.
    mutable loss_reason first_loss_ = loss_reason::none;
};

}  // namespace holdfast::detail

#endif
