#ifndef HOLDFAST_REDIS_PROBE_HPP
#define HOLDFAST_REDIS_PROBE_HPP

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
class probe {
public:
    struct verdict {
        /// Success: the connection may be used.
        error_code error;
        bool permanent = false;
        std::vector<std::pair<log_level, std::string>> remarks;
    };

    /// `for_commands`: also checks the clock, the role and the memory policy.
    probe(config const& settings, bool for_commands, std::string nonce);

    [[nodiscard]] boost::redis::request const& request() const noexcept { return request_; }
    [[nodiscard]] std::size_t commands() const noexcept { return steps_.size(); }
    void on_event(reply_collector::event what, boost::redis::resp3::node_view const& node);
    [[nodiscard]] verdict judge() const;

private:
    enum class step { hello, select, ping, time, role, info };

    boost::redis::request request_;
    std::vector<step> steps_;
    std::string nonce_;
    reply_collector collector_;
    std::vector<raw_reply> replies_;
};

}  // namespace holdfast::detail

#endif
