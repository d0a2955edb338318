#ifndef HOLDFAST_FENCING_TOKEN_HPP
#define HOLDFAST_FENCING_TOKEN_HPP

#include <compare>
#include <cstdint>
#include <string>

namespace holdfast {

/// A number that grows with every grant of one lock, over all its holders.
///
/// A holder that was paused past the end of its lease does not notice, and goes on. The store that
/// the lock protects can refuse it, if it remembers the greatest token that it was shown and is
/// shown the token before it is read:
///
/// 1. Claim: store `value` as the greatest token. If a greater one is there, stop.
/// 2. Read, and decide what to write.
/// 3. Write, in one step with a check that the greatest token is still `value`. If not, stop.
///
/// A check of the writes alone is not enough: the write of a paused holder may be accepted after
/// its successor has read and before the successor writes. (M. Kleppmann, "How to do distributed
/// locking", 2016.)
///
/// @par Thread safety   A value: distinct objects safe, shared objects safe unless assigned to.
struct fencing_token {
    /// 0 means "no token". A granted token is at least 1 and less than 2^53.
    std::uint64_t value = 0;

    /// Of two tokens of the same lock, the greater one was granted later.
    ///
    /// @par Errors   None.
    friend auto operator<=>(fencing_token const&, fencing_token const&) = default;
};

/// The value in decimal.
///
/// @par Thread safety   Safe.
/// @par Errors          None.
[[nodiscard]] inline std::string to_string(fencing_token token) {
    return std::to_string(token.value);
}

}  // namespace holdfast

#endif
