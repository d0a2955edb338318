#ifndef HOLDFAST_LEASE_STATE_HPP
#define HOLDFAST_LEASE_STATE_HPP

#include <holdfast/export.hpp>

#include <string_view>

namespace holdfast {

/// Whether a lease can be relied on.
enum class lease_state {
    /// There is no lease: default-constructed, moved from, released, or not granted.
    empty,
    /// The holder may act.
    held,
    /// Still valid, but the last renewal failed or the connection is down. The lease may become
    /// `held` again, or `lost`.
    in_doubt,
    /// Over for good. `lease::loss()` says why.
    lost,
};

/// Why a lease was lost.
enum class loss_reason {
    /// The lease was not lost, or there is no lease.
    none,
    /// The lease ran out: it was acquired without renewal, or the holder's executor was blocked.
    expired,
    /// Another holder has the lock, or somebody overwrote its key.
    taken,
    /// The key is gone from the server.
    deleted,
    /// No renewal was confirmed in time.
    unreachable,
    /// The time `acquire_options::max_hold` is over.
    max_hold,
    /// The client was shut down or destroyed.
    client_stopped,
    /// It was renewed `acquire_options::max_renewals` times, and has run out.
    max_renewals,
    /// The key is gone since the client is connected to another server: a promoted replica that had
    /// not got it yet, or the same server started again without its data.
    failed_over,
};

/// @{
/// The name of the enumerator, such as `in_doubt`; `unknown` for any other value.
///
/// @par Thread safety   Safe.
[[nodiscard]] HOLDFAST_EXPORT std::string_view to_string(lease_state state) noexcept;
[[nodiscard]] HOLDFAST_EXPORT std::string_view to_string(loss_reason reason) noexcept;
/// @}

}  // namespace holdfast

#endif
