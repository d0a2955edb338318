#ifndef HOLDFAST_CORE_ORPHAN_WATCH_HPP
#define HOLDFAST_CORE_ORPHAN_WATCH_HPP

#include "core/lease_terms.hpp"

#include <optional>
#include <string>

namespace holdfast::detail {

/// A lock without an expiry: who has it, and how often, both as the server writes them.
struct orphan {
    std::string holder;
    std::string count;

    friend bool operator==(orphan const&, orphan const&) = default;
};

/// Since when a client has seen a lock without an expiry unchanged.
///
/// Time is an argument.
class orphan_watch {
public:
    /// An answer showed the lock; nothing if it is free or has an expiry.
    void on_seen(std::optional<orphan> what, time_point now);
    /// When a waiter with this patience may take the lock over. Zero: never.
    [[nodiscard]] time_point due(nanos patience) const noexcept;
    /// What was seen; nothing before it is due. A try that fails is not repeated at once: the time
    /// starts again.
    [[nodiscard]] std::optional<orphan> take(nanos patience, time_point now);

private:
    std::optional<orphan> seen_;
    time_point since_{};
};

}  // namespace holdfast::detail

#endif
