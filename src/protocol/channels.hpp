#ifndef HOLDFAST_PROTOCOL_CHANNELS_HPP
#define HOLDFAST_PROTOCOL_CHANNELS_HPP

#include "protocol/subscription.hpp"

#include <holdfast/error.hpp>

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::detail {

/// Who listens to which channel, for a backend. Several may share one: the locks "a" and "{a}" do.
///
/// Used on the client's strand. Subscriptions may outlive it.
class channels : public std::enable_shared_from_this<channels> {
public:
    struct actions {
        /// The first subscriber of a channel has come.
        std::function<void(std::string const& channel)> subscribe;
        /// The last one has gone.
        std::function<void(std::string const& channel)> unsubscribe;
        /// Calls a function in a later turn of the client's strand.
        std::function<void(std::function<void()>)> later;
    };

    explicit channels(actions to) : to_{std::move(to)} {}

    [[nodiscard]] subscription add(std::string channel, subscriber& to);

    // What the server said, or the connection.
    void on_confirmed(std::string_view channel);
    void on_refused(std::string_view channel, error_code cause);
    void on_notification(std::string_view channel, std::string_view message);
    /// The connection is gone: no channel is confirmed any more.
    void on_down();
    /// The same of one channel.
    void on_unconfirmed(std::string_view channel);
    /// Nothing is asked for any more; whoever listens is not told.
    void stop() noexcept;

    [[nodiscard]] bool wanted(std::string_view channel) const { return all_.contains(channel); }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    [[nodiscard]] std::vector<std::string> names() const;

private:
    struct part;
    struct entry {
        std::list<part*> parts;
        bool confirmed = false;
        bool was_confirmed = false;
    };
    using entries = std::map<std::string, entry, std::less<>>;

    using listener = std::weak_ptr<part*>;

    void remove(part& which) noexcept;
    void confirm_late(listener const& joined);
    [[nodiscard]] static std::vector<listener> listeners(entry const& of);
    template <class Tell>
    static void tell(std::vector<listener> const& all, Tell how);

    actions to_;
    entries all_;
};

}  // namespace holdfast::detail

#endif
