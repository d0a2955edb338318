// Servers that are the nodes of a cluster.

#include "simulation/deployment.hpp"
#include "simulation/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::sim {

using memory::cluster_view;

cluster_view server::add_nodes() {
    cluster_view truth;
    for (std::size_t i = 0; i < cluster_nodes; ++i) {
        truth.nodes.push_back({fmt::format("node-{}", i), 6379});
        if (i == 0) {
            // It has been there from the beginning.
            primary_->host = truth.nodes[0].host;
        } else {
            add(truth.nodes[i].host, 6379, false);
        }
    }
    truth.nodes[1].replica_of = 0;
    auto const half = truth.owners.begin() + detail::slot_count / 2;
    std::fill(truth.owners.begin(), half, std::uint8_t{0});
    std::fill(half, truth.owners.end(), static_cast<std::uint8_t>(cluster_nodes - 1));
    return truth;
}

void server::make_cluster(cluster_view truth) {
    replicates_ = true;
    told_apart_ = true;
    truth_ = std::move(truth);
    for (auto const& one : machines_) {
        auto& data = data_of(*one);
        one->is_member = !truth_->nodes[one->number].replica_of;
        new_process(*one);
        data.set_replica(!one->is_member);
        if (one->is_member) {
            data.share_data(primary_->data);
        }
        data.set_bus([this, from = one.get()](auto sharded, auto channel, auto message) {
            send_over_bus(*from, sharded, channel, message);
        });
        tell(*one);
    }
    written_.push_back(data().copy_data());
}

machine& server::owner_of(std::string_view key) noexcept {
    return truth_ ? *machines_[truth_->owners[detail::slot_of(key)]] : *primary_;
}

machine& server::other_primary(machine const& but) noexcept {
    return **std::find_if(machines_.begin(), machines_.end(), [&](auto const& one) {
        return one->is_member && one.get() != &but;
    });
}

// A replica has got all that it was sent with the slot.
void server::give_slot(std::uint16_t slot, machine& to) {
    truth_->owners[slot] = static_cast<std::uint8_t>(to.number);
    written_.assign(1, data().copy_data());
}

void server::tell(machine& which) {
    if (truth_) {
        auto view = *truth_;
        view.self = which.number;
        which.data.set_cluster(std::move(view));
    }
}

// It has all but some writes of the slots of the primary whose place it takes.
void server::promote_node(machine& to, redis_model::data_copy const& what) {
    auto& old = *primary_;
    auto const mine = static_cast<std::uint8_t>(old.number);
    data_of(to).set_data(data().copy_data());
    to.data.set_data_of(what, [&](std::string_view key) {
        return truth_->owners[detail::slot_of(key)] == mine;
    });
    std::replace(
        truth_->owners.begin(),
        truth_->owners.end(),
        mine,
        static_cast<std::uint8_t>(to.number)
    );
    truth_->nodes[to.number].replica_of.reset();
    truth_->nodes[old.number].replica_of = to.number;
    old.is_member = false;
    to.is_member = true;
    for (auto const& one : machines_) {
        if (one->is_member && one.get() != &to) {
            one->data.share_data(to.data);
        }
    }
    tell(to);
}

void server::send_over_bus(
    machine const& from,
    bool sharded,
    std::string_view channel,
    std::string_view message
) {
    auto const& nodes = truth_->nodes;
    for (auto const& one : machines_) {
        bool const related = nodes[one->number].replica_of == from.number ||
                             nodes[from.number].replica_of == one->number;
        if (one.get() == &from || (sharded && !related)) {
            continue;
        }
        auto& to = *one;
        auto deliver = [&to, sharded, on = std::string{channel}, text = std::string{message}] {
            if (to.up && !to.paused) {
                to.data.deliver(sharded, on, text);
            }
        };
        in_.after(in_.dice().any_scale(20us, 20ms), std::move(deliver));
    }
}

void server::publish(std::string_view channel, std::string_view message) {
    for (auto const& one : machines_) {
        if (counts(*one)) {
            one->data.deliver(false, channel, message);
            one->data.deliver(true, channel, message);
        }
    }
}

std::size_t server::subscribers(std::string_view channel) const {
    if (executing_) {
        return executing_->data.subscribers(channel);
    }
    std::size_t sum = 0;
    for (auto const& one : machines_) {
        sum += counts(*one) ? one->data.subscribers(channel) : 0;
    }
    return sum;
}

bool server::subscriptions_are_left() const {
    return std::any_of(machines_.begin(), machines_.end(), [this](auto const& one) {
        return counts(*one) && one->data.subscriptions() != 0 && !has_half_open(*one);
    });
}

void server::step_clock(nanos by) noexcept {
    for (auto const& one : machines_) {
        if (truth_ || one.get() == primary_) {
            one->clock_offset += by;
        }
    }
}

}  // namespace holdfast::sim
