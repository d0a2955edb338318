#ifndef HOLDFAST_CLI_LOCK_SCAN_HPP
#define HOLDFAST_CLI_LOCK_SCAN_HPP

#include "cli/lock_keys.hpp"
#include "cli/server_session.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace holdfast::cli {

/// What a name may be, by the keys and channels that were found.
struct candidate {
    /// There is a hash, or a number, under the name itself.
    bool is_hash = false;
    bool is_number = false;
    std::set<trace::kind> traces = {};
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

/// Looks for names with SCAN, a thousand keys at a time: the server answers others in between.
///
/// @throws boost::system::system_error `errc::no_permission` if the user may not use SCAN; another
/// error if the connection ends.
[[nodiscard]] boost::asio::awaitable<candidates> scan_for_locks(
    server_session& from,
    scan_options options
);

}  // namespace holdfast::cli

#endif
