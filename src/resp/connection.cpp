#include "resp/connection.hpp"

#include <boost/asio/post.hpp>

namespace holdfast::detail::resp {

namespace asio = boost::asio;

connection::connection(
    asio::any_io_executor strand,
    std::unique_ptr<byte_stream> stream,
    connection_settings const& settings,
    connection_events& to
)
    : strand_{std::move(strand)},
      stream_{std::move(stream)},
      events_{to},
      fsm_{settings, to},
      timer_{strand_} {}

template <class F>
auto connection::in_turn(F f) {
    return [self = shared_from_this(), this, f = std::move(f)](auto... results) mutable {
        if (!is(connection_fsm::state::closed)) {
            turn([&] { f(results...); });
        }
    };
}

void connection::connect(byte_stream::endpoint const& to, time_point give_up_at) {
    fsm_.on_connecting(give_up_at);
    arm_timer();
    stream_->async_connect(to, in_turn([this](error_code ec) {
                               if (ec) {
                                   fsm_.close(close_reason::not_connected, ec);
                                   return;
                               }
                               fsm_.on_connected(stream_->taken_by_kernel(), lease_clock::now());
                               read();
                           }));
}

void connection::read() {
    stream_->async_read_some(fsm_.read_space(), in_turn([this](error_code ec, std::size_t size) {
                                 if (ec) {
                                     fsm_.close(close_reason::ended, ec);
                                     return;
                                 }
                                 fsm_.on_read(size, lease_clock::now());
                                 read();
                             }));
}

bool connection::send(std::shared_ptr<request> what) {
    bool const alone = fsm_.idle();
    if (!fsm_.submit(std::move(what), lease_clock::now())) {
        return false;
    }
    if (turns_ == 0 && alone) {
        flush();
        arm_timer();
    }
    if (turns_ == 0 && (!alone || is(connection_fsm::state::closing))) {
        post_turn();
    }
    return true;
}

void connection::close(close_reason why, error_code cause) {
    fsm_.close(why, cause);
    if (turns_ == 0 && is(connection_fsm::state::closing)) {
        post_turn();
    }
}

void connection::post_turn() {
    if (!std::exchange(turn_posted_, true)) {
        asio::post(strand_, in_turn([this] { turn_posted_ = false; }));
    }
}

void connection::end_turn() {
    flush();
    if (is(connection_fsm::state::closing)) {
        timer_.cancel();
        stream_->close();
        fsm_.finish();
        return;
    }
    // Behind the write: it begins with a system call that finds nothing.
    if (std::exchange(read_due_, false)) {
        read();
    }
    arm_timer();
}

void connection::flush() {
    for (;;) {
        // Before the kernel gets the bytes: the deadlines of leases count from it.
        auto const now = lease_clock::now();
        auto const bytes = fsm_.to_write(now);
        if (bytes.empty()) {
            return;
        }
        auto const [taken, blocked, ec] = stream_->write(bytes);
        fsm_.on_written(taken, blocked, now);
        if (ec) {
            fsm_.close(close_reason::write_failed, ec);
            return;
        }
        if (blocked) {
            stream_->async_wait_writable(in_turn([this](error_code failure) {
                if (failure) {
                    fsm_.close(close_reason::write_failed, failure);
                } else {
                    fsm_.on_writable();
                }
            }));
            return;
        }
    }
}

// Armed for the earliest time only. The machine finds out what is due when the timer fires: a reply
// that comes does not set the timer anew.
void connection::arm_timer() {
    auto const at = fsm_.wake_at();
    if (at >= armed_at_) {
        return;
    }
    sleep_until(timer_, at);
    timer_.async_wait([self = shared_from_this(), this](error_code ec) {
        if (!ec && !is(connection_fsm::state::closed)) {
            armed_at_ = time_point::max();
            turn([this] { fsm_.on_time(lease_clock::now()); });
        }
    });
    armed_at_ = at;
}

}  // namespace holdfast::detail::resp
