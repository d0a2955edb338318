#include "lease/owner_table.hpp"

namespace holdfast::detail {

void owner_table::on_granted(target const& on, std::optional<owner> const& who, tenure& granted) {
    if (!who) {
        return;
    }
    owned const key{target_key{on}, *who};
    owners_.emplace(&granted, *who);
    // The key of one that was lost points to a name that goes with it.
    tenures_.erase(key);
    tenures_.emplace(key, &granted);
}

void owner_table::on_forgotten(target const& on, tenure const& of) noexcept {
    auto const who = owners_.find(&of);
    if (who == owners_.end()) {
        return;
    }
    auto const at = tenures_.find({target_key{on}, who->second});
    if (at != tenures_.end() && at->second == &of) {
        tenures_.erase(at);
    }
    owners_.erase(who);
}

tenure* owner_table::find(target_key const& on, owner const& who) const {
    auto const at = tenures_.find({on, who});
    return at == tenures_.end() ? nullptr : at->second;
}

void owner_table::clear() noexcept {
    tenures_.clear();
    owners_.clear();
}

}  // namespace holdfast::detail
