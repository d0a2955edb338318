#ifndef HOLDFAST_PROTOCOL_SUBSCRIPTION_HPP
#define HOLDFAST_PROTOCOL_SUBSCRIPTION_HPP

#include <holdfast/error.hpp>

#include <memory>
#include <string_view>
#include <utility>

namespace holdfast::detail {

/// Is told what happens on a channel. A function may drop its subscription, and others'.
class subscriber {
public:
    /// The subscription is in force: what is published from now on arrives. Comes again after each
    /// reconnection (`again`).
    virtual void on_confirmed(bool again) = 0;
    /// The connection is gone: what is published from now on may not arrive.
    virtual void on_unconfirmed() = 0;
    /// The server refuses the channel. It is not asked for again by itself.
    virtual void on_refused(error_code cause) = 0;
    /// Something was published. On a lock's channel it is a hint, never a fact: anybody may
    /// publish.
    virtual void on_notification(std::string_view message) = 0;

protected:
    ~subscriber() = default;
};

/// The right to be told of one channel. The last subscription of a channel that goes unsubscribes.
class subscription {
public:
    /// Ends one subscriber's part in a channel.
    class registration {
    public:
        virtual ~registration() = default;
    };

    subscription() noexcept = default;
    explicit subscription(std::unique_ptr<registration> part) noexcept : part_{std::move(part)} {}

    [[nodiscard]] explicit operator bool() const noexcept { return part_ != nullptr; }

private:
    std::unique_ptr<registration> part_;
};

}  // namespace holdfast::detail

#endif
