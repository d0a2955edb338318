#ifndef HOLDFAST_LEASE_LOSS_WATCHERS_HPP
#define HOLDFAST_LEASE_LOSS_WATCHERS_HPP

#include "runtime/pending_handler.hpp"

#include <holdfast/error.hpp>
#include <holdfast/lease_state.hpp>

#include <cstdint>
#include <forward_list>
#include <utility>

namespace holdfast::detail {

struct lease_share;

/// Those who wait for the loss of a tenure's leases. The tenure's mutex guards this list. A watcher
/// is taken out under the mutex, and told outside it.
class loss_watchers {
public:
    struct watcher {
        lease_share const* of;
        std::uint64_t number;
        pending_handler<error_code, loss_reason> handler;
    };
    // There are many leases, and few are watched.
    using list = std::forward_list<watcher>;

    /// For a watcher that is to be added; never zero.
    [[nodiscard]] std::uint64_t next_number() noexcept { return ++last_number_; }
    void add(watcher&& added) { watchers_.push_front(std::move(added)); }
    [[nodiscard]] bool any_of(lease_share const& of) const noexcept;
    // What is taken stands in the order in which it came.
    [[nodiscard]] list take_all() noexcept {
        watchers_.reverse();
        return std::exchange(watchers_, {});
    }
    /// Of those shares that are not looked after on their holder's executor.
    [[nodiscard]] list take_those_not_kept() noexcept;
    [[nodiscard]] list take_those_of(lease_share const& of) noexcept;
    /// Nobody, if it was taken before.
    [[nodiscard]] list take(std::uint64_t number) noexcept;

    /// Outside the mutex.
    static void tell(list& taken, error_code error, loss_reason reason);

private:
    template <class Wanted>
    [[nodiscard]] list take_if(Wanted wanted) noexcept;

    list watchers_;  // the newest first
    std::uint64_t last_number_ = 0;
};

}  // namespace holdfast::detail

#endif
