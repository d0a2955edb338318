#ifndef HOLDFAST_CLI_LOCK_ROW_HPP
#define HOLDFAST_CLI_LOCK_ROW_HPP

#include "cli/holder_connection.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// What kind of lock a name is, as far as the server can tell.
enum class row_kind : std::uint8_t {
    /// Also a fair lock that nobody waits for: it looks the same.
    lock,
    fair_lock,
    read_write_lock,
    semaphore,
    counting_semaphore,
    latch,
    /// A number, and a sign that a latch or a counting semaphore of ours changed it.
    counted,
    /// A number, which may be anything.
    number,
};
[[nodiscard]] std::string_view name_of(row_kind kind) noexcept;

struct holder_row {
    /// `<client id>:<number>`.
    std::string id;
    /// `read` or `write`, of a read/write lock.
    std::string side = {};
    /// None: it has no end.
    std::optional<std::chrono::milliseconds> remaining = {};
    std::uint64_t count = 1;
    /// Empty: its client has no connection to a server that was asked.
    holder_connection who = {};
};

/// What the server has under one name.
struct lock_row {
    std::string name;
    row_kind kind = row_kind::lock;
    /// The holder of a lock. Of a read/write lock the writer, and the reader that has it for
    /// longest. Those who have permits are not known.
    std::vector<holder_row> holders = {};
    /// How many have a read/write lock for reading.
    std::uint64_t readers = 0;
    /// Of a semaphore, the permits that are taken.
    std::int64_t taken = 0;
    /// The newest fencing token; zero: there is none.
    std::uint64_t token = 0;
    /// Since the newest token was taken. None: the token does not tell.
    std::optional<std::chrono::microseconds> age = {};
    /// How many clients wait in the server's queue, or listen for a message.
    std::uint64_t waiting = 0;
    /// Of a semaphore, the free permits; of a latch, the count.
    std::optional<std::int64_t> number = {};
    /// Of the server; for people.
    std::string server = {};
};

}  // namespace holdfast::cli

#endif
