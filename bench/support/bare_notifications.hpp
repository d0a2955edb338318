#ifndef HOLDFAST_BENCH_SUPPORT_BARE_NOTIFICATIONS_HPP
#define HOLDFAST_BENCH_SUPPORT_BARE_NOTIFICATIONS_HPP

#include "support/bare.hpp"

#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace holdfast::bench {

/// Wakes one waiter at each message of a channel, over a connection of its own.
class bare_notifications {
public:
    /// `connection` is for this alone.
    explicit bare_notifications(std::unique_ptr<bare_connection> connection);
    bare_notifications(bare_notifications const&) = delete;
    bare_notifications& operator=(bare_notifications const&) = delete;
    ~bare_notifications();

    /// Subscribes to the channel of a lock.
    [[nodiscard]] asio::awaitable<void> subscribe(std::string_view name);

    void forget() noexcept { state_->news = false; }
    /// Returns at once if a message came since `forget`.
    [[nodiscard]] asio::awaitable<void> wait();

private:
    // A message may be on its way to the handler when the owner goes.
    struct state {
        explicit state(std::unique_ptr<bare_connection> on);

        std::unique_ptr<bare_connection> connection;
        asio::steady_timer arrived;
        bool news = false;
        bool stopped = false;
    };
    static void receive(std::shared_ptr<state> s);

    std::shared_ptr<state> state_;
};

}  // namespace holdfast::bench

#endif
