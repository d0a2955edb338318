#ifndef HOLDFAST_CLI_LOCK_SCAN_HPP
#define HOLDFAST_CLI_LOCK_SCAN_HPP

#include "cli/lock_row.hpp"
#include "cli/server_session.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

// Which names may be locks. What is under them is asked by the library.
namespace holdfast::cli {

/// The lock that a key or a channel belongs to.
struct trace {
    row_kind kind;
    std::string name;
};
/// Nothing if it does not belong to a lock: `holdfast_queue:{a}` → a lock, `a`.
[[nodiscard]] std::optional<trace> trace_of_key(std::string_view key);
[[nodiscard]] std::optional<trace> trace_of_channel(std::string_view channel);

/// What a name may be.
struct candidate {
    /// What the keys and channels that were found belong to.
    std::set<row_kind> kinds = {};
    /// What is under the name itself, if it cannot be more than a number.
    std::optional<std::int64_t> number = {};
    /// How many listen to its channel.
    std::uint64_t listeners = 0;

    [[nodiscard]] bool has(row_kind what) const { return kinds.contains(what); }
    /// It may be a lock with keys besides the one of its name.
    [[nodiscard]] bool may_be_lock() const {
        return has(row_kind::lock) || has(row_kind::fair_lock) || has(row_kind::read_write_lock);
    }
};
using candidates = std::map<std::string, candidate>;

struct scan_options {
    /// Of names, with their prefix.
    std::string pattern;
    /// Also numbers of which nothing says that they are ours.
    bool numbers = false;
    /// Redis 7 and newer has sharded channels on a cluster.
    bool sharded = false;
};

/// Looks for names with SCAN, a thousand keys at a time: the server answers others in between. The
/// names are those that a lock may have, without the prefix.
///
/// @throws boost::system::system_error `errc::no_permission` if the user may not use SCAN; another
/// error if the connection ends.
[[nodiscard]] boost::asio::awaitable<candidates> scan_for_locks(
    server_session& from,
    scan_options options
);

}  // namespace holdfast::cli

#endif
