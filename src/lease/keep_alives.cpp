#include "lease/keep_alives.hpp"

#include "runtime/strand_identity.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace holdfast::detail {

namespace {

// How many keep-alives of a context are compared if its executors are of an unusual kind: there may
// be one for each lease.
constexpr std::size_t most_compared = 8;

}  // namespace

std::size_t keep_alives::key_hash::operator()(key const& of) const noexcept {
    return std::hash<void const*>{}(of.context) ^ std::hash<void const*>{}(of.strand);
}

keep_alives::key keep_alives::key_of(guarded_executor const& executor) {
    return {&executor.context(), strand_identity(executor.get())};
}

std::shared_ptr<keep_alive> keep_alives::find(
    guarded_executor const& executor,
    sleeper& one,
    wake_time at
) {
    std::lock_guard const lock{mutex_};
    auto const found = running_.find(key_of(executor));
    if (found == running_.end()) {
        return {};
    }
    auto& all = found->second;
    auto const last =
        all.rbegin() + static_cast<std::ptrdiff_t>(std::min(all.size(), most_compared));
    auto const same = std::find_if(all.rbegin(), last, [&](auto const& each) {
        return each->is_on(executor.get()) && each->add(one, at);
    });
    if (same == last) {
        return {};
    }
    // One that many share stays among those that are compared.
    std::swap((*same)->place_, all.back()->place_);
    std::swap(*same, all.back());
    return all.back();
}

std::shared_ptr<keep_alive> keep_alives::add(
    guarded_executor const& executor,
    sleeper& one,
    wake_time at
) {
    if (auto found = find(executor, one, at)) {
        return found;
    }
    auto made = std::make_shared<keep_alive>(executor);
    list(made);
    static_cast<void>(made->add(one, at));
    // What does not start lets go of `one`, and of those that have joined it, and is unlisted.
    return made->start(shared_from_this()) ? made : nullptr;
}

void keep_alives::list(std::shared_ptr<keep_alive> const& made) {
    std::lock_guard const lock{mutex_};
    auto& all = running_[key_of(made->executor())];
    made->place_ = all.size();
    all.push_back(made);
}

void keep_alives::on_end(keep_alive const& ended) noexcept {
    std::shared_ptr<keep_alive> dropped;
    std::lock_guard const lock{mutex_};
    auto const found = running_.find(key_of(ended.executor()));
    if (found == running_.end()) {
        return;
    }
    auto& all = found->second;
    auto const place = ended.place_;
    if (place < all.size() && all[place].get() == &ended) {
        dropped = std::move(all[place]);
        all[place] = std::move(all.back());
        all.pop_back();
        if (place < all.size()) {
            all[place]->place_ = place;
        }
    }
    if (all.empty()) {
        running_.erase(found);
    }
}

}  // namespace holdfast::detail
