#ifndef HOLDFAST_DETAIL_PATIENCE_HPP
#define HOLDFAST_DETAIL_PATIENCE_HPP

namespace holdfast::detail {

/// How long an acquisition waits for a lock that is held.
enum class patience { unlimited, one_attempt, limited };

}  // namespace holdfast::detail

#endif
