#include "client/look_loop.hpp"

#include "client/client_state.hpp"
#include "core/backoff.hpp"

#include <algorithm>

namespace holdfast::detail {

look_loop::look_loop(std::shared_ptr<client_state> client, std::shared_ptr<target const> on)
    : client_{std::move(client)},
      on_{std::move(on)},
      fsm_{
          client_->settings().fallback_poll_interval,
          client_->settings().reconnect_min,
          std::max<nanos>(client_->settings().reconnect_max, backoff::refusals)
      } {}

void look_loop::update() {
    auto const self = shared_from_this();
    if (!wanted()) {
        return;
    }
    if (!may_look()) {
        fsm_.on_disconnected();
        return;
    }
    auto const now = lease_clock::now();
    if (auto const at = fsm_.attempt_at(); at && *at <= now) {
        fsm_.on_attempt_sent(now);
        look(now);
    } else if (at) {
        arm(*at);
    }
}

void look_loop::arm(time_point at) {
    if (!timer_) {
        timer_.emplace(client_->strand());
    }
    sleep_until(*timer_, at);
    timer_->async_wait([weak = weak_from_this(), client = client_](error_code ec) {
        if (auto const self = weak.lock(); self && !ec) {
            self->update();
        }
    });
}

void look_loop::listen(std::string_view name) {
    auto at = std::ranges::find(channels_, name, &channel::name);
    if (at == channels_.end()) {
        at = channels_.emplace(at, *this, name);
    }
    if (!at->listens) {
        at->listens = client_->subscribe(at->name, *at);
    }
}

bool look_loop::listens() const noexcept {
    auto const asked = [](channel const& one) { return static_cast<bool>(one.listens); };
    return !channels_.empty() && std::ranges::all_of(channels_, asked);
}

bool look_loop::confirmed() const noexcept {
    return !channels_.empty() && std::ranges::all_of(channels_, &channel::confirmed);
}

void look_loop::on_news() {
    fsm_.on_news();
    update();
}

void look_loop::on_connected(nanos delay) {
    fsm_.on_connected(delay, lease_clock::now());
    update();
}

void look_loop::clear() noexcept {
    timer_.reset();
    channels_.clear();
}

void look_loop::channel::on_confirmed(bool again) {
    confirmed = true;
    if (of.confirmed()) {
        auto const spread = again ? wait_queue_fsm::longest_jitter : nanos{0};
        auto const delay = scaled(spread, of.client_->random_part());
        of.fsm_.on_subscribed(delay, lease_clock::now());
        of.update();
    }
}

void look_loop::channel::on_unconfirmed() {
    confirmed = false;
    of.fsm_.on_unsubscribed(lease_clock::now());
    of.update();
}

// The next operation that waits subscribes again.
void look_loop::channel::on_refused(error_code cause) {
    auto const self = of.shared_from_this();
    auto const refused = std::exchange(listens, {});
    confirmed = false;
    of.end_all(cause);
}

void look_loop::channel::on_notification(std::string_view) {
    of.notified_ = true;
    of.on_news();
}

void look_loops::add(std::shared_ptr<look_loop> one) {
    auto& listed = *one;
    if (listed.listed_) {
        return;
    }
    listed.listed_ = all_.insert(all_.end(), std::move(one));
}

bool look_loops::remove(look_loop& one) {
    auto const at = std::exchange(one.listed_, std::nullopt);
    if (at) {
        all_.erase(*at);
    }
    return at.has_value();
}

void look_loops::for_each(
    client_context::some const& those,
    std::function<void(look_loop&)> const& f
) const {
    auto const all = all_;
    for (auto const& one : all) {
        if (those(*one->on())) {
            f(*one);
        }
    }
}

void look_loops::on_connected(client_context& client, client_context::some const& those) {
    auto const spread = std::max(spread_of(all_.size()), wait_queue_fsm::longest_jitter);
    for_each(those, [&](look_loop& one) {
        one.on_connected(scaled(spread, client.random_part()));
    });
}

void look_loops::on_disconnected(client_context::some const& those) {
    for_each(those, [](look_loop& one) { one.on_disconnected(); });
}

void look_loops::end_all(error_code cause, client_context::some const& those) {
    for_each(those, [cause](look_loop& one) { one.end_all(cause); });
}

// Handlers may own the last reference to anything.
void look_loops::clear() noexcept {
    auto const all = std::exchange(all_, {});
    for (auto const& one : all) {
        one->listed_.reset();
        one->clear();
    }
}

}  // namespace holdfast::detail
