#ifndef HOLDFAST_REDIS_DEPLOYMENT_CLUSTER_CHANNELS_HPP
#define HOLDFAST_REDIS_DEPLOYMENT_CLUSTER_CHANNELS_HPP

#include "protocol/channels.hpp"
#include "protocol/subscription.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::detail {

/// Who listens to which channel of a cluster. Each channel is subscribed to on the server that has
/// its slot, and goes with the slot. Used on the client's strand.
class cluster_channels {
public:
    struct actions {
        /// The number of the server that has the channel's slot. None: it is not known.
        std::function<std::optional<std::uint32_t>(std::string_view channel)> server_of;
        /// Subscribes there.
        std::function<subscription(std::uint32_t server, std::string channel, subscriber& to)>
            subscribe;
        /// Calls a function in a later turn of the client's strand.
        std::function<void(std::function<void()>)> later;
    };

    explicit cluster_channels(actions to);
    ~cluster_channels();

    [[nodiscard]] subscription add(std::string channel, subscriber& to);
    /// Its server does not serve the channel any more: `go_after_slots` subscribes again, wherever
    /// that is then.
    void on_withdrawn(std::uint32_t by, std::string_view channel);
    /// Other servers have the slots: what listens there is subscribed to again where they are, in
    /// the order of the names. Until that is confirmed the channels are unconfirmed.
    void go_after_slots();
    void stop() noexcept;
    [[nodiscard]] bool empty() const noexcept { return relays_.empty(); }

private:
    class relay;

    void on_wanted(std::string const& channel);
    void on_unwanted(std::string const& channel);

    actions to_;
    std::shared_ptr<channels> listeners_;
    std::map<std::string, std::unique_ptr<relay>, std::less<>> relays_;
};

}  // namespace holdfast::detail

#endif
