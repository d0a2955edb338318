#ifndef HOLDFAST_CLI_LOCK_KEYS_HPP
#define HOLDFAST_CLI_LOCK_KEYS_HPP

#include "cli/lock_row.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Which keys and channels are whose, and what their values say. Nothing here asks the server.
namespace holdfast::cli {

/// What a key or a channel tells of the lock that it belongs to.
struct trace {
    enum class kind : std::uint8_t { waited_for, read_write, fair, semaphore, counted, latch, sc };
    kind what;
    /// Two names have the same keys besides their own: `a` and `{a}`.
    std::vector<std::string> names;
};

/// Nothing if it does not belong to a lock: `holdfast_queue:{a}` → waited for, `a` and `{a}`.
[[nodiscard]] std::optional<trace> trace_of_key(std::string_view key);
[[nodiscard]] std::optional<trace> trace_of_channel(std::string_view channel);

/// A key that belongs to a lock, and is none itself.
[[nodiscard]] bool is_part_of_a_lock(std::string_view key) noexcept;
/// The other name that has the same keys besides its own: of `a`, `{a}`, and of that, `a`. Empty:
/// there is none.
[[nodiscard]] std::string twin_of(std::string_view name);

/// `<client id>:<number>`, and what a transaction of Redisson's appends. No other data look like
/// it, other than in a script, which knows what the key is for.
[[nodiscard]] bool is_holder_id(std::string_view text) noexcept;
/// The client's id in it; empty if it is none.
[[nodiscard]] std::string_view client_id_in(std::string_view holder) noexcept;

/// Who holds a lock, by the fields of its hash. Nothing if it is something else.
[[nodiscard]] std::optional<std::vector<holder_row>> holders_in(
    std::vector<std::pair<std::string, std::string>> const& hash
);
/// The same of a read/write lock, which has a field `mode`.
[[nodiscard]] std::optional<std::vector<holder_row>> readers_and_writer_in(
    std::vector<std::pair<std::string, std::string>> const& hash
);

/// The holder id in an entry of a queue: `<holder id> <ms>`, `r <holder id>`, `2 <holder id>`.
/// Empty if it is not a client's.
[[nodiscard]] std::string_view holder_in_entry(std::string_view entry) noexcept;

/// How long ago a token was taken, where it is the server's time in microseconds.
[[nodiscard]] std::optional<std::chrono::microseconds> age_of(
    std::uint64_t token,
    std::uint64_t server_time
) noexcept;

/// The clients that are connected, by their ids.
using clients_by_id = std::map<std::string, client_info, std::less<>>;

/// Of the text of CLIENT LIST: a connection is called `<client_name>:<client id>`.
[[nodiscard]] clients_by_id clients_in(std::string_view client_list);
[[nodiscard]] client_info client_of(clients_by_id const& all, std::string_view holder);
/// Of a permit, whose id is made of the client's.
[[nodiscard]] client_info client_of_permit(clients_by_id const& all, std::string_view permit);

}  // namespace holdfast::cli

#endif
