#ifndef HOLDFAST_ACQUIRE_OWN_LOCK_WATCH_HPP
#define HOLDFAST_ACQUIRE_OWN_LOCK_WATCH_HPP

#include "core/lease_terms.hpp"
#include "protocol/target.hpp"

namespace holdfast::detail {

class acquisitions;

/// Warns of an acquisition that waits for a lease which its own client has had for all that time:
/// perhaps the two wait for each other. Used on the client's strand.
class own_lock_watch {
public:
    /// When to look; never, if a warning was logged. `started`: when the acquisition began.
    [[nodiscard]] time_point due(time_point started, millis lease) const noexcept;
    void look(
        acquisitions& by,
        target const& on,
        lease_terms const& terms,
        time_point started,
        time_point now
    );
    /// Nobody waits any more.
    void reset() noexcept { *this = {}; }

private:
    bool warned_ = false;
    // When the lease began that was there at the last look, or that look if there was none.
    time_point held_since_ = time_point::min();
};

}  // namespace holdfast::detail

#endif
