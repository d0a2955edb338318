#ifndef HOLDFAST_READ_WRITE_LOCK_HPP
#define HOLDFAST_READ_WRITE_LOCK_HPP

#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/named_lock.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

/// The side of a `read_write_lock` on which many may have it at a time.
///
/// The readers of one client share holds on the server: one that comes while others of its client
/// read, and nobody waits to write, has its lease without a command. Each lease has its own
/// deadline, renewal and loss. Leases that share a hold have the same token. It is greater than
/// that of each writer before them.
///
/// A read lease is renewed every 10 s at least, however long it is: the watchdog of a Java reader
/// sets the time to live of the whole lock to `lockWatchdogTimeout`, 30 s by default, and the lock
/// would end with that reader if nobody raised it again. Where Java programs use a shorter
/// time-out, take read leases that are renewed within a third of it. A read lease that is not
/// renewed may be cut short by such a reader.
///
/// Of an owner that holds the lock for writing, a read lease is granted at once. When the write
/// lease is released first, others may read beside it.
///
/// `inspect()`: `held` if somebody reads; `holder` is the reader whose lease ends last.
/// `force_release()` takes the lock from all readers.
class HOLDFAST_EXPORT read_lock : public named_lock<read_lock> {
private:
    friend class client;
    read_lock(std::shared_ptr<detail::client_state> client, std::string_view name);
};

/// The side of a `read_write_lock` on which one may have it, while nobody reads.
///
/// An owner that holds the lock for reading, and not for writing, gets `errc::would_deadlock` at
/// once: it would wait for itself.
///
/// `inspect()`: `held` if somebody writes. `force_release()` takes the lock from the writer, and
/// what its owner has for reading.
class HOLDFAST_EXPORT write_lock : public named_lock<write_lock> {
private:
    friend class client;
    write_lock(std::shared_ptr<detail::client_state> client, std::string_view name);
};

/// A lock that many may have for reading, or one for writing; compatible with Redisson's
/// `RReadWriteLock`.
///
/// Those that wait in C++ programs are served in the order in which they came, so that neither
/// readers nor writers starve: while a writer waits, readers that come later wait, too. On each
/// side all waiters of a client have one place, which they keep by asking again
/// (`config::waiter_patience`). `try_acquire()` never has a place, and gets nothing that somebody
/// waits for. Java programs take no notice of that order.
///
/// It is a cheap value like its two sides, which have the operations of a `lock`. A `lock` of the
/// same name is another thing under the same key, and reports `errc::corrupt_state`, as this does
/// then.
///
/// @par Thread safety   Distinct objects: safe. Shared objects: safe, except moving and assignment.
class read_write_lock {
public:
    /// The side of those who read. Sends nothing.
    ///
    /// @par Errors   None.
    [[nodiscard]] read_lock read() const { return read_; }

    /// The side of those who write. Sends nothing.
    ///
    /// @par Errors   None.
    [[nodiscard]] write_lock write() const { return write_; }

    /// As that of its sides: see `named_lock::name()`.
    [[nodiscard]] std::string const& name() const noexcept { return read_.name(); }

private:
    friend class client;
    read_write_lock(read_lock read, write_lock write) noexcept
        : read_{std::move(read)},
          write_{std::move(write)} {}

    read_lock read_;
    write_lock write_;
};

}  // namespace holdfast

#endif
