#include "ops/owner_table.hpp"

#include "ops/acquire_op.hpp"
#include "ops/grant.hpp"

#include <algorithm>

namespace holdfast::detail {

std::size_t owner_table::identity_hash::operator()(identity const& of) const noexcept {
    // The words are random already.
    return std::hash<std::string>{}(of.lock) ^ static_cast<std::size_t>(of.who.words()[0]);
}

owner_table::identity owner_table::identity_of(acquire_op const& op) {
    return {op.key()->lock, *op.who()};
}

void owner_table::tidy(entries::iterator at) {
    if (!at->second.held && at->second.waiting.empty()) {
        entries_.erase(at);
    }
}

void owner_table::on_enter(acquire_op& op) {
    if (op.who()) {
        entries_[identity_of(op)].waiting.push_back(&op);
    }
}

void owner_table::on_leave(acquire_op& op) noexcept {
    if (!op.who()) {
        return;
    }
    auto const at = entries_.find(identity_of(op));
    if (at == entries_.end()) {
        return;
    }
    auto& waiting = at->second.waiting;
    auto const place = std::find(waiting.begin(), waiting.end(), &op);
    if (place != waiting.end()) {
        waiting.erase(place);
        tidy(at);
    }
}

void owner_table::on_granted(acquire_op const& op, grant& held) {
    if (op.who()) {
        owner_of_.emplace(&held, *op.who());
        // In the place of one that was lost and not yet released.
        entries_[identity_of(op)].held = &held;
    }
}

void owner_table::on_forgotten(grant const& held) noexcept {
    if (owner_of_.empty()) {
        return;
    }
    auto const who = owner_of_.find(&held);
    if (who == owner_of_.end()) {
        return;
    }
    auto const at = entries_.find({held.key()->lock, who->second});
    owner_of_.erase(who);
    if (at != entries_.end() && at->second.held == &held) {
        at->second.held = nullptr;
        tidy(at);
    }
}

grant* owner_table::held_by_owner_of(acquire_op const& op) const {
    if (!op.who()) {
        return nullptr;
    }
    auto const at = entries_.find(identity_of(op));
    return at == entries_.end() ? nullptr : at->second.held;
}

std::vector<std::shared_ptr<acquire_op>> owner_table::waiting_like(acquire_op const& op) const {
    std::vector<std::shared_ptr<acquire_op>> found;
    if (!op.who()) {
        return found;
    }
    if (auto const at = entries_.find(identity_of(op)); at != entries_.end()) {
        for (auto* const other : at->second.waiting) {
            found.push_back(other->shared_from_this());
        }
    }
    return found;
}

void owner_table::clear() noexcept {
    entries_.clear();
    owner_of_.clear();
}

}  // namespace holdfast::detail
