#ifndef HOLDFAST_PROTOCOL_ELECTION_HPP
#define HOLDFAST_PROTOCOL_ELECTION_HPP

#include "core/holder_id.hpp"
#include "protocol/call.hpp"
#include "protocol/reply.hpp"
#include "protocol/target.hpp"

#include <holdfast/config.hpp>
#include <holdfast/fencing_token.hpp>
#include <holdfast/leader_info.hpp>

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::detail {

/// What one election is on the server: a lock, which its leader holds, and beside it a key with
/// what the leader proclaimed. New leaders and values are announced on the channel of the same
/// name.
struct election_keys {
    /// The value that a leader proclaims is no longer.
    static constexpr std::size_t longest_value = 64 * 1024;

    /// The lock of the same name.
    std::shared_ptr<target const> lock;
    std::string leader;
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
    /// How long the value is kept; zero: for ever.
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

/// Orders what the leaders of an election proclaim. A server that has lost data may go back to an
/// older one, but gives no term again.
struct leader_place {
    fencing_token term;
    /// The number of the value within the term, from 1.
    std::uint64_t change = 0;

    friend auto operator<=>(leader_place const&, leader_place const&) = default;
};

/// What a look at an election found.
struct leader_look {
    /// To the end of the holder's lease; none if the lock is free, or the lease has no end.
    std::optional<std::chrono::milliseconds> remaining;
    bool held = false;
    /// The holder of the lock, if it has proclaimed its value; zeros otherwise.
    leader_place place;
    leader_info leader;
};

/// Asks who leads.
[[nodiscard]] call look(election_keys const& of, std::chrono::nanoseconds timeout);
/// Nothing if the key holds something else.
[[nodiscard]] std::optional<leader_look> read_look(script_reply const& reply);

}  // namespace holdfast::detail

#endif
