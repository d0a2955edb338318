#ifndef HOLDFAST_REDIS_COMMAND_LINK_HPP
#define HOLDFAST_REDIS_COMMAND_LINK_HPP

#include "ops/redis_port.hpp"
#include "redis/supervisor.hpp"

#include <holdfast/lease_clock.hpp>

#include <boost/redis/request.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::detail {

/// The connection that runs scripts.
///
/// What several operations send in one turn leaves as one request of Boost.Redis. The server
/// answers in order, so answers are matched by counting, and checked: each script returns the nonce
/// of its request. An error reply has none; it is believed when a later answer on the same
/// connection carries the right nonce, for which a PING is sent if nothing else is on its way.
class command_link final : public supervisor {
public:
    struct events {
        std::function<void()> up;
        std::function<void()> down;
        std::function<void(error_code)> failure;
    };

    command_link(
        asio::any_io_executor strand,
        std::shared_ptr<config const> settings,
        std::shared_ptr<counters> count,
        events to
    );

    void exec(
        script const& what,
        boost::span<std::string_view const> keys,
        boost::span<std::string_view const> args,
        std::chrono::nanoseconds timeout,
        exec_handler handler
    );
    void stop_link();
    /// Requests can be sent.
    [[nodiscard]] bool usable() const noexcept { return up() && !stopped() && !poisoned_; }

private:
    // A request that waits for its answer. Its strings lie one behind the other in `packed`, to be
    // sent again as EVAL if need be.
    struct record {
        script const* what = nullptr;  // none: a PING that checks
        std::string packed;
        std::vector<std::uint32_t> ends;
        std::size_t keys = 0;
        std::string nonce;
        lease_clock::time_point sent_at{};
        lease_clock::time_point give_up_at{};
        std::chrono::nanoseconds timeout{};
        bool sent_again = false;  // as EVAL
        exec_handler handler;
    };
    struct doubtful {
        exec_handler handler;
        exec_result result;
        lease_clock::time_point give_up_at{};
    };
    struct batch;

    void on_up() override;
    void on_down() override;
    void on_failure(error_code cause) override;
    void on_unsolicited(raw_reply& message) override;

    void enqueue(record r);
    void append(record r);
    void flush();
    void on_reply(bool more_to_come);
    void deliver();
    void answer(record r, raw_reply reply);
    void on_error_reply(record r, std::string const& text);
    void on_nonce_seen();
    void check_alignment(bool overdue);
    void poison();
    void arm_timeout(lease_clock::time_point at);
    void on_timeout();
    void abandon_all();

    events to_;
    std::shared_ptr<batch> open_;
    std::deque<record> in_flight_;
    std::deque<raw_reply> inbox_;
    std::vector<doubtful> doubtful_;
    reply_collector collector_;
    timer timeout_;
    lease_clock::time_point timeout_at_ = lease_clock::time_point::max();
    lease_clock::time_point last_read_{};
    std::vector<std::shared_ptr<batch>> spare_;
    bool flush_posted_ = false;
    bool deliver_posted_ = false;
    bool poisoned_ = false;
};

}  // namespace holdfast::detail

#endif
