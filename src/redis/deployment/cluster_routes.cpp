#include "redis/deployment/cluster_routes.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace holdfast::detail {

namespace {

using purpose = connection_id::purpose;

}  // namespace

cluster_routes::cluster_routes(server_context common, nanos idle_after)
    : common_{std::move(common)},
      idle_after_{idle_after},
      look_timer_{common_.strand},
      sweep_timer_{common_.strand},
      refresh_timer_{common_.strand} {}

void cluster_routes::later(std::function<void()> f) {
    asio::post(common_.strand, [weak = weak_from_this(), f = std::move(f)] {
        if (auto const self = weak.lock()) {
            f();
        }
    });
}

void cluster_routes::start(backend_events& events) {
    events_ = &events;
    auto const soon = [weak = weak_from_this()](std::function<void()> f) {
        if (auto const self = weak.lock()) {
            self->later(std::move(f));
        }
    };
    if (!nodes_) {
        common_.cluster = std::shared_ptr<cluster_observer>{shared_from_this(), this};
        channels_ = std::make_unique<cluster_channels>(cluster_channels::actions{
            .server_of = [this](std::string_view channel) { return server_of(slot_of(channel)); },
            .subscribe =
                [this](std::uint32_t server, std::string channel, subscriber& to) {
                    return open(server).subscribe(std::move(channel), to);
                },
            .later = soon,
        });
        nodes_ = std::make_unique<cluster_nodes>(common_, *this, soon);
        sweep_later();
        refresh_later();
    }
    open_seeds();
}

void cluster_routes::stop() {
    stopped_ = true;
    look_timer_.cancel();
    sweep_timer_.cancel();
    refresh_timer_.cancel();
    if (nodes_) {
        nodes_->stop();
        channels_->stop();
    }
}

// All of them: the first that answers is enough, and those that are not needed are left.
void cluster_routes::open_seeds() {
    for (auto const& where : common_.settings->cluster_nodes) {
        open(map_.number_of(where));
    }
}

bool cluster_routes::is_seed(std::uint32_t server) const {
    auto const& seeds = common_.settings->cluster_nodes;
    return std::find(seeds.begin(), seeds.end(), map_.address(server)) != seeds.end();
}

// Subscriptions and connections

subscription cluster_routes::subscribe(std::string channel, subscriber& to) {
    return channels_ && !stopped_ ? channels_->add(std::move(channel), to) : subscription{};
}

bool cluster_routes::up(purpose what) const {
    bool any = false;
    if (nodes_ && map_.complete()) {
        nodes_->for_each([&](std::uint32_t number, server& one) {
            any = any || (map_.is_primary(number) && one.up(what));
        });
    }
    return any;
}

backend::obstacle cluster_routes::why_down() const {
    backend::obstacle found;
    bool usable = false;
    if (nodes_) {
        nodes_->for_each([&](std::uint32_t, server& one) {
            usable = usable || one.up(purpose::commands);
            auto const why = one.why_down();
            if (why.cause && (!found.cause || (why.permanent && !found.permanent))) {
                found = why;
            }
        });
    }
    if (usable) {
        // One that can be used says more than those that cannot.
        return map_.complete() ? backend::obstacle{} : backend::obstacle{errc::server_refused};
    }
    return found;
}

bool cluster_routes::reach(std::uint16_t slot) {
    auto const to = map_.server_of(slot);
    if (nodes_ && !stopped_ && to && open(*to).up(purpose::commands)) {
        return true;
    }
    wanted_.set(slot);
    return false;
}

std::optional<lease_clock::time_point> cluster_routes::silent_since(std::uint16_t slot) const {
    auto const to = server_of(slot);
    auto const* const one = to && nodes_ ? nodes_->find(*to) : nullptr;
    return one ? one->silent_since() : std::nullopt;
}

backend::obstacle cluster_routes::why_out_of_reach(std::uint16_t slot) const {
    auto const to = server_of(slot);
    auto const* const one = to && nodes_ ? nodes_->find(*to) : nullptr;
    return one ? one->why_down() : why_down();
}

backend::identity cluster_routes::who(std::uint32_t server) const {
    auto const* const one = nodes_ ? nodes_->find(server) : nullptr;
    return one ? one->who() : backend::identity{};
}

// What the nodes say

void cluster_routes::on_up(connection_id which) {
    if (which.what == purpose::commands) {
        lost_by_.erase(which.server);
        open_wanted();
        nodes_->on_up(which.server);
    }
    if (!map_.known()) {
        untold_.push_back(which);
        return;
    }
    events_->on_up(which);
    // Another one may have taken over from it while it was connected to.
    leave_unless_primary(which.server);
}

void cluster_routes::on_down(connection_id which) {
    if (std::erase(untold_, which) == 0) {
        events_->on_down(which);
    }
    if (which.what == purpose::commands) {
        if (auto lost = lost_by_.extract(which.server)) {
            // What was sent to it will have ended by then, and may be asked elsewhere at once.
            later([this, these = std::make_shared<slot_set>(lost.mapped())] {
                if (!stopped_) {
                    tell_of_lost(*these);
                }
            });
        }
    }
    leave_unless_primary(which.server);
    look_soon();
}

void cluster_routes::on_failure(connection_id which, error_code cause) {
    events_->on_failure(which, cause);
    look_soon();
}

void cluster_routes::on_unconnected(connection_id which, error_code cause, std::string_view text) {
    events_->on_unconnected(which, cause, text);
}

void cluster_routes::on_refused(refusal const& what) {
    events_->on_refused(what);
}

void cluster_routes::on_closed(std::uint32_t server) {
    awaited_.erase(server);
    lost_by_.erase(server);
    events_->on_closed(server);
}

void cluster_routes::on_slots(std::uint32_t server, script_reply const& slots) {
    if (stopped_ || !map_.knows(server)) {
        return;
    }
    awaited_.erase(server);
    auto const within_reach = [this](std::uint32_t number) { return nodes_->within_reach(number); };
    if (map_.on_answer(server, slots, within_reach)) {
        for (auto const& [from, to] : map_.take_successions()) {
            replaced_.insert(from);
            events_->on_failed_over(to);
        }
        on_map_changed();
    }
}

void cluster_routes::on_doubt(std::uint32_t server) {
    ask_for_slots(server);
    look_soon();
}

// It may have died a moment ago, and a replica be about to take over: it does not say so itself.
void cluster_routes::on_silent(std::uint32_t server) {
    std::uint32_t number = 0;
    if (stopped_ || !nodes_->any_usable_but(server, number)) {
        return;
    }
    if (asked_whom_ == server) {
        asking_ = false;
    }
    ask_for_slots(number);
}

void cluster_routes::on_channel_moved(
    std::uint32_t server,
    std::string_view channel,
    redirection const* where
) {
    if (stopped_) {
        return;
    }
    channels_->on_withdrawn(server, channel);
    if (!where) {
        // Whoever has lost the slot knows who has it.
        ask_for_slots(server);
        return;
    }
    on_slot_moved(server, where->slot, target_of(server, *where));
}

}  // namespace holdfast::detail
