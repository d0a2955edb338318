#ifndef HOLDFAST_TEST_HISTORY_EVENT_HPP
#define HOLDFAST_TEST_HISTORY_EVENT_HPP

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::history {

using nanos = std::chrono::nanoseconds;

/// An instant of `lease_clock`, in ns: one clock for all processes of a machine.
using instant = std::int64_t;

/// The limit of an acquisition that waits for as long as it takes.
inline constexpr std::int64_t unlimited = -1;

/// What may be written down. Behind each: the members of `event` that it uses besides `at`.
enum class happening {
    // Said by a worker of itself: process, op, lock, and
    invoke,     // an acquisition begins: limit, owner (0: none), permits, word: the way
    granted,    // it has its lease: token, deadline
    no_lease,   // it ended without one, as it was asked to: word: "busy" or "cancelled"
    failed,     // it ended with an error: word
    moved,      // the deadline has moved: deadline
    looked,     // the lease said that it is valid, though it should not: deadline
    renew,      // an explicit renewal begins
    renewed,    // and ends: word: "ok" or the error
    lost,       // the holder was told: word: the reason
    releasing,  // the lease is about to be given up: deadline
    released,   // the answer to that: word: "ok" or the error
    stalled,    // (process) its event loop stood still: since; limit: the processor time it had
                // meanwhile, in ns
    observes,   // an observer of an election begins; op is its number
    observed,   // it saw a leader: token: the term, owner: the process that the value names

    // Said by the resource: process, op, lock, token, flags
    read,
    written,

    // Said by the conductor:
    fault,        // begins: word
    healed,       // it is over
    calm,         // from now on nothing is in the way of a hand-over
    data_lost,    // the server lost its data: since; word: "permits" if it lost only which permits
                  // are taken, and knows how many there are
    failed_over,  // these locks have another server, which may lack what was written last: since,
                  // locks, deadline: the former one granted nothing after that
    switched,     // these locks have another server, which has all that was written: since, locks;
                  // word: "failover" or "migration"
    no_majority,  // too few nodes of a quorum could grant anything: since; deadline: until then too
                  // few of them answered
    redirected,   // requests were sent to a server that does not have their locks: limit: how many;
                  // word: "late" if each client could know better
    paused,       // a worker was stopped until now: process, since
    killed,       // a worker is dead: process
    clock_moved,  // the wall clock against `lease_clock`: limit: by how much, in ns
    unclean,      // there was something before anything began: word
    left_behind,  // something is left although nobody wants a lock any more: word
    stuck,        // a worker did not come to an end: process, word
    died,         // a worker ended by itself: process, word
};

/// @{
/// Flags of what the resource says: it took the access; a write undid what its grant had not read;
/// it would have, if nobody had looked at tokens.
inline constexpr std::int64_t was_accepted = 1;
inline constexpr std::int64_t undid_another = 2;
inline constexpr std::int64_t undid_without_token = 4;
/// @}

struct event {
    instant at = 0;
    happening what = happening::fault;
    std::int64_t process = 0;
    std::int64_t op = 0;  // unique in its process
    std::int64_t lock = -1;
    std::int64_t token = 0;  // 0: it is not known
    instant deadline = 0;
    instant since = 0;
    std::int64_t limit = 0;
    std::int64_t owner = 0;
    std::int64_t flags = 0;
    std::int64_t locks = 0;    // a set of them, as bits; 0: all
    std::int64_t permits = 0;  // how many of a semaphore are wanted; 0: it is a lock
    std::string word{};        // without spaces

    bool operator==(event const&) const = default;
};

std::string_view name_of(happening what);

/// One line, without its end: `AT WHAT member=value ...`; members that have their default are left
/// out.
std::string to_line(event const& e);

/// A history that cannot be read proves nothing.
struct unreadable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws `unreadable`, with the line in it, when it is not one.
event parse_line(std::string_view line);

/// Appends events to a file, each in one write, so that nothing is lost with the process.
/// Thread-safe.
class history_file {
public:
    explicit history_file(std::filesystem::path const& path);
    history_file(history_file const&) = delete;
    history_file& operator=(history_file const&) = delete;
    ~history_file();

    void add(event const& e);

private:
    std::mutex mutex_;
    int descriptor_;
};

/// Reads what is added to such a file, and gives the space of what it has read back to the system.
/// The file may not be there yet.
class history_reader {
public:
    explicit history_reader(std::filesystem::path path) : path_{std::move(path)} {}

    /// The events since the last call. A line without an end stays for the next one. Throws
    /// `unreadable`.
    std::vector<event> read();

private:
    std::filesystem::path path_;
    std::uintmax_t read_ = 0;
};

}  // namespace holdfast::history

#endif
