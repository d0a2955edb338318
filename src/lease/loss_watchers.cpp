#include "lease/loss_watchers.hpp"

#include "lease/lease_shares.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::detail {

template <class Wanted>
loss_watchers::list loss_watchers::take_if(Wanted wanted) noexcept {
    list taken;
    for (auto before = watchers_.before_begin(); std::next(before) != watchers_.end();) {
        if (wanted(*std::next(before))) {
            taken.splice_after(taken.before_begin(), watchers_, before);
        } else {
            ++before;
        }
    }
    return taken;
}

bool loss_watchers::any_of(lease_share const& of) const noexcept {
    return std::any_of(watchers_.begin(), watchers_.end(), [&](watcher const& w) {
        return w.of == &of;
    });
}

loss_watchers::list loss_watchers::take_those_of(lease_share const& of) noexcept {
    return take_if([&](watcher const& w) { return w.of == &of; });
}

loss_watchers::list loss_watchers::take_those_not_kept() noexcept {
    return take_if([](watcher const& w) { return !w.of->kept_by; });
}

loss_watchers::list loss_watchers::take(std::uint64_t number) noexcept {
    return take_if([number](watcher const& w) { return w.number == number; });
}

void loss_watchers::tell(list& taken, error_code error, loss_reason reason) {
    for (auto& one : taken) {
        one.handler.complete(error, reason);
    }
}

}  // namespace holdfast::detail
