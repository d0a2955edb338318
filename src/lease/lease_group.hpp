#ifndef HOLDFAST_LEASE_LEASE_GROUP_HPP
#define HOLDFAST_LEASE_LEASE_GROUP_HPP

#include "core/lease_terms.hpp"
#include "runtime/client_context.hpp"

#include <holdfast/lease.hpp>
#include <holdfast/multi_lease.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace holdfast::detail {

struct lease_share;

/// What a lease stands for.
struct lease_access {
    [[nodiscard]] static std::shared_ptr<lease_share> const& share_of(lease const& which) noexcept {
        return which.share_;
    }
};

/// The leases of all members of a multi-lock, in the order in which the user named these.
///
/// Readable from any thread.
class lease_group : public std::enable_shared_from_this<lease_group> {
public:
    /// `client` is where a caller without an executor of its own is called.
    lease_group(std::shared_ptr<client_context> client, std::vector<lease>&& leases);
    [[nodiscard]] static multi_lease make(
        std::shared_ptr<client_context> client,
        std::vector<lease>&& leases
    );

    /// Of a lease that is not empty.
    [[nodiscard]] static std::vector<lease> const& leases_of(multi_lease const& which) noexcept {
        return which.group_->leases_;
    }

    [[nodiscard]] lease_state state() const noexcept;
    [[nodiscard]] loss_reason loss() const noexcept;
    [[nodiscard]] time_point deadline() const noexcept;
    [[nodiscard]] std::vector<lease> const& leases() const noexcept { return leases_; }
    [[nodiscard]] asio::any_io_executor executor() const noexcept { return client_->executor(); }

    void renew(plain_handler handler);
    void release(plain_handler handler);
    void wait_lost(loss_handler handler);
    /// It was dropped without a release. What its operations share may live on.
    void abandon() noexcept;

private:
    class answers;
    class watch;

    [[nodiscard]] std::shared_ptr<answers> expect_answers(plain_handler handler);

    std::shared_ptr<client_context> client_;
    std::vector<lease> leases_;
    // Of the member that was the first to be seen lost.
    mutable std::atomic<loss_reason> first_loss_{loss_reason::none};
};

}  // namespace holdfast::detail

#endif
