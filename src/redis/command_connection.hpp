#ifndef HOLDFAST_REDIS_COMMAND_CONNECTION_HPP
#define HOLDFAST_REDIS_COMMAND_CONNECTION_HPP

#include "core/reply_matcher.hpp"
#include "protocol/backend.hpp"
#include "redis/request_batch.hpp"
#include "redis/supervisor.hpp"

#include <holdfast/lease_clock.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::detail {

/// The connection that runs scripts.
///
/// What several operations send in one turn leaves as one request of Boost.Redis. Replies are
/// matched by `reply_matcher`.
class command_connection final : public supervisor {
public:
    command_connection(server_context of, events to);

    void exec(call&& what, exec_handler&& handler);
    void stop() override;
    /// Requests can be sent.
    [[nodiscard]] bool usable() const noexcept { return up() && !stopped() && !desynchronised_; }

private:
    // A request that waits for its reply.
    struct record {
        std::optional<call> what;  // none: a PING that checks
        exec_handler handler;
        lease_clock::time_point sent_at{};
        lease_clock::time_point give_up_at{};
        std::chrono::nanoseconds timeout{};
        bool sent_again = false;  // as EVAL
        /// If no reply will come.
        error_code cause = errc::unreachable;
    };
    // What is kept of a reply until it is dealt with.
    struct arrival {
        std::string text;
        bool is_error = false;
    };
    using matcher = reply_matcher<record, exec_result>;

    void on_up() override;
    void on_down() override;
    void on_unsolicited(raw_reply& message) override;

    /// If it throws, `r` is left as it was, and the connection ends.
    void enqueue(record& r);
    void append(record& r);
    void add_check_before(record const& r);
    void flush_soon(bool alone);
    void flush();
    void on_reply(bool more_to_come);
    [[nodiscard]] static arrival arrival_of(raw_reply& reply);
    void deliver();
    void answer(arrival reply);
    void on_error_reply(std::string const& text);
    void settle_doubts(bool proven);
    void check_alignment(bool overdue);
    void desynchronise();
    void arm_timeout(lease_clock::time_point at);
    void on_timeout();
    void abandon_all();

    std::shared_ptr<request_batch> open_;
    matcher matcher_;
    std::deque<arrival> inbox_;
    reply_collector collector_;
    timer timeout_;
    asio::any_io_executor beside_;
    lease_clock::time_point timeout_at_ = lease_clock::time_point::max();
    lease_clock::time_point last_read_{};
    spare_batches spare_;
    bool flush_posted_ = false;
    bool deliver_posted_ = false;
    bool desynchronised_ = false;
};

}  // namespace holdfast::detail

#endif
