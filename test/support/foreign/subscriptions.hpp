#ifndef HOLDFAST_TEST_SUPPORT_FOREIGN_SUBSCRIPTIONS_HPP
#define HOLDFAST_TEST_SUPPORT_FOREIGN_SUBSCRIPTIONS_HPP

#include "support/foreign/connection.hpp"
#include "support/foreign/wake_ups.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <functional>
#include <map>
#include <string>

namespace holdfast::test {

/// A channel that the waiters of one client share.
struct foreign_channel {
    std::string name;
    wake_ups messages;
    bool confirmed = false;

    int users = 0;
    int unanswered = 0;  // SUBSCRIBE commands
    wake_ups confirmation{};
};

/// The subscriptions of a foreign client, on a connection of their own: the first user of a channel
/// subscribes, the last one unsubscribes.
class foreign_subscriptions {
public:
    /// Is told of each message of a confirmed channel.
    using message_handler = std::function<void(foreign_channel&, std::string const& payload)>;

    /// A channel keeps at most so many wake-ups for which nobody waited.
    foreign_subscriptions(
        boost::asio::any_io_executor executor,
        foreign_server const& where,
        int most_kept,
        message_handler on_message
    );

    foreign_channel& join(std::string const& name);
    void leave(foreign_channel& channel);

    /// Waits for the confirmation. Throws `std::runtime_error` if the server refused a channel.
    [[nodiscard]] boost::asio::awaitable<void> confirmed(foreign_channel& channel);

    /// Wakes all who wait for anything.
    void close();

private:
    void on_message(redis_value const& message);
    void refuse(std::string const& why);

    int most_kept_;
    message_handler on_message_;
    // Each stays where it is.
    std::map<std::string, foreign_channel, std::less<>> channels_;
    std::string refusal_;  // of a channel, or the end of the connection
    foreign_connection connection_;
};

}  // namespace holdfast::test

#endif
