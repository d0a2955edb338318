#include "ops/owner_table.hpp"

#include "ops/acquire_op.hpp"
#include "ops/grant.hpp"

#include <algorithm>
#include <functional>

namespace holdfast::detail {

std::size_t owner_table::hash::operator()(identity_view const& of) const noexcept {
    // The words are random already.
    return std::hash<std::string_view>{}(of.lock) ^ static_cast<std::size_t>(of.who.words()[0]);
}

owner_table::identity_view owner_table::identity_of(acquire_op const& op) noexcept {
    return {op.key()->lock, *op.who()};
}

owner_table::entry& owner_table::entry_of(acquire_op const& op) {
    auto const at = entries_.find(identity_of(op));
    if (at != entries_.end()) {
        return at->second;
    }
    return entries_.emplace(identity{op.key()->lock, *op.who()}, entry{}).first->second;
}

void owner_table::tidy(entries::iterator at) noexcept {
    if (!at->second.held && at->second.waiting.empty()) {
        entries_.erase(at);
    }
}

void owner_table::on_enter(std::shared_ptr<acquire_op> const& op) {
    if (op->who()) {
        entry_of(*op).waiting.push_back(op);
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
    auto const place = std::find_if(waiting.begin(), waiting.end(), [&op](auto const& one) {
        return one.lock().get() == &op;
    });
    if (place != waiting.end()) {
        waiting.erase(place);
        tidy(at);
    }
}

void owner_table::on_granted(acquire_op const& op, grant& held) {
    if (op.who()) {
        auto& granted = entry_of(op);
        owner_of_.emplace(&held, *op.who());
        // In the place of one that was lost and not yet released.
        granted.held = &held;
    }
}

void owner_table::on_forgotten(grant const& held) noexcept {
    auto const who = owner_of_.find(&held);
    if (who == owner_of_.end()) {
        return;
    }
    auto const at = entries_.find(identity_view{held.key()->lock, who->second});
    if (at != entries_.end() && at->second.held == &held) {
        at->second.held = nullptr;
        tidy(at);
    }
    owner_of_.erase(who);
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
        for (auto const& one : at->second.waiting) {
            if (auto waiting = one.lock()) {
                found.push_back(std::move(waiting));
            }
        }
    }
    return found;
}

void owner_table::clear() noexcept {
    entries_.clear();
    owner_of_.clear();
}

}  // namespace holdfast::detail
