#include "core/orphan_watch.hpp"

#include <utility>

namespace holdfast::detail {

void orphan_watch::on_seen(std::optional<orphan> what, time_point now) {
    if (what && what == seen_) {
        return;
    }
    seen_ = std::move(what);
    since_ = now;
}

time_point orphan_watch::due(nanos patience) const noexcept {
    return seen_ && patience > nanos{0} ? saturating_add(since_, patience) : time_point::max();
}

std::optional<orphan> orphan_watch::take(nanos patience, time_point now) {
    return now >= due(patience) ? std::exchange(seen_, std::nullopt) : std::nullopt;
}

}  // namespace holdfast::detail
