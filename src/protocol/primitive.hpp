#ifndef HOLDFAST_PROTOCOL_PRIMITIVE_HPP
#define HOLDFAST_PROTOCOL_PRIMITIVE_HPP

#include "core/holder_id.hpp"
#include "protocol/call.hpp"
#include "protocol/reply.hpp"

#include <holdfast/fencing_token.hpp>
#include <holdfast/lease_state.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::detail {

struct target;

/// What the server said to an attempt.
struct attempt_reply {
    enum class kind : std::uint8_t {
        granted,
        /// Another holder has it.
        busy,
        /// The key holds something that is not of this kind.
        corrupt,
    };
    kind what = kind::corrupt;
    /// Of a grant.
    fencing_token token;
    /// Of a refusal: the time until the holder's lease ends. None: it has no end.
    std::optional<std::chrono::milliseconds> remaining;
};

/// What the server said to a renewal: `none`, or why the lease is not ours any more.
struct renew_reply {
    loss_reason lost = loss_reason::none;
};

/// What the server said to a release.
struct release_reply {
    /// `none`: it was ours, and is free. Otherwise why it was not ours.
    loss_reason lost = loss_reason::none;
    /// The notification went out to those who wait.
    bool notified = true;
};

/// How to speak with a server about one kind of lock: which scripts with which keys and arguments,
/// and what their replies mean. The drivers of acquisitions and leases know no more of a kind.
class primitive {
public:
    struct attempt {
        target const& on;
        holder_id const& id;
        std::chrono::milliseconds lease;
        /// How long the token counter is kept after this grant; zero: for ever.
        std::chrono::milliseconds counter_ttl;
        /// Tries each command that a holder will need before anything is written, so that a user
        /// without the right to one fails before the lock is granted.
        bool preflight;
        /// A token counter that has not reached it may have been lost or be stale: the token is at
        /// least the server's time then.
        fencing_token floor;
        std::chrono::nanoseconds timeout;
    };

    [[nodiscard]] virtual call acquire(attempt const& what) const = 0;
    [[nodiscard]] virtual attempt_reply read_acquire(script_reply const& reply) const = 0;

    [[nodiscard]] virtual call renew(
        target const& on,
        holder_id const& id,
        std::chrono::milliseconds lease,
        std::chrono::nanoseconds timeout
    ) const = 0;
    [[nodiscard]] virtual renew_reply read_renew(script_reply const& reply) const = 0;

    [[nodiscard]] virtual call release(
        target const& on,
        holder_id const& id,
        std::chrono::nanoseconds timeout
    ) const = 0;
    [[nodiscard]] virtual release_reply read_release(script_reply const& reply) const = 0;

protected:
    ~primitive() = default;
};

}  // namespace holdfast::detail

#endif
