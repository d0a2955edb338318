#ifndef HOLDFAST_REDIS_HANDSHAKE_HPP
#define HOLDFAST_REDIS_HANDSHAKE_HPP

#include "redis/replies.hpp"

#include <holdfast/config.hpp>
#include <holdfast/logger.hpp>

#include <boost/redis/request.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::detail {

/// The value behind `key` in a reply that is a map; nothing if there is none.
[[nodiscard]] std::string_view value_of(raw_reply const& map, std::string_view key) noexcept;
/// Whether it has that key, whatever the value.
[[nodiscard]] bool has_key(raw_reply const& map, std::string_view key) noexcept;

/// A connection ended in one of the ways in which a peer closes one.
[[nodiscard]] bool is_closed_by_peer(error_code ec) noexcept;
/// What is said of a peer that does so as its first answer. It need not be a wrong one: a load
/// balancer whose servers are away does the same.
inline constexpr std::string_view closed_upon_hello = "the peer closed the connection upon HELLO";

/// The command that logs in and says the client's name.
void push_hello(boost::redis::request& to, config const& settings);

/// The first request on a connection: logs in, and finds out whether the server is one that locks
/// can be kept on. No lock traffic goes out before its answer.
class handshake {
public:
    struct verdict {
        /// Success: the connection may be used.
        error_code error;
        bool permanent = false;
        /// Which server it is: the same after a reconnection, another one after a restart. Empty if
        /// the user may not ask.
        std::string run_id;
        /// For how long its process has been running, in whole seconds. Empty for the same reason.
        std::optional<std::chrono::seconds> uptime;
        /// The first number of the server's version; zero: not known.
        int major_version = 0;
        /// Of a node of a cluster, also of one that may not be used: what it answered to
        /// `scripts::cluster_slots`.
        std::string slots;
        std::vector<std::pair<log_level, std::string>> remarks;
    };

    /// Whom the connection should lead to. A node of a cluster is asked for the slots.
    enum class peer { server, cluster_node, sentinel };

    /// `for_commands`: also checks the clock and the memory policy.
    handshake(
        config const& settings,
        bool for_commands,
        std::string nonce,
        peer with = peer::server
    );

    [[nodiscard]] boost::redis::request const& request() const noexcept { return request_; }
    [[nodiscard]] std::size_t commands() const noexcept { return steps_.size(); }
    /// Nothing has come yet.
    [[nodiscard]] bool unanswered() const noexcept { return replies_.empty(); }
    void on_event(reply_collector::event what, boost::redis::resp3::node_view const& node);
    /// Also when the connection ended before all replies were there: a server that refuses a
    /// connection says why and closes it.
    [[nodiscard]] verdict judge() const;

private:
    enum class step { hello, select, ping, time, server, memory, slots };

    void add(step what, std::string_view command, std::string_view argument = {});
    static void judge_error(step what, std::string const& text, verdict& out);
    void judge_hello(raw_reply const& reply, verdict& out) const;
    static void judge_server(std::string_view info, verdict& out);
    static void judge_memory(std::string_view info, verdict& out);
    [[nodiscard]] bool is_whole() const;

    boost::redis::request request_;
    std::vector<step> steps_;
    std::string nonce_;
    peer with_;
    reply_collector collector_;
    std::vector<raw_reply> replies_;
};

}  // namespace holdfast::detail

#endif
