#ifndef HOLDFAST_REDIS_SUPERVISOR_HPP
#define HOLDFAST_REDIS_SUPERVISOR_HPP

#include "core/backoff.hpp"
#include "ops/runtime.hpp"
#include "redis/probe.hpp"
#include "redis/redis_connection.hpp"

#include <holdfast/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <random>
#include <string_view>

namespace holdfast::detail {

struct counters;

/// One connection to the server, made again whenever it breaks. Each epoch has a
/// `redis_connection` of its own: nothing that was queued in one can be sent in the next.
///
/// Everything runs on one strand. The connection of an epoch lives until its last handler has run:
/// Boost.Redis hands out raw pointers to it.
class supervisor : public std::enable_shared_from_this<supervisor> {
public:
    supervisor(
        asio::any_io_executor strand,
        std::shared_ptr<config const> settings,
        std::shared_ptr<counters> count,
        bool for_commands
    );
    virtual ~supervisor() = default;

    void start();
    /// Ends the epoch and makes no other.
    void stop();
    /// Ends the epoch: its connection is not to be trusted any more.
    void drop_epoch(std::string_view why);

    [[nodiscard]] bool up() const noexcept { return up_; }
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }
    /// A cause that does not pass by itself, while there is no connection for it.
    [[nodiscard]] error_code failure() const noexcept { return failure_; }

protected:
    /// The probe was passed.
    virtual void on_up() = 0;
    /// The epoch is over; only after `on_up`.
    virtual void on_down() = 0;
    virtual void on_failure(error_code cause) = 0;
    /// Something came that answers no request.
    virtual void on_unsolicited(raw_reply& message) = 0;

    /// The server has done on this connection what it is for: the next one may be made at once.
    void on_proven() noexcept { backoff_.reset(); }
    void log(log_level level, std::string_view message) const;
    [[nodiscard]] std::shared_ptr<redis_connection> share_connection() const noexcept {
        return connection_;
    }
    [[nodiscard]] asio::any_io_executor const& strand() const noexcept { return strand_; }
    [[nodiscard]] std::string next_nonce();
    [[nodiscard]] config const& settings() const noexcept { return *settings_; }
    [[nodiscard]] counters& count() noexcept { return *count_; }

private:
    static asio::awaitable<void> supervise(std::shared_ptr<supervisor> self);
    static asio::awaitable<void> drain(
        std::shared_ptr<supervisor> self,
        std::shared_ptr<redis_connection> connection
    );
    void connect();
    void start_probe();
    void on_probed(
        std::shared_ptr<redis_connection> const& connection,
        error_code ec,
        probe const& asked
    );
    /// Forgets the connection; true if it was up.
    bool close_epoch();
    void on_epoch_ended(error_code ec);
    void fail(error_code cause, bool permanent);

    asio::any_io_executor strand_;
    std::shared_ptr<config const> settings_;
    std::shared_ptr<counters> count_;
    bool for_commands_;
    std::shared_ptr<redis_connection> connection_;
    timer pause_;
    backoff backoff_;
    std::minstd_rand jitter_;
    std::uint64_t nonce_;
    reply_collector unsolicited_;
    error_code failure_;
    lease_clock::time_point up_since_{};
    bool up_ = false;
    bool was_up_ = false;
    bool probe_failed_ = false;
    bool stopped_ = false;
};

}  // namespace holdfast::detail

#endif
