#ifndef HOLDFAST_OPS_REDIS_PORT_HPP
#define HOLDFAST_OPS_REDIS_PORT_HPP

#include "core/server_reply.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/core/span.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace holdfast::detail {

/// A Lua script, known by the digest of its text.
struct script {
    std::string_view name;
    std::string_view text;
    std::string_view sha1;
};

using exec_handler = asio::any_completion_handler<void(exec_result)>;

/// What the port has to say of its own accord. Called on the client's strand, never from inside a
/// call to the port.
class port_events {
public:
    /// Commands can be sent: a connection was made and checked.
    virtual void on_commands_up() = 0;
    /// They cannot: the connection is gone. Whatever was in flight is answered `unknown` as well.
    virtual void on_commands_down() = 0;
    /// The server's side of a new connection is wrong in a way that will not pass by itself. The
    /// port keeps trying.
    virtual void on_failure(error_code cause) = 0;
    virtual void on_notices_up() = 0;
    /// Every subscription is unconfirmed from now on; the port renews them on the next connection.
    virtual void on_notices_down() = 0;
    /// The subscription is in force: what is published from now on arrives. Comes again after each
    /// reconnection (`again`).
    virtual void on_subscribed(std::string_view channel, bool again) = 0;
    /// The port has forgotten the channel: it will not ask again by itself.
    virtual void on_subscribe_refused(std::string_view channel, error_code cause) = 0;
    /// A hint, never a fact: anybody may publish.
    virtual void on_notice(std::string_view channel) = 0;

protected:
    ~port_events() = default;
};

/// What the operations need of a server; everything unpleasant about the network ends behind it.
///
/// Requests are executed in the order of their calls, except for what `exec_result::sent_again`
/// says. All functions are called on the client's strand. Nothing is reported from inside a call.
class redis_port {
public:
    virtual ~redis_port() = default;

    /// Begins to connect. `events` must live until `stop`.
    virtual void start(port_events& events) = 0;
    /// No event and no reconnection after this; what is in flight is answered `unknown`.
    virtual void stop() = 0;

    /// Runs a script. `keys` and `args` need to live only until this returns. Without a connection
    /// the answer is `not_sent`; no answer within `timeout` is `unknown`, and the script may be
    /// executed all the same.
    ///
    /// Requests reach the server in the order of the calls, as long as the connection lives.
    virtual void exec(
        script const& what,
        boost::span<std::string_view const> keys,
        boost::span<std::string_view const> args,
        std::chrono::nanoseconds timeout,
        exec_handler handler
    ) = 0;

    /// Wants the notices of a channel, until `unsubscribe`. One subscription per channel.
    virtual void subscribe(std::string channel) = 0;
    virtual void unsubscribe(std::string_view channel) = 0;

    [[nodiscard]] virtual bool commands_up() const = 0;
    [[nodiscard]] virtual bool notices_up() const = 0;
    /// Why the last connection was not made; success if the cause may pass.
    [[nodiscard]] virtual error_code failure() const = 0;
};

}  // namespace holdfast::detail

#endif
