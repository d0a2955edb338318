#ifndef HOLDFAST_RUNTIME_RANDOM_POOL_HPP
#define HOLDFAST_RUNTIME_RANDOM_POOL_HPP

#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast::detail {

/// Random bits of the operating system, fetched in blocks: one system call serves many holder ids.
/// A process that was forked draws anew, so that it never repeats the ids of its parent.
///
/// Not thread-safe.
class random_pool {
public:
    /// 64 bits. @throws std::system_error if the system has no random bits to give.
    [[nodiscard]] std::uint64_t next();

private:
    std::array<std::uint64_t, 32> words_{};
    std::size_t used_ = words_.size();
    std::uint64_t forks_ = 0;
};

}  // namespace holdfast::detail

#endif
