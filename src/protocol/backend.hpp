#ifndef HOLDFAST_PROTOCOL_BACKEND_HPP
#define HOLDFAST_PROTOCOL_BACKEND_HPP

#include "protocol/call.hpp"
#include "protocol/reply.hpp"
#include "protocol/subscription.hpp"

#include <holdfast/error.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lease_clock.hpp>

#include <boost/asio/any_completion_handler.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::detail {

using exec_handler = asio::any_completion_handler<void(exec_result)>;
/// The number says how many replicas are known to have what the script wrote, and all that was
/// written before it.
using replicated_handler = asio::any_completion_handler<void(exec_result, unsigned)>;

/// How many replicas are wanted to have a write, and how long they are waited for.
struct replication {
    unsigned count = 1;
    std::chrono::nanoseconds timeout{0};
};

/// One of the connections of a server, in one of its epochs.
struct connection_id {
    /// The last one is for requests that wait for replicas. Nothing is reported of it.
    enum class purpose : std::uint8_t { commands, subscriptions, replication };

    purpose what = purpose::commands;
    /// The number of the server within its deployment.
    std::uint32_t server = 0;
    /// Grows with each connection that is made in the place of a broken one.
    std::uint64_t epoch = 0;

    friend bool operator==(connection_id const&, connection_id const&) = default;
};

/// A request that the server refused, for the log. The texts are valid during the call.
struct refusal {
    /// It does not pass by itself.
    bool permanent = false;
    /// The script or command.
    std::string_view what;
    /// The lock's key, or the channel. Empty: none.
    std::string_view key;
    /// The server's words, without passwords.
    std::string_view why;
};

/// What a backend reports by itself. Called on the client's strand, never from inside a call to the
/// backend.
class backend_events {
public:
    /// A connection was made and checked. Requests can be sent, or subscriptions are being made.
    virtual void on_up(connection_id which) = 0;
    /// A connection that was up is gone. What was in flight on it is answered `unknown` as well,
    /// and the subscribers of its channels are told that they are unconfirmed.
    virtual void on_down(connection_id which) = 0;
    /// The server refuses the connection for a cause that does not pass by itself. The backend
    /// keeps trying.
    virtual void on_failure(connection_id which, error_code cause) = 0;
    /// A connection could not be made, or it ended. The backend tries again. `text` says why, for
    /// people; it is valid during the call.
    virtual void on_unconnected(
        connection_id /*which*/,
        error_code /*cause*/,
        std::string_view /*text*/
    ) {}
    /// The server refused a request.
    virtual void on_refused(refusal const& /*what*/) {}
    /// Another server has these keys now, and its connection was up before. Whoever waited for a
    /// connection to the former one can go on.
    virtual void on_moved(std::function<bool(std::string_view key)> const& /*these*/) {}
    /// What `up` says may have changed although no connection has come or gone.
    virtual void on_changed() {}
    /// The server of this number has taken the place of another one, with all of its keys: of what
    /// that one confirmed, some may be missing here. It comes before `on_up` or `on_moved` tells
    /// that the keys can be asked for.
    virtual void on_failed_over(std::uint32_t /*server*/) {}
    /// The connections to this server were closed, because nothing needs them.
    virtual void on_closed(std::uint32_t /*server*/) {}
    /// No node names this server any more, and its connections are closed. Its number will not be
    /// used again.
    virtual void on_forgotten(std::uint32_t /*server*/) {}
    /// The client has leases. A lease may need no request for a long time, so the backend looks for
    /// changes that take it away.
    [[nodiscard]] virtual bool has_leases() const { return false; }

protected:
    ~backend_events() = default;
};

/// What the operations need of a server, or of the servers of a Redis Cluster. Everything
/// unpleasant about the network ends behind it.
///
/// All functions are called on the client's strand. Nothing is reported from inside a call.
class backend {
public:
    virtual ~backend() = default;

    /// Begins to connect. `events` must live until `stop`. May be called again after it threw.
    virtual void start(backend_events& events) = 0;
    /// No event and no reconnection after this; what is in flight is answered `unknown`.
    virtual void stop() = 0;

    /// Runs a script, on the server that has its first key. All keys of a call have the same
    /// server; a call without keys may run on any. Without a connection the answer is `not_sent`.
    /// No reply within the call's time-out is `unknown`, and the script may be executed all the
    /// same.
    ///
    /// Requests are executed in the order of the calls as long as the connection lives. One whose
    /// script the server does not know comes again, behind what was sent meanwhile, unless it was
    /// withdrawn.
    virtual void exec(call&& what, exec_handler&& handler) = 0;
    /// Runs a script that writes, and waits until so many replicas have what it wrote. The answer
    /// comes within `wanted.timeout`, be they so many or not. Of a script that failed or was not
    /// answered none are known.
    ///
    /// It overtakes what `exec` is asked for, and is overtaken.
    ///
    /// A backend that cannot wait for replicas knows of none: nothing is granted there.
    virtual void exec_replicated(
        call&& what,
        replication const& wanted,
        replicated_handler&& handler
    ) {
        static_cast<void>(wanted);
        exec(std::move(what), [handler = std::move(handler)](exec_result result) mutable {
            std::move(handler)(std::move(result), 0U);
        });
    }

    /// Wants the notifications of a channel for as long as the result lives. `to` must live as
    /// long.
    [[nodiscard]] virtual subscription subscribe(std::string channel, subscriber& to) = 0;

    /// The connection of this purpose is up, and usable. Nobody asks for that of `replication`. Of
    /// a cluster: each slot has a server, and one of the servers has such a connection.
    [[nodiscard]] virtual bool up(connection_id::purpose what) const = 0;
    /// Why there is no connection: a permanent cause, else what the last attempt to connect came
    /// to. Success while both connections are up, and before the first attempt has ended.
    struct obstacle {
        error_code cause;
        bool permanent = false;
    };
    [[nodiscard]] virtual obstacle why_down() const = 0;

    /// Which server the command connection leads to, or led to last.
    struct identity {
        /// The same for one process of a server; empty if it is not known.
        std::string_view run_id;
        /// That process did not begin later. The end of the handshake if it does not say.
        lease_clock::time_point began_by = lease_clock::time_point::min();
    };
    [[nodiscard]] virtual identity who(std::uint32_t /*server*/) const { return {}; }

    /// The server, where it is an object of this program and has no address. From any thread.
    [[nodiscard]] virtual void const* object() const noexcept { return nullptr; }
    /// The keys are spread over the slots of a cluster: those of one call share a slot.
    [[nodiscard]] virtual bool clustered() const noexcept { return false; }
    /// The number of the server that has a slot. None: it is not known.
    [[nodiscard]] virtual std::optional<std::uint32_t> server_of(std::uint16_t /*slot*/) const {
        return 0;
    }
    /// Whether a request about a key of a slot can be sent now. A cluster begins to connect to its
    /// server if it has not yet; `on_up` tells of it.
    [[nodiscard]] virtual bool reach(std::uint16_t /*slot*/) {
        return up(connection_id::purpose::commands);
    }
    /// Since when the server that has a slot has sent nothing although it has to answer. None: no
    /// request waits for it.
    [[nodiscard]] virtual std::optional<lease_clock::time_point> silent_since(std::uint16_t /*slot*/
    ) const {
        return {};
    }
    /// As `why_down`, of the server that has a slot.
    [[nodiscard]] virtual obstacle why_out_of_reach(std::uint16_t /*slot*/) const {
        return why_down();
    }
};

}  // namespace holdfast::detail

#endif
