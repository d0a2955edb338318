// How a client of a cluster learns where the slots are, and what it does when they move.

#include "core/lease_terms.hpp"
#include "protocol/scripts.hpp"
#include "redis/deployment/cluster_routes.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

namespace holdfast::detail {

namespace {

using purpose = connection_id::purpose;

// While something is missing the slots are asked for as often as this.
constexpr nanos look_interval = millis{300};
// What is heard within this time of a question is answered by one more.
constexpr nanos shortest_pause = millis{50};
// A client that has leases or waits asks for the slots as often as this, whatever it has heard.
constexpr nanos refresh_interval = millis{5'000};

}  // namespace

void cluster_routes::ask_for_slots(std::uint32_t server) {
    if (stopped_) {
        return;
    }
    if (asking_) {
        ask_again_ = server;
        return;
    }
    if (asked_at_ != time_point::min() && lease_clock::now() - asked_at_ < shortest_pause) {
        ask_again_ = server;
        look_soon();
        return;
    }
    std::uint32_t number = 0;
    auto* const by = nodes_->any_usable(server, number);
    if (!by) {
        // Perhaps those that the user named know.
        open_seeds();
        look_soon();
        return;
    }
    auto const& settings = *common_.settings;
    asking_ = true;
    asked_whom_ = number;
    ask_again_.reset();
    asked_at_ = lease_clock::now();
    by->exec(
        call{scripts::cluster_slots, request_timeout_for(settings, settings.lease)},
        [weak = weak_from_this(), number](exec_result result) {
            if (auto const self = weak.lock()) {
                self->on_slots_answered(number, result);
            }
        }
    );
}

void cluster_routes::on_slots_answered(std::uint32_t server, exec_result const& result) {
    asking_ = false;
    if (stopped_) {
        return;
    }
    if (result.status == exec_status::replied) {
        on_slots(server, result.reply);
    } else {
        // What made it ask goes on, and may not come again.
        ask_again_ = ask_again_.value_or(server);
        look_within(look_interval);
    }
    if (ask_again_) {
        look_soon();
    }
}

bool cluster_routes::something_is_missing() const {
    bool missing = !map_.complete();
    nodes_->for_each([&](std::uint32_t number, server& one) {
        missing = missing || (map_.is_primary(number) && !one.up(purpose::commands));
    });
    return missing;
}

void cluster_routes::look_soon() {
    look_within(ask_again_ && !something_is_missing() ? shortest_pause : look_interval);
}

void cluster_routes::look_within(nanos pause) {
    if (looking_ || stopped_) {
        return;
    }
    looking_ = true;
    sleep_until(look_timer_, lease_clock::now() + pause);
    look_timer_.async_wait([weak = weak_from_this()](error_code ec) {
        auto const self = weak.lock();
        if (!self || ec || self->stopped_) {
            return;
        }
        self->looking_ = false;
        bool const missing = self->something_is_missing();
        if (self->ask_again_ || missing) {
            self->ask_for_slots(self->ask_again_.value_or(0));
        }
        self->leave_unused();
        if (missing) {
            self->look_soon();
        }
    });
}

// Many slots may move at a time, and connections may be in the middle of something.
void cluster_routes::on_map_changed() {
    if (!std::exchange(settling_, true)) {
        later([this] {
            settling_ = false;
            if (!stopped_) {
                settle();
            }
        });
    }
}

void cluster_routes::settle() {
    auto const moves = map_.take_moves();
    want_again(moves);
    open_wanted();
    // Whoever took over from a server that was in use is in use.
    for (auto const& [first, last, from, to] : moves) {
        if (to && from && nodes_->find(*from) && !nodes_->find(*to)) {
            open(*to);
        }
    }
    ask_the_named();
    channels_->go_after_slots();
    leave_replaced();
    if (auto const any = map_.any_primary()) {
        auto const all = nodes_->numbers();
        if (std::none_of(all.begin(), all.end(), [this](auto each) {
                return map_.is_primary(each);
            })) {
            open(*any);
        }
    }
    for (auto const& which : std::exchange(untold_, {})) {
        events_->on_up(which);
    }
    tell_of_moves(moves);
    bool const complete = map_.complete();
    if (std::exchange(was_complete_, complete) != complete) {
        say_complete(complete);
    }
    events_->on_changed();
    leave_unused();
    if (something_is_missing()) {
        look_soon();
    }
}

// A cluster whose slots come and go fills no log.
void cluster_routes::say_complete(bool complete) {
    constexpr std::string_view gap = "the cluster does not serve all slots";
    if (complete) {
        common_.log->reset();
        common_.log->write(log_level::info, {}, {}, "the cluster serves all slots");
    } else {
        common_.log->write(log_level::warning, gap, {}, gap);
    }
}

void cluster_routes::want_again(std::vector<slot_map::move> const& moves) {
    for (auto const& [first, last, from, to] : moves) {
        if (!from || to || !nodes_->find(*from)) {
            continue;
        }
        for (std::size_t slot = first; slot <= last; ++slot) {
            wanted_.set(slot);
        }
    }
}

void cluster_routes::open_wanted() {
    for (std::uint16_t slot = 0; wanted_.any() && slot < slot_count; ++slot) {
        auto const to = wanted_[slot] ? map_.server_of(slot) : std::nullopt;
        if (to && open(*to).up(purpose::commands)) {
            wanted_.reset(slot);
        }
    }
}

// A server that is up already has slots now that it did not have.
void cluster_routes::tell_of_moves(std::vector<slot_map::move> const& moves) {
    slot_set there;
    for (auto const& [first, last, from, to] : moves) {
        auto* const lost = from && nodes_->find(*from) ? &lost_by_[*from] : nullptr;
        bool const usable = to && nodes_->usable(*to);
        for (std::size_t slot = first; slot <= last; ++slot) {
            if (lost) {
                lost->set(slot);
            }
            if (usable) {
                there.set(slot);
            }
        }
    }
    tell_moved(there);
}

// Slots whose server is not up yet are left out: `on_up` tells of these.
void cluster_routes::tell_of_lost(slot_set const& by_a_former_server) {
    slot_set there;
    for (std::uint16_t slot = 0; slot < slot_count; ++slot) {
        auto const to = by_a_former_server[slot] ? map_.server_of(slot) : std::nullopt;
        if (to && nodes_->usable(*to)) {
            there.set(slot);
        }
    }
    tell_moved(there);
}

void cluster_routes::tell_moved(slot_set const& these) {
    if (these.any()) {
        auto const kept = std::make_shared<slot_set>(these);
        events_->on_moved([kept](std::string_view key) { return kept->test(slot_of(key)); });
    }
}

// One that is connected to says it at once.
void cluster_routes::ask_the_named() {
    for (auto const number : map_.take_named()) {
        if (nodes_->usable(number)) {
            ask_for_slots(number);
        } else {
            awaited_.insert(number);
            open(number);
        }
    }
}

// Requests that a replaced server has not answered end, and are made again at its successor.
void cluster_routes::leave_replaced() {
    for (auto const number : std::exchange(replaced_, {})) {
        auto* const one = nodes_->find(number);
        if (one && !map_.is_primary(number)) {
            one->drop("another server has taken over");
        }
    }
}

void cluster_routes::leave_unused() {
    close_unused();
    forget_unnamed();
}

void cluster_routes::close_unused() {
    if (!map_.known() || !map_.any_primary()) {
        return;
    }
    std::uint32_t usable = 0;
    bool const searches = !nodes_->any_usable(0, usable);
    bool const left = nodes_->close_unused(idle_after_, [&](std::uint32_t number) {
        return map_.is_primary(number) || (searches && is_seed(number)) ||
               (awaited_.contains(number) && nodes_->within_reach(number));
    });
    if (left || !awaited_.empty()) {
        // No event tells when such a server is idle, or fails to answer.
        look_within(look_interval);
    }
}

// Where nodes come and go, each at a new address, what is known of them would grow for ever.
void cluster_routes::forget_unnamed() {
    if (settling_) {
        // What the map has to tell names servers. `settle` follows.
        return;
    }
    auto const forgotten = map_.forget_unless([this](std::uint32_t number) {
        return is_seed(number) || nodes_->find(number);
    });
    for (auto const number : forgotten) {
        events_->on_forgotten(number);
    }
}

void cluster_routes::leave_unless_primary(std::uint32_t server) {
    if (map_.is_primary(server)) {
        return;
    }
    later([this] {
        if (!stopped_) {
            leave_unused();
        }
    });
}

// One node after the other: the one that has lost its place may be the last to know.
void cluster_routes::refresh_later() {
    sleep_until(refresh_timer_, lease_clock::now() + refresh_interval);
    refresh_timer_.async_wait([weak = weak_from_this()](error_code ec) {
        auto const self = weak.lock();
        if (!self || ec || self->stopped_) {
            return;
        }
        auto const all = self->nodes_->numbers();
        // mutant: cluster-waiters-do-not-look
        bool const in_use = self->events_->has_leases() || !self->channels_->empty();
        if (in_use && !all.empty()) {
            self->ask_for_slots(all[self->refreshed_++ % all.size()]);
        }
        self->refresh_later();
    });
}

void cluster_routes::sweep_later() {
    sleep_until(sweep_timer_, lease_clock::now() + idle_after_ / 2);
    sweep_timer_.async_wait([weak = weak_from_this()](error_code ec) {
        auto const self = weak.lock();
        if (self && !ec && !self->stopped_) {
            self->leave_unused();
            self->sweep_later();
        }
    });
}

}  // namespace holdfast::detail
