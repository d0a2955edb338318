// What makes a server a node of a cluster.

#include "memory_server/redis_model.hpp"
#include "memory_server/server_state.hpp"

#include <utility>

namespace holdfast::memory {

void redis_model::set_cluster(cluster_view view) {
    auto before = std::exchange(state_->cluster, cluster_state{std::move(view)});
    auto& now = *state_->cluster;
    if (!before) {
        return;
    }
    now.leaving = std::move(before->leaving);
    now.coming = std::move(before->coming);
    std::erase_if(now.leaving, [&](auto const& one) { return !now.is_mine(one.first); });
    std::erase_if(now.coming, [&](auto const& one) { return now.is_mine(one.first); });
    // A replica is a server of another primary then.
    state_->withdraw_channels([&](std::uint16_t slot) {
        return before->serves(slot) && before->view.owners[slot] != now.view.owners[slot];
    });
}

std::optional<cluster_view> redis_model::cluster() const {
    return state_->cluster ? std::optional{state_->cluster->view} : std::nullopt;
}

void redis_model::share_data(redis_model const& with) {
    state_->data = with.state_->data;
}

void redis_model::set_moving(std::shared_ptr<moving_slot> what) {
    auto& own = *state_->cluster;
    auto& where = what->from == own.view.self ? own.leaving : own.coming;
    auto const slot = what->slot;
    where[slot] = std::move(what);
}

std::vector<std::string> redis_model::keys_to_move(moving_slot const& what) const {
    auto const names = keys_to_come(*state_, what);
    return {names.begin(), names.end()};
}

void redis_model::obey(session_id session) {
    if (auto const at = state_->sessions.find(session); at != state_->sessions.end()) {
        at->second.obeyed = true;
    }
}

void redis_model::set_bus(message_bus to) {
    state_->bus = std::move(to);
}

void redis_model::deliver(bool sharded, std::string_view channel, std::string_view message) {
    state_->deliver(sharded, channel, message);
}

void redis_model::set_data_of(
    data_copy const& what,
    std::function<bool(std::string_view key)> const& these
) {
    auto& own = state_->databases();
    for (std::size_t i = 0; i < own.size(); ++i) {
        for (auto const& key : keys(static_cast<int>(i))) {
            if (these(key)) {
                own[i].erase(key);
            }
        }
        for (auto const& [key, content] : (*what)[i].entries()) {
            if (these(key)) {
                own[i].put(key, content);
            }
        }
    }
    state_->sweep();
}

}  // namespace holdfast::memory
