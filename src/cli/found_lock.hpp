#ifndef HOLDFAST_CLI_FOUND_LOCK_HPP
#define HOLDFAST_CLI_FOUND_LOCK_HPP

#include "cli/options.hpp"

#include <holdfast/client.hpp>
#include <holdfast/error.hpp>
#include <holdfast/lock_info.hpp>
#include <holdfast/semaphore_info.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli {

namespace asio = boost::asio;

/// What the server has under a name.
struct found_lock {
    /// `automatic` if there is nothing, or what several kinds look like.
    lock_kind kind = lock_kind::automatic;
    /// Of a lock, or of the writing side.
    std::optional<lock_info> lock = {};
    /// Of the reading side.
    std::optional<lock_info> readers = {};
    std::optional<semaphore_info> permits = {};
    /// Of a latch or a counting semaphore.
    std::optional<std::int64_t> number = {};
    /// How many listen to the channel of a latch or a counting semaphore. Only `list` asks.
    std::size_t listeners = 0;

    [[nodiscard]] bool held() const noexcept;
    /// `<client id>:<number>`; empty if nobody is known to hold it.
    [[nodiscard]] std::string_view holder() const noexcept;
    /// How many clients, or places, are in the server's queue, or listen.
    [[nodiscard]] std::size_t waiting() const noexcept;
};

/// As the library's headers call it, and so the command line and JSON, too.
[[nodiscard]] std::string_view to_string(lock_kind kind) noexcept;

/// Asks the server what it has under a name. With `automatic`, one kind after the other.
/// `errc::corrupt_state`: something else, or of another kind.
[[nodiscard]] asio::awaitable<found_lock> find_lock(
    holdfast::client const& by,
    std::string_view name,
    lock_kind kind,
    error_code& ec
);

/// Takes it from whoever has it. False if nobody had it, or if it is of a kind that nobody holds.
[[nodiscard]] asio::awaitable<bool> free_lock(
    holdfast::client const& by,
    std::string_view name,
    lock_kind kind,
    error_code& ec
);

}  // namespace holdfast::cli

#endif
