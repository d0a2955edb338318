#ifndef HOLDFAST_LEASE_DELIVERY_HPP
#define HOLDFAST_LEASE_DELIVERY_HPP

#include "core/lease_terms.hpp"
#include "lease/lease_group.hpp"
#include "protocol/target.hpp"
#include "runtime/client_context.hpp"

#include <holdfast/error.hpp>

#include <memory>

namespace holdfast::detail {

/// Exists while a user's handler runs that was given a lease. It recognizes a lease that the
/// handler discards, as `co_await lock.acquire();` does: the code that follows runs without the
/// lock, and GCC 12 does not warn.
///
/// A coroutine that awaits an acquisition is resumed inside its handler, and the handler returns
/// when the coroutine suspends again. So a lease that is destroyed by the same thread while the
/// handler runs has not lived across a suspension. This needs no memory in the lease, and no
/// strand: a lease that went to another thread meanwhile is not recognized there.
///
/// Three kinds of leases are not reported although they are destroyed that early: a lease that was
/// used, one that an exception destroys, and one whose acquisition was cancelled too late. An
/// operation that lost a race ends so, and nobody wants its lease any more. A lease may also
/// protect code that does not suspend. Such code usually takes longer than it takes to discard a
/// lease, hence the limit of time.
class delivery {
public:
    template <class Lease>
    delivery(bool cancelled, error_code const&, Lease const& given) noexcept
        : delivery{cancelled ? nullptr : lease_access::identity_of(given)} {}
    delivery(delivery const&) = delete;
    delivery& operator=(delivery const&) = delete;
    ~delivery();

    /// The holder used a lease of this identity.
    static void on_use(void const* lease) noexcept;
    /// Whether the handler that is running was given this lease and discards it now.
    [[nodiscard]] static bool discards(void const* lease) noexcept;

private:
    explicit delivery(void const* lease) noexcept;

    void const* unused_;
    time_point began_;
    // A handler may run other handlers of its context.
    delivery* outer_;
};

/// Passes on what a lease stands for, which its holder uses now.
template <class T>
[[nodiscard]] std::shared_ptr<T> const& used(std::shared_ptr<T> const& held) noexcept {
    delivery::on_use(held.get());
    return held;
}

/// Logs a hint, once for each client, that a lease was discarded. From any thread.
void report_discarded_lease(
    std::shared_ptr<client_context> const& client,
    std::shared_ptr<target const> on
) noexcept;

}  // namespace holdfast::detail

#endif
