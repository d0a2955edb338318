#ifndef HOLDFAST_REDIS_SENTINEL_QUERY_HPP
#define HOLDFAST_REDIS_SENTINEL_QUERY_HPP

#include "core/sentinel_tally.hpp"
#include "redis/redis_connection.hpp"
#include "redis/replies.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/redis/request.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::detail {

/// Where a Sentinel is, and how it is reached.
struct sentinel_place {
    asio::any_io_executor strand;
    /// The host, the login and the TLS options are the Sentinel's.
    std::shared_ptr<config const> settings;
    std::shared_ptr<tls_trust> trust;
};

/// Asks one Sentinel once where the primary is, on a connection that ends with the answer: there is
/// one question for each epoch of a server's connection, and a question is worth little if it waits
/// for a connection that is being made again.
///
/// It lives until its last handler has run: Boost.Redis hands out raw pointers to its connection.
class sentinel_query : public std::enable_shared_from_this<sentinel_query> {
public:
    /// Also says, for the log, why the Sentinel names no primary.
    using handler = std::function<void(sentinel_answer, std::string const& remark)>;

    sentinel_query(sentinel_place at, std::string const& primary_name, handler done);

    /// `done` is called within `connect_timeout`, once, on the strand; not before this returns.
    void start();
    /// `done` is not called any more.
    void cancel() noexcept;

    struct verdict {
        sentinel_answer answer;
        std::string remark;
    };
    /// What the replies to HELLO, SENTINEL GET-MASTER-ADDR-BY-NAME and SENTINEL MASTER say, as far
    /// as they have come.
    [[nodiscard]] static verdict judge(std::vector<raw_reply> const& replies);

private:
    static asio::awaitable<void> ask(std::shared_ptr<sentinel_query> self);
    void start_request();
    void arm_timeout();
    void finish(error_code why);
    [[nodiscard]] verdict judge_end(error_code why) const;

    sentinel_place at_;
    boost::redis::request request_;
    handler done_;
    std::shared_ptr<redis_connection> connection_;
    timer timeout_;
    // Of its own: the connection has a share in it, and is a part of this.
    struct answers {
        reply_collector collector;
        std::vector<raw_reply> replies;
    };
    std::shared_ptr<answers> answers_ = std::make_shared<answers>();
};

}  // namespace holdfast::detail

#endif
