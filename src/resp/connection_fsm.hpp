#ifndef HOLDFAST_RESP_CONNECTION_FSM_HPP
#define HOLDFAST_RESP_CONNECTION_FSM_HPP

#include "resp/decoder.hpp"
#include "resp/read_buffer.hpp"
#include "resp/request.hpp"

#include <holdfast/error.hpp>
#include <holdfast/lease_clock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string_view>

namespace holdfast::detail::resp {

/// Why a connection ended.
enum class close_reason : std::uint8_t {
    none,
    stopped,          ///< the client closed it
    not_connected,    ///< connecting failed
    connect_timeout,  ///< connecting and the handshake took too long
    ended,            ///< the peer ended it, or a read failed
    write_failed,
    write_blocked,    ///< the kernel took no byte for one timeout
    too_much_unsent,  ///< more than 1 MiB waits for the kernel
    silent,           ///< the oldest request has had no reply for two timeouts
    malformed,        ///< the peer does not speak RESP3
    too_large,        ///< the peer sent a reply beyond a limit
    push_too_large,   ///< a published message beyond a limit
    mismatch,         ///< a reply does not belong to its request
    failed,           ///< an exception left a handler, or there is no memory
};
/// For the log.
[[nodiscard]] std::string_view describe(close_reason why) noexcept;

/// The events of a connection. They come on its strand.
class connection_events {
public:
    /// Connected: the handshake can be sent.
    virtual void on_connected() = 0;
    /// A message was published, or the server has unsubscribed from a sharded channel. The push is
    /// valid during the call.
    virtual void on_push(message const& push) = 0;
    /// More was published within a second than `connection_settings::push_limit`. Comes once a
    /// second.
    virtual void on_push_flood() {}
    /// The requests of a turn have been written.
    virtual void on_turn_end() {}
    /// The connection has ended, and with it all of its requests. Comes once, last.
    virtual void on_down(close_reason why, error_code cause) = 0;

protected:
    ~connection_events() = default;
};

struct connection_settings {
    decoder_limits handshake_limits = decoder_limits::before_hello();
    decoder_limits limits{};
    /// Of PING, and how long the kernel may take no byte.
    lease_clock::duration timeout = std::chrono::seconds{3};
    /// A PING is sent after so long without a reply.
    lease_clock::duration health_interval = std::chrono::seconds{2};
    std::size_t max_requests = 100'000;        ///< without a reply, at the same time
    std::size_t push_limit = 4 * 1024 * 1024;  ///< bytes a second
    std::uint32_t first_tag = 1;               ///< should be random
};

/// One connection from its beginning to its end, without I/O and without a clock: the driver says
/// what happened and when, and asks what to write and when to wake.
///
/// | state        | requests                                | next                      |
/// | ------------ | --------------------------------------- | ------------------------- |
/// | `idle`       | none                                    | `connecting`              |
/// | `connecting` | none                                    | `handshake`, `closing`    |
/// | `handshake`  | those that open the connection          | `up` by `open`, `closing` |
/// | `up`         | all                                     | `closing`                 |
/// | `closing`    | none; `finish` ends those that are left | `closed`                  |
///
/// A request is queued until it is encoded, just before its bytes are written, and is handed over
/// from then on until its reply comes. One that ends before, by its timeout or by `cancel`, keeps
/// its place: its reply is dropped. Nothing is ever resynchronized: what does not fit ends the
/// connection.
class connection_fsm {
public:
    using time_point = lease_clock::time_point;
    enum class state : std::uint8_t { idle, connecting, handshake, up, closing, closed };

    connection_fsm(connection_settings const& settings, connection_events& to);

    void on_connecting(time_point give_up_at) noexcept;
    /// `exact`: the kernel has the bytes that are reported as written.
    void on_connected(bool exact, time_point now);
    /// The handshake has succeeded.
    void open(time_point now);

    /// False: the connection does not take the request, and will not call it.
    [[nodiscard]] bool submit(std::shared_ptr<request> what, time_point now);
    /// The request must be pending. It is not called any more.
    [[nodiscard]] request_end cancel(request& what) noexcept;

    /// What to write now. It stays where it is until `on_writable`, or the next call after all of
    /// it was taken and nothing is blocked.
    [[nodiscard]] std::string_view to_write(time_point now);
    void on_written(std::size_t taken, bool blocked, time_point now);
    void on_writable() noexcept { blocked_ = false; }

    /// Where to read to; then how much was read.
    [[nodiscard]] std::span<char> read_space() { return input_.prepare(); }
    void on_read(std::size_t size, time_point now);

    /// When to call `on_time`, at the latest.
    [[nodiscard]] time_point wake_at() const noexcept { return wake_at_; }
    void on_time(time_point now);

    /// Begins to close. The first reason counts.
    void close(close_reason why, error_code cause = {}) noexcept;
    /// Ends all requests, in the order in which they were sent, and reports the end.
    void finish();

    [[nodiscard]] state current() const noexcept { return state_; }
    /// No request waits for its reply.
    [[nodiscard]] bool idle() const noexcept { return handed_.empty() && queued_.empty(); }
    [[nodiscard]] std::uint64_t unknown_pushes() const noexcept { return unknown_pushes_; }

private:
    using verdict = request::verdict;

    [[nodiscard]] bool running() const noexcept {
        return state_ == state::handshake || state_ == state::up;
    }
    void encode_queued(time_point now);
    void on_push(message const& push, std::size_t size, time_point now);
    void count_push(std::size_t size, time_point now);
    void settle(verdict what, message const& reply, time_point now);
    void end_overdue(time_point now);
    void check_life(time_point now);
    void wake_by(time_point at) noexcept { wake_at_ = at < wake_at_ ? at : wake_at_; }
    static void end(request& what, request_end how, message const* reply = nullptr);

    connection_settings settings_;
    connection_events& events_;
    state state_ = state::idle;
    close_reason why_ = close_reason::none;
    error_code cause_;

    decoder decoder_;
    read_buffer input_;
    byte_buffer output_;
    std::uint64_t output_begin_ = 0;  // bytes that left before
    std::size_t taken_ = 0;           // of `output_`
    bool exact_ = false;
    bool blocked_ = false;
    time_point blocked_since_{};

    std::deque<std::shared_ptr<request>> queued_;
    std::deque<std::shared_ptr<request>> handed_;
    std::set<std::string_view> scripts_;  // that the server was sent
    std::uint32_t next_tag_;

    time_point connect_until_{};
    time_point last_reply_{};
    time_point wake_at_ = time_point::max();
    time_point push_second_{};
    std::size_t pushed_ = 0;  // bytes in that second
    std::uint64_t unknown_pushes_ = 0;
};

}  // namespace holdfast::detail::resp

#endif
