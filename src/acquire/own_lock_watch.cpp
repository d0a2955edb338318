#include "acquire/own_lock_watch.hpp"

#include "acquire/acquisitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace holdfast::detail {

namespace {

constexpr nanos longest_silence = millis{5'000};

nanos patience_for(millis lease) noexcept {
    return std::min<nanos>(longest_silence, lease);
}

}  // namespace

time_point own_lock_watch::due(time_point started, millis lease) const noexcept {
    if (warned_) {
        return time_point::max();
    }
    return saturating_add(std::max(started, held_since_), patience_for(lease));
}

void own_lock_watch::look(
    acquisitions& by,
    target const& on,
    lease_terms const& terms,
    time_point started,
    time_point now
) {
    auto since = by.held().held_since(target_key{on});
    if (auto const other = on.speaks->other_side()) {
        since = std::min(since, by.held().held_since(target_key{on, *other}));
    }
    if (since > now - patience_for(terms.lease)) {
        held_since_ = std::min(since, now);
        return;
    }
    warned_ = true;
    using seconds = std::chrono::duration<double>;
    by.client().log(
        log_level::warning,
        {"held by its own client", on.lock},
        fmt::format(
            "an acquisition of \"{}\" has waited for {:.1f} s, and its own client ({}) has held "
            "the lock for {:.1f} s: does it wait for a lease of its own, or for one whose holder "
            "waits for it? An owner may acquire its lock again",
            escaped(on.lock),
            seconds{now - started}.count(),
            by.client().client_id(),
            seconds{now - since}.count()
        )
    );
}

}  // namespace holdfast::detail
