#ifndef HOLDFAST_PROTOCOL_ELECTION_HPP
#define HOLDFAST_PROTOCOL_ELECTION_HPP

#include "core/holder_id.hpp"
#include "core/leader_sequence.hpp"
#include "protocol/call.hpp"
#include "protocol/reply.hpp"
#include "protocol/target.hpp"

#include <holdfast/config.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::detail {

/// What one election is on the server: a lock, which its leader holds, and beside it the history of
/// its leaders and the channel on which new ones are announced.
struct election_keys {
    /// The value that a leader proclaims is no longer.
    static constexpr std::size_t longest_value = 64 * 1024;
    /// So many leaders are kept.
    static constexpr std::int64_t kept = 128;

    /// The lock of the same name.
    std::shared_ptr<target const> lock;
    std::string history;
    std::string channel;
};

/// The election of the name `prefix + name`, for a client with these settings; its lock is an
/// invalid target if the name is not allowed.
[[nodiscard]] election_keys make_election_keys(config const& settings, std::string_view name);

struct proclamation {
    election_keys const& of;
    /// Who leads, by the lock.
    holder_id const& holder;
    fencing_token term;
    /// The number of the value within the term, from 1.
    std::uint64_t change;
    std::string_view value;
    /// How long the history is kept; zero: for ever.
    std::chrono::milliseconds ttl;
    std::chrono::nanoseconds timeout;
};
[[nodiscard]] call proclaim(proclamation const& what);

struct proclaim_reply {
    enum class kind : std::uint8_t {
        proclaimed,
        /// It does not lead: it has not the lock, or a later term has begun.
        not_leader,
        corrupt,
    };
    kind what = kind::corrupt;
    /// The announcement went out.
    bool notified = true;
};
[[nodiscard]] proclaim_reply read_proclaim(script_reply const& reply);

/// Asks who leads, and for the leaders since the one that is known, or for all if that is zeros.
/// Nothing: for the newest one only.
[[nodiscard]] call look(
    election_keys const& of,
    std::optional<leader_place> const& seen,
    std::chrono::nanoseconds timeout
);
/// Nothing if the key holds something else.
[[nodiscard]] std::optional<leader_look> read_look(script_reply const& reply);

/// What an announcement says; nothing if it is none.
[[nodiscard]] std::optional<leader_place> read_announcement(std::string_view message);

}  // namespace holdfast::detail

#endif
