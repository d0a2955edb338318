#ifndef HOLDFAST_CORE_ACQUIRE_FSM_HPP
#define HOLDFAST_CORE_ACQUIRE_FSM_HPP

#include "core/lease_terms.hpp"

#include <holdfast/detail/patience.hpp>
#include <holdfast/error.hpp>

#include <cstdint>

namespace holdfast::detail {

/// What an attempt came to.
enum class attempt_answer : std::uint8_t {
    granted,
    busy,
    refused,
    failed,
    not_sent,
    unknown,
    /// It was granted, and too few replicas have that: it is taken back.
    unconfirmed,
};

/// What a cancellation signal asks for.
enum class cancel_request : std::uint8_t {
    /// The operation ends now; an attempt in flight is withdrawn.
    at_once,
    /// An attempt in flight is waited for: what it grants is delivered.
    after_the_reply,
};

/// One acquisition: whether it goes on, and how it ends. When it tries is decided by the wait queue
/// (`wait_queue_fsm`).
class acquire_fsm {
public:
    enum class verdict_kind : std::uint8_t {
        go_on,
        /// Complete with the lease that was granted, or joined.
        deliver,
        /// Complete with `error`, and with an empty lease.
        finish,
        /// Complete as cancelled.
        abort,
    };
    struct verdict {
        verdict_kind kind = verdict_kind::go_on;
        error_code error;
        /// The server may have granted, or may yet grant, an attempt that has no caller any more.
        bool withdraw = false;
    };

    explicit acquire_fsm(patience how_long) noexcept : patience_{how_long} {}

    /// `usable_until` is the instant at which a lease that this attempt is granted is lost, if it
    /// is not renewed.
    void on_attempt_sent(time_point usable_until) noexcept;
    /// A grant that arrives too late counts as unknown: the next attempt has the same holder id.
    [[nodiscard]] attempt_answer judge(attempt_answer answer, time_point now) const noexcept;
    verdict on_answer(attempt_answer answer, error_code cause) noexcept;
    verdict on_cancel(cancel_request how) noexcept;
    /// The limit is reached. `busy`: since the operation began, the server was asked and said that
    /// another holder has the lock. Otherwise the operation goes on if the server can be asked
    /// (`reachable`): it is overdue then. The next answer ends it, or the next call of this.
    verdict on_time_up(bool busy, bool reachable, error_code cause) noexcept;
    /// Its owner has the lock already.
    verdict on_joined() noexcept;
    /// The client was stopped, or has a cause that will not pass.
    verdict on_ended(error_code cause) noexcept;

    [[nodiscard]] bool in_flight() const noexcept { return in_flight_; }
    [[nodiscard]] bool overdue() const noexcept { return overdue_; }
    [[nodiscard]] bool const& done() const noexcept { return done_; }

    friend bool operator==(acquire_fsm const&, acquire_fsm const&) = default;

private:
    verdict finish(verdict_kind how, error_code error) noexcept;

    time_point usable_until_{};
    error_code cause_;
    patience patience_;
    bool in_flight_ = false;
    // An attempt of this holder id ended without an answer; the server may still execute it.
    bool unsure_ = false;
    bool cancelled_ = false;
    bool overdue_ = false;
    bool done_ = false;
};

}  // namespace holdfast::detail

#endif
