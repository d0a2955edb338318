#ifndef HOLDFAST_REDIS_REPLICA_CONNECTION_HPP
#define HOLDFAST_REDIS_REPLICA_CONNECTION_HPP

#include "protocol/backend.hpp"
#include "redis/cluster_observer.hpp"
#include "redis/replies.hpp"
#include "redis/request_batch.hpp"
#include "redis/supervisor.hpp"

#include <holdfast/lease_clock.hpp>

#include <boost/redis/request.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::detail {

/// The connection that waits for replicas.
///
/// WAIT counts the replicas that have what was written on its own connection, and all that the
/// server wrote before. While it waits the server reads nothing of this connection. So requests go
/// in rounds: all scripts that came meanwhile, one WAIT behind them for all, and a PING whose reply
/// proves that none is missing. A WAIT lasts no longer than a connection may be silent: who has
/// time left is in the next round again, and a slow replica delays nobody who comes later by more.
class replica_connection final : public supervisor {
public:
    /// `granting_since`: since when the connection that grants has been up at the same server;
    /// `time_point::max()`: it is not.
    using granting_since = std::function<lease_clock::time_point()>;

    replica_connection(server_context of, events to, granting_since granting);

    /// See `backend::exec_replicated`. Without a connection it waits for one, unless the server
    /// refuses it for good.
    void exec(call&& what, replication const& wanted, replicated_handler&& handler);
    void exec(replicated_call&& what);
    /// Nothing is under way.
    [[nodiscard]] bool idle() const noexcept { return waiting_.empty() && !under_way_; }
    void stop() override;

private:
    // Without a handler: it was answered, or is asked for elsewhere.
    struct item : replicated_call {
        explicit item(replicated_call&& wanted) : replicated_call{std::move(wanted)} {}

        lease_clock::time_point came = lease_clock::now();
        std::uint64_t nonce = 0;  // 0: not sent in this round
        bool by_text = false;
        /// What the script said, on this connection.
        std::optional<script_reply> said{};
    };
    using items = std::vector<item>;
    struct round {
        items all;
        std::size_t commands = 0;  // before WAIT
        unsigned count = 1;
        lease_clock::time_point sent_at{};
        std::uint64_t last_nonce = 0;
        boost::redis::request request;
        reply_collector collector;
        std::vector<raw_reply> replies;
    };

    void on_up() override;
    void on_down() override;
    void on_unsolicited(raw_reply& message) override;

    void start_round_soon();
    void start_round();
    [[nodiscard]] error_code why_not(item const& one) const;
    void write(round& made);
    void send(std::shared_ptr<round> const& one);
    void on_end(round& ended, error_code ec);
    [[nodiscard]] bool is_whole(round const& ended) const;
    void read_scripts(round& ended);
    void read_script(item& of, raw_reply& reply);
    [[nodiscard]] bool redirect(item& one, std::string const& text);
    void read_wait(round& ended);
    void answer(item& one, exec_result result, unsigned confirmed);
    void answer_all(items& all, error_code cause);
    void arm();
    void on_timeout();

    granting_since granting_since_;
    items waiting_;
    script_words words_;
    std::shared_ptr<round> under_way_;
    timer timeout_;
    lease_clock::time_point armed_for_ = lease_clock::time_point::max();
    lease_clock::time_point not_before_{};
    bool start_posted_ = false;
};

}  // namespace holdfast::detail

#endif
