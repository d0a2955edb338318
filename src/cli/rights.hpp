#ifndef HOLDFAST_CLI_RIGHTS_HPP
#define HOLDFAST_CLI_RIGHTS_HPP

#include "cli/finding.hpp"
#include "protocol/permissions.hpp"
#include "redis/replies.hpp"

#include <holdfast/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Whether the server's user has the permissions that the library needs is found out by trying: that
// needs no permission to look at permissions.
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

/// What is tried for one purpose: see `detail::permissions`.
struct rights_group {
    using need = detail::permissions::need;

    std::string purpose;
    need needed;
    std::vector<right> rights;
};

/// How to try what `detail::permissions_for` lists. `name` is one that nobody uses, with its
/// prefix: what is tried is tried on its keys.
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
[[nodiscard]] finding check_writes(std::vector<detail::raw_reply> const& replies);

}  // namespace holdfast::cli

#endif
