#ifndef HOLDFAST_CLI_LOCK_SCAN_HPP
#define HOLDFAST_CLI_LOCK_SCAN_HPP

#include "cli/options.hpp"
#include "cli/server_session.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

// Which names may be locks. What is under them is asked by the library.
namespace holdfast::cli {

/// The lock that a key or a channel belongs to.
struct trace {
    lock_kind kind;
    std::string name;
};
/// Nothing if it does not belong to a lock: `holdfast_queue:{a}` → a lock, `a`.
[[nodiscard]] std::optional<trace> trace_of_key(std::string_view key);
[[nodiscard]] std::optional<trace> trace_of_channel(std::string_view channel);

/// What a name may be.
struct candidate {
    /// What the keys and channels that were found belong to.
    std::set<lock_kind> kinds = {};
    /// How many listen to its channel.
    std::size_t listeners = 0;

    [[nodiscard]] bool has(lock_kind what) const { return kinds.contains(what); }
};
using candidates = std::map<std::string, candidate>;

/// Looks for names that fit a pattern of Redis, their prefix included, with SCAN, a thousand keys
/// at a time: the server answers others in between. The names are those that a lock may have,
/// without the prefix.
///
/// @throws boost::system::system_error `errc::no_permission` if the user may not use SCAN; another
/// error if the connection ends.
[[nodiscard]] boost::asio::awaitable<candidates> scan_for_locks(
    server_session& from,
    std::string pattern
);

}  // namespace holdfast::cli

#endif
