#ifndef HOLDFAST_RESP_CONNECTION_HPP
#define HOLDFAST_RESP_CONNECTION_HPP

#include "resp/byte_stream.hpp"
#include "resp/connection_fsm.hpp"
#include "runtime/runtime.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <utility>

namespace holdfast::detail::resp {

/// One RESP3 connection from `connect` to `on_down`: the machine, a stream and a timer on a strand.
/// All functions are called on the strand.
///
/// Requests that are sent during a turn leave in one write when the turn ends. A turn is what
/// happens at one event of the connection, or inside `turn`. Outside of turns a request leaves at
/// once if no other one is under way; what comes meanwhile is collected.
///
/// `connection_events` and the requests are called inside turns, never from inside `send`, `cancel`
/// or `close`. The events must live until `on_down`.
class connection : public std::enable_shared_from_this<connection> {
public:
    using time_point = lease_clock::time_point;

    connection(
        boost::asio::any_io_executor strand,
        std::unique_ptr<byte_stream> stream,
        connection_settings const& settings,
        connection_events& to
    );

    /// Connects; the handshake has to succeed before `give_up_at` as well. Called once.
    void connect(byte_stream::endpoint const& to, time_point give_up_at);
    /// See `connection_fsm`.
    void open() { fsm_.open(lease_clock::now()); }
    [[nodiscard]] bool send(std::shared_ptr<request> what);
    [[nodiscard]] request_end cancel(request& what) noexcept { return fsm_.cancel(what); }
    void close(close_reason why = close_reason::stopped, error_code cause = {});

    /// What `f` sends leaves in one write.
    template <class F>
    void turn(F f) {
        ++turns_;
        try {
            f();
            if (turns_ == 1) {
                end_turn();
            }
        } catch (...) {
            --turns_;
            close(close_reason::failed);
            throw;
        }
        if (--turns_ == 0 && !is(connection_fsm::state::closed)) {
            events_.on_turn_end();
        }
    }

    [[nodiscard]] connection_fsm const& machine() const noexcept { return fsm_; }
    [[nodiscard]] byte_stream const& stream() const noexcept { return *stream_; }

private:
    [[nodiscard]] bool is(connection_fsm::state what) const noexcept {
        return fsm_.current() == what;
    }
    /// A handler that runs `f` in a turn, unless the connection has ended.
    template <class F>
    [[nodiscard]] auto in_turn(F f);
    void read();
    void flush();
    void arm_timer();
    void post_turn();
    void end_turn();

    boost::asio::any_io_executor strand_;
    std::unique_ptr<byte_stream> stream_;
    connection_events& events_;
    connection_fsm fsm_;
    timer timer_;
    time_point armed_at_ = time_point::max();
    unsigned turns_ = 0;
    bool turn_posted_ = false;
    bool read_due_ = false;
};

}  // namespace holdfast::detail::resp

#endif
