#ifndef HOLDFAST_CLI_WATCH_HPP
#define HOLDFAST_CLI_WATCH_HPP

#include "cli/context.hpp"
#include "cli/found_lock.hpp"
#include "cli/options.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace holdfast::cli {

/// Something that has happened to a lock.
struct lock_event {
    enum class kind { granted, handed_over, released, waiting, readers, permits, number };

    kind what = kind::released;
    /// Who has it now, or had it.
    std::string holder = {};
    fencing_token token = {};
    /// How many wait, read, or are taken.
    std::int64_t number = 0;

    friend bool operator==(lock_event const&, lock_event const&) = default;
};

/// As JSON calls it, such as `handed_over`.
[[nodiscard]] std::string_view to_string(lock_event::kind what) noexcept;

/// What has happened between two looks. Without an earlier look, what there is.
[[nodiscard]] std::vector<lock_event> events_between(
    found_lock const* before,
    found_lock const& after
);

/// `holdfast watch`: writes a line for each event, until its time is over. It looks when something
/// is published on the lock's channel, when the server tells of changes to the key (if
/// `notify-keyspace-events` says so), and at intervals. Returns the exit code.
[[nodiscard]] asio::awaitable<int> watch(context const& on, watch_options const& options);

}  // namespace holdfast::cli

#endif
