#ifndef HOLDFAST_PROTOCOL_PERMISSIONS_HPP
#define HOLDFAST_PROTOCOL_PERMISSIONS_HPP

#include "protocol/script.hpp"

#include <holdfast/config.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::detail {

/// What the server's user must be allowed for one kind of lock, or for one feature, beside what
/// plain locks need.
struct permissions {
    enum class need : std::uint8_t {
        /// Nothing works without them.
        always,
        /// Locks work without them, and are slower.
        better,
        /// Programs that use this kind need them.
        kind,
    };

    /// For people: "fair locks".
    std::string_view purpose;
    need needed = need::kind;
    /// As in rules of ACL SETUSER: `hset`, `pubsub|numsub`.
    std::set<std::string> commands = {};
    /// Of the name that was asked for.
    std::vector<std::string> keys = {};
    /// The same, of the channels on which scripts publish.
    std::vector<std::string> channels = {};
};

/// All that clients with these settings need for a lock called `name`, its prefix included: the
/// commands that the scripts call, with their keys and channels. Plain locks come first.
/// `client_id`: of the client whose channel is among the channels.
[[nodiscard]] std::vector<permissions> permissions_for(
    config const& settings,
    std::string_view name,
    std::string_view client_id,
    script_dialect dialect = script_dialect::single
);

}  // namespace holdfast::detail

#endif
