#include "lease/lease_shares.hpp"

#include "lease/holds.hpp"
#include "lease/tenure.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace holdfast::detail {

// A share of an owner who re-entered.
struct lease_shares::further_share final : lease_share,
                                           std::enable_shared_from_this<further_share> {
    further_share(std::shared_ptr<tenure> joined, guarded_executor const& executor)
        : lease_share{*joined, executor},
          keeps_alive{std::move(joined)} {}
    ~further_share() { of.shares_.forget(*this); }

    std::shared_ptr<tenure> keeps_alive;
};

std::optional<wake_time> lease_share::on_due() {
    auto const next = of.take_step(*this);
    if (next.kind == lease_fsm::step_kind::finish) {
        return std::nullopt;
    }
    return wake_time{next.until, next.from};
}

void lease_share::on_executor_gone() noexcept {
    of.on_executor_gone(*this);
}

std::shared_ptr<sleeper> lease_share::share() noexcept {
    return of.shares_.pointer_to(*this);
}

lease_shares::lease_shares(tenure& of, guarded_executor const& holder_executor)
    : first_{of, holder_executor} {
    shares_.push_back(first_);
}

lease_shares::shared_share lease_shares::make_further(
    std::shared_ptr<tenure> joined,
    guarded_executor const& holder_executor
) {
    return std::make_shared<further_share>(std::move(joined), holder_executor);
}

void lease_shares::remove(lease_share& leaving) noexcept {
    shares_.erase(shares_.iterator_to(leaving));
    if (shares_.empty()) {
        last_ = &leaving;
    }
}

lease_shares::shared_share lease_shares::pointer_to(lease_share& share) noexcept {
    if (&share == &first_) {
        return {of().shared_from_this(), &first_};
    }
    return static_cast<further_share&>(share).shared_from_this();
}

lease_share* lease_shares::renewing() noexcept {
    for (auto& share : shares_) {
        if (share.holder_executor) {
            return &share;
        }
    }
    return nullptr;
}

std::vector<std::weak_ptr<lease_group>> lease_shares::groups() const {
    std::vector<std::weak_ptr<lease_group>> all;
    for (auto const& share : shares_) {
        if (!share.member_of.expired()) {
            all.push_back(share.member_of);
        }
    }
    return all;
}

wake_time lease_shares::next_step_of(lease_share const& share) noexcept {
    std::lock_guard const guard{of().mutex()};
    auto const now = lease_clock::now();
    auto& fsm = of().fsm_;
    auto const next = renewing() == &share ? fsm.next(now) : fsm.watch(now);
    return next.kind == lease_fsm::step_kind::sleep ? wake_time{next.until, next.from} : now;
}

void lease_shares::start_keep_alive() {
    shared_share oldest;
    {
        std::lock_guard const guard{of().mutex()};
        if (auto* const share = renewing()) {
            oldest = pointer_to(*share);
        }
    }
    if (oldest) {
        start_keep_alive(oldest);
    }
}

void lease_shares::start_keep_alive(shared_share const& share) {
    guarded_executor executor;
    {
        std::lock_guard const guard{of().mutex()};
        if (share->kept || share->released || !share->holder_executor) {
            return;
        }
        share->kept = true;
        // mutant: renewed-for-a-holder-that-is-stuck
        executor = share->holder_executor;
    }
    auto const keeper = of().all_.keepers().add(executor, *share, next_step_of(*share));
    if (!keeper) {
        return;
    }
    bool over = false;
    {
        std::lock_guard const guard{of().mutex()};
        over = share->released || of().loss_told_;
        if (!over) {
            share->kept_by = keeper;
        }
    }
    if (over) {
        keeper->remove(*share);
    } else {
        // What has changed since then could not wake it.
        keeper->wake_at(*share, next_step_of(*share).at);
    }
}

// The oldest of the leases that are left may sleep, or may not be looked after yet.
void lease_shares::renew_elsewhere() {
    wake_renewing();
    start_keep_alive();
}

void lease_shares::wake_renewing() {
    shared_share sleeping;
    std::shared_ptr<keep_alive> keeper;
    {
        std::lock_guard const guard{of().mutex()};
        if (auto* const share = renewing()) {
            keeper = share->kept_by;
            sleeping = pointer_to(*share);
        }
    }
    if (keeper) {
        keeper->wake_at(*sleeping, time_point::min());
    }
}

// One at a time: executors are destroyed outside the mutex, because one may own its context.
void lease_shares::stop_keeping() noexcept {
    for (;;) {
        guarded_executor executor;
        std::shared_ptr<keep_alive> keeper;
        shared_share share;
        {
            std::lock_guard const guard{of().mutex()};
            auto const at = std::find_if(shares_.begin(), shares_.end(), [&](auto const& each) {
                return (each.kept_by && !each.tells) || each.holder_executor;
            });
            if (at == shares_.end()) {
                return;
            }
            std::swap(executor, at->holder_executor);
            if (!at->tells) {
                keeper.swap(at->kept_by);
            }
            share = pointer_to(*at);
        }
        if (keeper) {
            keeper->remove(*share);
        }
    }
}

void lease_shares::stop_keeping_unwatched() {
    for (;;) {
        std::shared_ptr<keep_alive> keeper;
        shared_share share;
        bool watched = false;
        {
            std::lock_guard const guard{of().mutex()};
            auto const at = std::find_if(shares_.begin(), shares_.end(), [](auto const& each) {
                return each.kept_by && !each.tells;
            });
            if (at == shares_.end()) {
                return;
            }
            share = pointer_to(*at);
            watched = of().watchers_.any_of(*at);
            if (watched) {
                at->tells = true;
                keeper = at->kept_by;
            } else {
                keeper.swap(at->kept_by);
            }
        }
        if (watched) {
            keeper->wake_at(*share, time_point::min());
        } else {
            keeper->remove(*share);
        }
    }
}

void lease_shares::forget(lease_share const& share) noexcept {
    std::lock_guard const guard{of().mutex()};
    if (last_ == &share) {
        last_ = nullptr;
    }
}

}  // namespace holdfast::detail
