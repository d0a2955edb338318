#ifndef HOLDFAST_CLI_LOCK_ROW_HPP
#define HOLDFAST_CLI_LOCK_ROW_HPP

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

/// Who is behind a holder id: the client's connection to the server.
struct client_info {
    /// The client's name, without its id. Empty: it has no connection to that server, or cannot be
    /// told from others.
    std::string program = {};
    std::string address = {};
};

struct holder_row {
    /// `<client id>:<number>`; of a semaphore, the permit's id in hex digits.
    std::string id;
    /// `read` or `write`, of a read/write lock.
    std::string side = {};
    /// None: it has no end.
    std::optional<std::chrono::milliseconds> remaining = {};
    std::uint64_t count = 1;
    client_info who = {};
};

struct waiter_row {
    /// The holder id that it will have.
    std::string id;
    client_info who = {};
};

/// What the server has under one name.
struct lock_row {
    std::string name;
    row_kind kind = row_kind::lock;
    /// Empty: it is free.
    std::vector<holder_row> holders = {};
    /// The newest fencing token; zero: there is none.
    std::uint64_t token = 0;
    /// Since the newest token was taken. None: the token does not tell.
    std::optional<std::chrono::microseconds> age = {};
    /// How many clients wait in the server's queue, or listen for a message. The first of them
    /// follow.
    std::uint64_t waiting = 0;
    std::vector<waiter_row> waiters = {};
    /// Of a semaphore, the free permits; of a latch, the count.
    std::optional<std::int64_t> number = {};
    /// Of the server; for people.
    std::string server = {};

    /// There is nothing under the name itself: somebody waits, and that is all.
    [[nodiscard]] bool is_bare() const noexcept { return holders.empty() && !number; }
};

}  // namespace holdfast::cli

#endif
