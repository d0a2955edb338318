#include "lease/loss_watchers.hpp"

#include <algorithm>

namespace holdfast::detail {

loss_watchers::list loss_watchers::take_those_of(lease_share const& of) noexcept {
    list taken;
    for (auto at = watchers_.begin(); at != watchers_.end();) {
        auto const here = at++;
        if (here->of == &of) {
            taken.splice(taken.end(), watchers_, here);
        }
    }
    return taken;
}

loss_watchers::list loss_watchers::take(std::uint64_t number) noexcept {
    list taken;
    auto const at = std::find_if(watchers_.begin(), watchers_.end(), [number](watcher const& w) {
        return w.number == number;
    });
    if (at != watchers_.end()) {
        taken.splice(taken.end(), watchers_, at);
    }
    return taken;
}

void loss_watchers::tell(list& taken, error_code error, loss_reason reason) {
    for_each_in_spite_of_exceptions(taken, [&](watcher& w) { w.handler.complete(error, reason); });
}

}  // namespace holdfast::detail
