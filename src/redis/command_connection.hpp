#ifndef HOLDFAST_REDIS_COMMAND_CONNECTION_HPP
#define HOLDFAST_REDIS_COMMAND_CONNECTION_HPP

#include "protocol/backend.hpp"
#include "redis/cluster_observer.hpp"
#include "redis/reply_matcher.hpp"
#include "redis/request_batch.hpp"
#include "redis/supervisor.hpp"
#include "redis/texts_in_flight.hpp"

#include <holdfast/lease_clock.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::detail {

/// The connection that runs scripts.
///
/// What several operations send in one turn leaves as one request of Boost.Redis. Replies are
/// matched by `reply_matcher`.
class command_connection final : public supervisor {
public:
    command_connection(server_context of, events to);

    void exec(call&& what, exec_handler&& handler);
    void exec(routed_call&& what);
    void stop() override;
    /// Nothing is under way.
    [[nodiscard]] bool idle() const noexcept { return matcher_.empty() && !matcher_.any_doubt(); }
    /// Requests can be sent.
    [[nodiscard]] bool usable() const noexcept { return up() && !stopped() && !desynchronised_; }
    /// Since when the server owes an answer and has sent nothing. None: it owes none.
    [[nodiscard]] std::optional<lease_clock::time_point> silent_since() const;

private:
    // A request that waits for its reply.
    struct record {
        std::optional<call> what;  // none: a PING that checks
        exec_handler handler;
        lease_clock::time_point sent_at{};
        lease_clock::time_point give_up_at{};
        std::chrono::nanoseconds timeout{};
        unsigned sent = 0;  // times
        bool by_text = false;
        /// Sent behind ASKING; without a call it is that command itself.
        bool asking = false;
        /// How often a node of a cluster has named another one.
        unsigned redirections = 0;
        /// If no reply will come.
        error_code cause = errc::unreachable;
    };
    using matcher = reply_matcher<record, exec_result>;

    static void complete(exec_handler& handler, exec_result result) {
        if (handler) {
            std::exchange(handler, {})(std::move(result));
        }
    }
    static exec_result make_result(exec_status status, error_code cause) {
        return {status, cause, {}};
    }

    void on_up() override;
    void on_down() override;
    void on_unsolicited(raw_reply& message) override;

    void exec(record& r);
    /// If it throws, `r` is left as it was, and the connection ends.
    void enqueue(record& r);
    void append(record& r);
    void add_asking(record const& r);
    void flush_soon(bool alone);
    void flush();
    template <bool several>
    [[nodiscard]] boost::redis::any_adapter answers_of(redis_connection const& of);
    void on_reply(bool more_to_come);
    void deliver();
    /// The request that the next reply is for.
    record take();
    void answer(text_reply reply);
    void on_error_reply(std::string const& text);
    void settle_doubts(bool proven);
    void send_again(record& r);
    [[nodiscard]] bool end_withdrawn(record& r);
    [[nodiscard]] bool redirect(record& r, std::string const& text);
    void check_alignment(bool overdue);
    void desynchronise();
    void arm_timeout(lease_clock::time_point at);
    void on_timeout();
    [[nodiscard]] bool look_for_silence(lease_clock::time_point now, lease_clock::time_point& next);
    void abandon_all();

    std::shared_ptr<request_batch> open_;
    matcher matcher_;
    std::deque<text_reply> inbox_;
    reply_collector collector_;
    texts_in_flight texts_;
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
