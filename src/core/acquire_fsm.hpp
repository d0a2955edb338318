#ifndef HOLDFAST_CORE_ACQUIRE_FSM_HPP
#define HOLDFAST_CORE_ACQUIRE_FSM_HPP

#include "core/server_reply.hpp"

#include <holdfast/error.hpp>
#include <holdfast/lock.hpp>

#include <boost/asio/cancellation_type.hpp>

namespace holdfast::detail {

/// What an attempt came to.
enum class attempt_answer { granted, busy, refused, failed, not_sent, unknown };

/// One acquisition: whether it goes on, and how it ends. When it tries is the room's business
/// (`room_fsm`).
class acquire_fsm {
public:
    enum class verdict_kind {
        go_on,
        /// Complete with the lease that was granted, or joined.
        deliver,
        /// Complete with `error`, and with an empty lease.
        finish,
    };
    struct verdict {
        verdict_kind kind = verdict_kind::go_on;
        error_code error;
        /// The server may have granted, or may yet grant, an attempt that nobody wants any more.
        bool withdraw = false;
    };

    explicit acquire_fsm(patience how_long) noexcept : patience_{how_long} {}

    void on_attempt_sent() noexcept { in_flight_ = true; }
    verdict on_answer(attempt_answer answer, error_code cause) noexcept;
    verdict on_cancel(asio::cancellation_type type) noexcept;
    /// The limit is reached. `busy`: another waiter of this key was told last that the lock is
    /// held.
    verdict on_time_up(bool busy, error_code cause) noexcept;
    /// Its owner has the lock already.
    verdict on_joined() noexcept;
    /// The client was stopped, or has a cause that will not pass.
    verdict on_ended(error_code cause) noexcept;

    [[nodiscard]] bool in_flight() const noexcept { return in_flight_; }
    [[nodiscard]] bool done() const noexcept { return done_; }

    friend bool operator==(acquire_fsm const&, acquire_fsm const&) = default;

private:
    verdict finish(error_code error) noexcept;

    patience patience_;
    bool in_flight_ = false;
    // An attempt of this holder id ended without an answer; it may be executed yet.
    bool unsure_ = false;
    bool cancelled_ = false;
    bool done_ = false;
    bool busy_ = false;
    error_code cause_;
};

}  // namespace holdfast::detail

#endif
