#include "ops/room_table.hpp"

#include "ops/acquire_op.hpp"
#include "ops/client_state.hpp"
#include "ops/waiting_room.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::detail {

namespace {

// A room that nobody waits in keeps its subscription this long: the next waiter of a busy lock is a
// moment away.
constexpr millis room_linger{500};

}  // namespace

void room_table::enter(std::shared_ptr<acquire_op> op) {
    auto at = rooms_.find(op->key()->lock);
    if (at == rooms_.end()) {
        auto made = std::make_shared<waiting_room>(client_, op->key());
        at = rooms_.emplace(op->key()->lock, std::move(made)).first;
    }
    auto const room = at->second;
    if (room->size() >= client_.settings().max_waiters) {
        op->end(errc::too_many_waiters);
        return;
    }
    room->join(std::move(op));
}

std::size_t room_table::waiters_of(std::string const& lock) const {
    auto const at = rooms_.find(lock);
    return at == rooms_.end() ? 0 : at->second->size();
}

void room_table::subscribe(waiting_room& room) {
    bool const shared = by_channel_.contains(room.key()->channel);
    by_channel_.emplace(room.key()->channel, &room);
    if (!shared) {
        client_.port()->subscribe(room.key()->channel);
        return;
    }
    // No confirmation comes for a channel that another room has subscribed to already.
    client_.on_strand([client = client_.shared_from_this(), this, joined = room.weak_from_this()] {
        auto const late = joined.lock();
        if (!late || late->confirmed()) {
            return;
        }
        auto const others = of_channel(late->key()->channel);
        if (std::any_of(others.begin(), others.end(), [](auto const& other) {
                return other->confirmed();
            })) {
            late->on_subscribed(false);
        }
    });
}

void room_table::on_room_empty(waiting_room& room) {
    if (room.subscribed()) {
        arm_sweep();
    } else {
        close(room);
    }
}

void room_table::close(waiting_room& room) {
    if (room.subscribed() && client_.port()) {
        auto const& channel = room.key()->channel;
        auto [at, end] = by_channel_.equal_range(channel);
        at = std::find_if(at, end, [&room](auto const& entry) { return entry.second == &room; });
        if (at != end) {
            by_channel_.erase(at);
            if (!by_channel_.contains(channel)) {
                client_.port()->unsubscribe(channel);
            }
        }
    }
    rooms_.erase(room.key()->lock);
}

void room_table::arm_sweep() {
    if (std::exchange(sweeping_, true)) {
        return;
    }
    if (!sweep_timer_) {
        sweep_timer_.emplace(client_.strand());
    }
    sleep_until(*sweep_timer_, lease_clock::now() + room_linger);
    sweep_timer_->async_wait([client = client_.shared_from_this(), this](error_code ec) {
        sweeping_ = false;
        if (!ec) {
            sweep();
        }
    });
}

void room_table::sweep() {
    auto const old = lease_clock::now() - room_linger;
    bool left = false;
    std::vector<std::shared_ptr<waiting_room>> ended;
    for (auto const& [channel, room] : by_channel_) {
        if (!room->empty()) {
            continue;
        }
        if (room->empty_since() <= old) {
            ended.push_back(room->shared_from_this());
        } else {
            left = true;
        }
    }
    for (auto const& room : ended) {
        close(*room);
    }
    if (left) {
        arm_sweep();
    }
}

std::vector<std::shared_ptr<waiting_room>> room_table::all() const {
    std::vector<std::shared_ptr<waiting_room>> rooms;
    rooms.reserve(rooms_.size());
    for (auto const& [name, room] : rooms_) {
        rooms.push_back(room);
    }
    return rooms;
}

std::vector<std::shared_ptr<waiting_room>> room_table::of_channel(std::string_view channel) const {
    std::vector<std::shared_ptr<waiting_room>> rooms;
    auto const [begin, end] = by_channel_.equal_range(channel);
    for (auto at = begin; at != end; ++at) {
        rooms.push_back(at->second->shared_from_this());
    }
    return rooms;
}

void room_table::on_commands_up() {
    for (auto const& room : all()) {
        room->on_commands_up();
    }
}

void room_table::on_commands_down() {
    for (auto const& room : all()) {
        room->on_commands_down();
    }
}

void room_table::on_notices_down() {
    for (auto const& room : all()) {
        room->on_notices_down();
    }
}

void room_table::on_subscribed(std::string_view channel, bool again) {
    for (auto const& room : of_channel(channel)) {
        room->on_subscribed(again);
    }
}

void room_table::on_subscribe_refused(std::string_view channel, error_code cause) {
    for (auto const& room : of_channel(channel)) {
        room->end_all(cause);
        close(*room);
    }
}

void room_table::on_notice(std::string_view channel) {
    for (auto const& room : of_channel(channel)) {
        room->on_news();
    }
}

void room_table::on_released(key_names const& key, bool told) {
    if (!told) {
        client_.count().refused_notices.add();
    }
    auto const at = rooms_.find(key.lock);
    if (at != rooms_.end() && (!told || !at->second->confirmed())) {
        auto const room = at->second;
        room->on_news();
    }
}

void room_table::end_all(error_code cause) {
    for (auto const& room : all()) {
        room->end_all(cause);
    }
}

void room_table::clear() noexcept {
    sweep_timer_.reset();
    by_channel_.clear();
    // Handlers in there may own the last reference to anything.
    auto const rooms = std::exchange(rooms_, {});
}

}  // namespace holdfast::detail
