#include "protocol/channels.hpp"

#include <iterator>
#include <utility>

namespace holdfast::detail {

// One subscriber's place in a channel.
struct channels::part final : subscription::registration {
    part(std::weak_ptr<channels> in, subscriber& whom) : of{std::move(in)}, to{whom} {}
    ~part() override {
        if (auto const all = of.lock()) {
            all->remove(*this);
        }
    }

    std::weak_ptr<channels> of;
    subscriber& to;
    // Tells those who look at it later whether the subscriber is still there.
    std::shared_ptr<part*> self = std::make_shared<part*>(this);
    entries::iterator at{};
    std::list<part*>::iterator place{};
    bool listed = false;
    bool told = false;
};

subscription channels::add(std::string channel, subscriber& to) {
    auto made = std::make_unique<part>(weak_from_this(), to);
    // A channel without a subscriber would never be subscribed to: nothing throws between the two.
    std::list<part*> one{made.get()};
    auto const [at, first] = all_.try_emplace(std::move(channel));
    at->second.parts.splice(at->second.parts.end(), one);
    made->place = std::prev(at->second.parts.end());
    made->at = at;
    made->listed = true;
    if (first) {
        to_.subscribe(at->first);
    } else if (at->second.confirmed) {
        // The server confirms a channel once.
        to_.later([self = shared_from_this(), joined = listener{made->self}] {
            self->confirm_late(joined);
        });
    }
    return subscription{std::move(made)};
}

void channels::confirm_late(listener const& joined) {
    auto const late = joined.lock();
    if (!late || !(*late)->listed || !(*late)->at->second.confirmed) {
        return;
    }
    if (!std::exchange((*late)->told, true)) {
        (*late)->to.on_confirmed(false);
    }
}

void channels::remove(part& which) noexcept {
    if (!std::exchange(which.listed, false)) {
        return;
    }
    auto const at = which.at;
    at->second.parts.erase(which.place);
    if (at->second.parts.empty()) {
        auto const gone = all_.extract(at);
        try {
            to_.unsubscribe(gone.key());
        } catch (...) {
            // A destructor calls this. What still arrives on the channel finds nobody.
        }
    }
}

// Subscribers may go while others are told.
std::vector<channels::listener> channels::listeners(entry const& of) {
    std::vector<listener> all;
    all.reserve(of.parts.size());
    for (auto const* one : of.parts) {
        all.emplace_back(one->self);
    }
    return all;
}

template <class Tell>
void channels::tell(std::vector<listener> const& all, Tell how) {
    for (auto const& one : all) {
        if (auto const still = one.lock()) {
            how(**still);
        }
    }
}

void channels::on_confirmed(std::string_view channel) {
    auto const at = all_.find(channel);
    if (at == all_.end()) {
        return;
    }
    at->second.confirmed = true;
    bool const again = std::exchange(at->second.was_confirmed, true);
    tell(listeners(at->second), [again](part& one) {
        one.told = true;
        one.to.on_confirmed(again);
    });
}

void channels::on_refused(std::string_view channel, error_code cause) {
    auto const at = all_.find(channel);
    if (at == all_.end()) {
        return;
    }
    auto const refused = all_.extract(at);
    for (auto* const one : refused.mapped().parts) {
        one->listed = false;
    }
    tell(listeners(refused.mapped()), [cause](part& one) { one.to.on_refused(cause); });
}

void channels::on_notification(std::string_view channel, std::string_view message) {
    if (auto const at = all_.find(channel); at != all_.end()) {
        tell(listeners(at->second), [message](part& one) { one.to.on_notification(message); });
    }
}

void channels::on_down() {
    std::vector<listener> everybody;
    for (auto& [name, one] : all_) {
        one.confirmed = false;
        auto const here = listeners(one);
        everybody.insert(everybody.end(), here.begin(), here.end());
    }
    tell(everybody, [](part& one) {
        one.told = false;
        one.to.on_unconfirmed();
    });
}

void channels::on_unconfirmed(std::string_view channel) {
    auto const at = all_.find(channel);
    if (at == all_.end()) {
        return;
    }
    at->second.confirmed = false;
    tell(listeners(at->second), [](part& one) {
        one.told = false;
        one.to.on_unconfirmed();
    });
}

void channels::stop() noexcept {
    for (auto& [name, one] : all_) {
        for (auto* const each : one.parts) {
            each->listed = false;
        }
    }
    all_.clear();
}

std::vector<std::string> channels::names() const {
    std::vector<std::string> all;
    all.reserve(all_.size());
    for (auto const& [name, one] : all_) {
        all.push_back(name);
    }
    return all;
}

}  // namespace holdfast::detail
