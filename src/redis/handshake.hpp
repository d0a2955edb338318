#ifndef HOLDFAST_REDIS_HANDSHAKE_HPP
#define HOLDFAST_REDIS_HANDSHAKE_HPP

#include "redis/replies.hpp"

#include <holdfast/config.hpp>
#include <holdfast/logger.hpp>

#include <boost/redis/request.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::detail {

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
        /// The first number of the server's version; zero: not known.
        int major_version = 0;
        /// Of a node of a cluster, also of one that may not be used: what it answered to
        /// `scripts::cluster_slots`.
        std::string slots;
        std::vector<std::pair<log_level, std::string>> remarks;
    };

    /// `for_commands`: also checks the clock and the memory policy. `of_cluster`: the server has to
    /// be a node of a cluster, and is asked for the slots; otherwise it must not be one.
    handshake(
        config const& settings,
        bool for_commands,
        std::string nonce,
        bool of_cluster = false
    );

    [[nodiscard]] boost::redis::request const& request() const noexcept { return request_; }
    [[nodiscard]] std::size_t commands() const noexcept { return steps_.size(); }
    void on_event(reply_collector::event what, boost::redis::resp3::node_view const& node);
    /// Also when the connection ended before all replies were there: a server that refuses a
    /// connection says why and closes it.
    [[nodiscard]] verdict judge() const;

private:
    enum class step { hello, select, ping, time, server, memory, slots };

    void add(step what, std::string_view command, std::string_view argument = {});
    static void judge_error(step what, std::string const& text, verdict& out);
    void judge_hello(raw_reply const& reply, verdict& out) const;
    static void judge_memory(std::string_view info, verdict& out);

    boost::redis::request request_;
    std::vector<step> steps_;
    std::string nonce_;
    bool of_cluster_;
    reply_collector collector_;
    std::vector<raw_reply> replies_;
};

}  // namespace holdfast::detail

#endif
