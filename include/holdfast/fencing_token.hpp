#ifndef HOLDFAST_FENCING_TOKEN_HPP
#define HOLDFAST_FENCING_TOKEN_HPP

#include <compare>
#include <cstdint>

namespace holdfast {

/// A number that grows with every grant of one lock, over all its holders.
///
/// Send `value` along with each write to what the lock protects; let that store remember the
/// greatest value it has seen and refuse a smaller one. Then a holder that was paused past the end
/// of its lease cannot do harm. (M. Kleppmann, "How to do distributed locking", 2016.)
///
/// @par Thread safety   A value: distinct objects safe, shared objects safe unless assigned to.
struct fencing_token {
    /// 0 stands for "no token"; a granted token is at least 1 and less than 2^53.
    std::uint64_t value = 0;

    /// The greater one was granted later, if both are of the same lock.
    ///
    /// @par Errors   None.
    friend auto operator<=>(fencing_token const&, fencing_token const&) = default;
};

}  // namespace holdfast

#endif
