#ifndef HOLDFAST_CLI_RIGHTS_HPP
#define HOLDFAST_CLI_RIGHTS_HPP

#include "cli/finding.hpp"
#include "protocol/script.hpp"
#include "redis/replies.hpp"

#include <holdfast/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What the server's user must be allowed. Whether it is, is found out by trying: that needs no
// right to look at rights.
namespace holdfast::cli {

/// A command, a key or a channel, and how to try it.
struct right {
    enum class kind : std::uint8_t { command, key, channel };
    kind what;
    /// As ACL SETUSER takes it: `+hset`, `~app:*`, `&redisson_sc:{app:*`.
    std::string rule;
    /// Commands that need it, each alone. None changes anything, unless `writes`.
    std::vector<std::vector<std::string>> tries;
    /// It leaves a value under the name, which has to be removed.
    bool writes = false;
    /// It turns the connection into one of a subscriber.
    bool subscribes = false;
    /// It was tried, and the user lacks it.
    bool refused = false;
};

/// What one kind of lock needs beside what all need.
struct rights_group {
    /// For people: "fair locks".
    std::string purpose;
    enum class need : std::uint8_t {
        /// Nothing works without it.
        always,
        /// Locks work without it, and are slower.
        better,
        /// Programs need it that use this kind.
        kind,
    };
    need needed;
    std::vector<right> rights;
};

/// All that clients with these settings need: the commands that the library's scripts call, and the
/// keys and channels that they are called with. `name` is one that nobody uses, with its prefix:
/// what is tried is tried on its keys. `dialect`: how the server is spoken to of channels.
[[nodiscard]] std::vector<rights_group> rights_for(
    config const& settings,
    std::string_view name,
    detail::script_dialect dialect = detail::script_dialect::single
);

/// What the reply to a try says of a right. A server that does not know the command refuses it,
/// too.
[[nodiscard]] bool is_refused(right::kind what, detail::raw_reply const& reply);

/// What the rights mean that were refused.
[[nodiscard]] std::vector<finding> check_rights(
    std::vector<rights_group> const& groups,
    std::string_view user
);

/// Whether the server takes writes, by its replies to commands that would write.
[[nodiscard]] std::vector<finding> check_writes(std::vector<detail::raw_reply> const& replies);

}  // namespace holdfast::cli

#endif
