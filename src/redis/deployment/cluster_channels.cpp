#include "redis/deployment/cluster_channels.hpp"

#include <utility>
#include <vector>

namespace holdfast::detail {

// Hands on what one server says of one channel.
class cluster_channels::relay final : public subscriber {
public:
    relay(cluster_channels& all, std::string channel) : all_{all}, channel_{std::move(channel)} {}

    // Lets go of a server that does not have the slot any more. True if it did.
    [[nodiscard]] bool leave() {
        auto const server = all_.to_.server_of(channel_);
        bool const leaves = there_ && server && *server != server_;
        if (leaves) {
            there_ = {};
        }
        return leaves;
    }
    // Subscribes where the slot is, if it is not subscribed to.
    void arrive() {
        auto const server = there_ ? std::nullopt : all_.to_.server_of(channel_);
        if (server) {
            server_ = *server;
            there_ = all_.to_.subscribe(server_, channel_, *this);
        }
    }
    void on_withdrawn(std::uint32_t by) noexcept {
        if (by == server_) {
            there_ = {};
        }
    }

private:
    void on_confirmed(bool) override { all_.listeners_->on_confirmed(channel_); }
    void on_unconfirmed() override { all_.listeners_->on_unconfirmed(channel_); }
    void on_notification(std::string_view message) override {
        all_.listeners_->on_notification(channel_, message);
    }
    void on_refused(error_code cause) override {
        // Somebody may want the channel again while they are told.
        auto const self = all_.relays_.extract(channel_);
        auto const channel = std::move(channel_);
        all_.listeners_->on_refused(channel, cause);
    }

    cluster_channels& all_;
    std::string channel_;
    subscription there_;
    std::uint32_t server_ = 0;
};

cluster_channels::cluster_channels(actions to)
    : to_{std::move(to)},
      listeners_{std::make_shared<channels>(channels::actions{
          .subscribe = [this](std::string const& channel) { on_wanted(channel); },
          .unsubscribe = [this](std::string const& channel) { on_unwanted(channel); },
          .later = to_.later,
      })} {}

cluster_channels::~cluster_channels() {
    stop();
}

subscription cluster_channels::add(std::string channel, subscriber& to) {
    return listeners_->add(std::move(channel), to);
}

void cluster_channels::on_wanted(std::string const& channel) {
    auto& made = relays_[channel];
    made = std::make_unique<relay>(*this, channel);
    made->arrive();
}

void cluster_channels::on_unwanted(std::string const& channel) {
    relays_.erase(channel);
}

void cluster_channels::on_withdrawn(std::uint32_t by, std::string_view channel) {
    if (auto const at = relays_.find(channel); at != relays_.end()) {
        at->second->on_withdrawn(by);
    }
}

void cluster_channels::go_after_slots() {
    // Whoever is told that a channel is unconfirmed may let go of it, and of others.
    std::vector<std::string> all;
    all.reserve(relays_.size());
    for (auto const& [channel, one] : relays_) {
        all.push_back(channel);
    }
    for (auto const& channel : all) {
        if (auto const at = relays_.find(channel); at != relays_.end() && at->second->leave()) {
            listeners_->on_unconfirmed(channel);
        }
        if (auto const at = relays_.find(channel); at != relays_.end()) {
            at->second->arrive();
        }
    }
}

void cluster_channels::stop() noexcept {
    listeners_->stop();
    relays_.clear();
}

}  // namespace holdfast::detail
