#ifndef HOLDFAST_SEMAPHORE_INFO_HPP
#define HOLDFAST_SEMAPHORE_INFO_HPP

#include <cstddef>
#include <cstdint>
#include <optional>

namespace holdfast {

/// What `semaphore::inspect()` found.
struct semaphore_info {
    /// How many permits there are. Empty if the server has no number: see `semaphore::limit()`.
    /// After the server lost which permits are acquired, it is more than `available` and `acquired`
    /// together, until the longest lease has passed.
    std::optional<std::int64_t> limit;
    /// How many can be had now. Negative if a Java program made the limit smaller while more were
    /// taken.
    std::int64_t available = 0;
    /// How many are taken. Those of a holder that died count until its lease ends.
    std::int64_t acquired = 0;
    /// The number of places in the server's queue: each client has one for each number of permits
    /// that its operations wait for. Waiters of Java programs have none.
    std::size_t waiting = 0;
    /// The number of operations of this client that wait for permits of this semaphore.
    std::size_t local_waiters = 0;
};

}  // namespace holdfast

#endif
