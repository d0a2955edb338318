#ifndef HOLDFAST_REDIS_SUPERVISOR_HPP
#define HOLDFAST_REDIS_SUPERVISOR_HPP

#include "core/backoff.hpp"
#include "protocol/backend.hpp"
#include "protocol/script.hpp"
#include "redis/address_source.hpp"
#include "redis/connection_log.hpp"
#include "redis/handshake.hpp"
#include "redis/redis_connection.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>

namespace holdfast::detail {

class cluster_observer;
struct counters;

/// What the connections of a server have in common.
struct server_context {
    asio::any_io_executor strand;
    std::shared_ptr<config const> settings;
    std::shared_ptr<counters> count;
    std::shared_ptr<tls_trust> trust;
    /// Of the whole deployment.
    std::shared_ptr<connection_log> log;
    std::uint32_t number = 0;
    /// Where the server is, if that can change. Otherwise it is where the settings say.
    std::shared_ptr<address_source> source = {};
    handshake::peer with = handshake::peer::server;
    /// Who is told of a cluster; it may go before the connections have ended.
    std::weak_ptr<cluster_observer> cluster = {};
};

/// One connection to the server, made again whenever it breaks. Each epoch has a
/// `redis_connection` of its own: nothing that was queued in one can be sent in the next.
///
/// Everything runs on one strand. The connection of an epoch lives until its last handler has run:
/// Boost.Redis hands out raw pointers to it.
class supervisor : public std::enable_shared_from_this<supervisor> {
public:
    struct events {
        /// The handshake was passed.
        std::function<void(connection_id)> up;
        std::function<void(connection_id)> down;
        /// The server refuses the connection for a cause that does not pass by itself.
        std::function<void(connection_id, error_code)> failure;
        /// See `backend_events::on_unconnected`.
        std::function<void(connection_id, error_code, std::string_view text)> unconnected;
        /// See `backend_events::on_refused`. Without it the refusal is logged here.
        std::function<void(refusal const&)> refused;
    };

    supervisor(server_context of, connection_id::purpose what, events to);
    virtual ~supervisor() = default;

    void start();
    /// Ends the epoch and makes no other.
    virtual void stop();
    /// Ends the epoch: its connection is not to be trusted any more.
    void drop_epoch(std::string_view why);
    /// The server is there from now on: an epoch elsewhere ends, whether it is up yet or not, and
    /// the next attempt does not wait.
    void move_to(config const& there);

    [[nodiscard]] bool up() const noexcept { return up_; }
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }
    /// What the last attempt to connect came to, while there is no connection.
    [[nodiscard]] backend::obstacle why_down() const noexcept { return obstacle_; }
    /// Of the server that it is connected to; empty if it is not known.
    [[nodiscard]] std::string const& run_id() const noexcept { return run_id_; }
    /// Where it is connected to, or was last.
    [[nodiscard]] config const& place() const noexcept { return *at_; }
    /// Of the answer that said so.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
    /// That server's process did not begin later.
    [[nodiscard]] lease_clock::time_point began_by() const noexcept { return began_by_; }
    /// While it is up.
    [[nodiscard]] lease_clock::time_point up_since() const noexcept { return up_since_; }
    /// It was up before.
    [[nodiscard]] bool was_up() const noexcept { return was_up_; }

protected:
    /// Before and after `events::up`, and only after it `on_down`.
    virtual void on_up() = 0;
    virtual void on_down() = 0;
    /// Something came that answers no request.
    virtual void on_unsolicited(raw_reply& message) = 0;

    /// The server has done on this connection what it is for: the next one may be made at once.
    void on_proven() noexcept { backoff_.reset(); }
    /// The server refused a request with this error.
    void report_refusal(
        std::string_view what,
        std::string_view key,
        std::string_view error,
        bool permanent
    );
    [[nodiscard]] std::shared_ptr<redis_connection> share_connection() const noexcept {
        return connection_;
    }
    [[nodiscard]] asio::any_io_executor const& strand() const noexcept { return of_.strand; }
    [[nodiscard]] std::uint64_t next_nonce() noexcept { return nonce_++; }
    [[nodiscard]] config const& settings() const noexcept { return *of_.settings; }
    [[nodiscard]] counters& count() noexcept { return *of_.count; }
    /// How scripts and channels are spoken of there.
    [[nodiscard]] script_dialect dialect() const noexcept { return dialect_; }
    [[nodiscard]] std::uint32_t number() const noexcept { return id_.server; }
    [[nodiscard]] bool in_cluster() const noexcept {
        return of_.with == handshake::peer::cluster_node;
    }
    /// None: the server is no node of a cluster, or the cluster is not wanted any more.
    [[nodiscard]] std::shared_ptr<cluster_observer> cluster() const noexcept {
        return of_.cluster.lock();
    }

private:
    void spawn(bool first);
    static asio::awaitable<void> supervise(std::shared_ptr<supervisor> self, bool first);
    static asio::awaitable<void> ping_sentinel(
        std::shared_ptr<supervisor> self,
        std::shared_ptr<redis_connection> connection
    );
    /// False if nobody knows where to connect to.
    [[nodiscard]] bool accept(address_source::answer found);
    void connect();
    void start_handshake();
    void listen();
    /// A message that answers no request was dealt with.
    void collect();
    void on_handshake(std::shared_ptr<redis_connection> const& connection, error_code ec);
    [[nodiscard]] handshake::verdict judge_handshake();
    void on_connected(handshake::verdict&& passed);
    [[nodiscard]] script_dialect dialect_of(int major_version) const noexcept;
    /// Forgets the connection; true if it was up.
    bool close_epoch();
    void on_epoch_ended(error_code ec);
    void fail(error_code cause, bool permanent);
    void say(log_level level, std::string_view what);
    [[nodiscard]] std::string_view name() const noexcept;

    server_context of_;
    std::shared_ptr<config const> at_ = of_.settings;
    std::uint64_t version_ = 0;
    connection_id id_;
    events to_;
    std::shared_ptr<redis_connection> connection_;
    // Until it was judged.
    std::shared_ptr<handshake> handshake_;
    timer pause_;
    backoff backoff_;
    // What was last to be said of the connection, written or not.
    std::string last_said_;
    std::minstd_rand jitter_;
    std::uint64_t nonce_;
    reply_collector unsolicited_;
    // Messages of this epoch that Boost.Redis still counts.
    int uncollected_ = 0;
    backend::obstacle obstacle_;
    std::string run_id_;
    lease_clock::time_point began_by_{};
    script_dialect dialect_ = script_dialect::single;
    lease_clock::time_point up_since_{};
    bool up_ = false;
    bool was_up_ = false;
    bool stopped_ = false;
};

}  // namespace holdfast::detail

#endif
