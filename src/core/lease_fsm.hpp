#ifndef HOLDFAST_CORE_LEASE_FSM_HPP
#define HOLDFAST_CORE_LEASE_FSM_HPP

#include "core/lease_terms.hpp"

#include <holdfast/lease_state.hpp>

namespace holdfast::detail {

/// The life of one grant, from the answer that granted it to its end. It owns renewal and release,
/// so that no renewal can follow a release.
///
///     held ⇄ in_doubt → lost        (final; the key may still be ours and is freed by a release)
///       └──────┴──────────┴→ empty  (released; nothing is renewed any more)
///
/// Time is an argument. Every function may be called at any time and looks at the clock first: what
/// the deadline has decided, no later answer can undo.
class lease_fsm {
public:
    enum class step_kind {
        /// Nothing to do before `until`, or until something else happens.
        sleep,
        /// Send a renewal and call `on_renewal_sent`.
        renew,
        /// Nothing more to do: lost or released.
        finish,
    };
    struct step {
        step_kind kind;
        time_point until{};
    };

    /// `sent_at` is the clock just before the request that was granted went out.
    lease_fsm(lease_terms const& terms, time_point sent_at, time_point granted_at) noexcept;

    /// The state at this instant.
    lease_state look(time_point now) noexcept;
    /// What the keep-alive should do next.
    step next(time_point now) noexcept;
    /// What a watcher of the loss should do: sleep, or finish.
    step watch(time_point now) noexcept;

    void on_renewal_sent(time_point now) noexcept;
    /// The server confirmed the renewal that was sent at `sent_at`. True if the keep-alive has to
    /// be woken: a renewal was due before this answer came, so it may sleep until the end.
    bool on_renewed(time_point sent_at, time_point now) noexcept;
    /// The server says that the lock is not ours.
    void on_not_ours(loss_reason reason, time_point now) noexcept;
    /// The renewal failed, or nobody answered. `retry_after` is how long to let it be.
    void on_renewal_failed(nanos retry_after, time_point now) noexcept;
    /// The command connection is gone: an answer on its way will not come, and nothing is renewed
    /// before the next connection.
    void on_disconnected(time_point now) noexcept;
    /// It is back; `delay` spreads the renewals of many leases.
    void on_connected(nanos delay, time_point now) noexcept;
    void on_client_stopped(time_point now) noexcept;
    /// The release starts. False if there is nothing to release.
    bool on_release(time_point now) noexcept;
    /// The release found that the lease had been lost before.
    void on_found_lost(loss_reason reason, time_point now) noexcept;

    /// Also after the release.
    [[nodiscard]] loss_reason loss() const noexcept { return loss_; }
    /// It has passed when the lock is known to be another holder's, or free.
    [[nodiscard]] time_point deadline() const noexcept { return deadline_; }
    [[nodiscard]] lease_terms const& terms() const noexcept { return terms_; }

    friend bool operator==(lease_fsm const&, lease_fsm const&) = default;

private:
    void lose(loss_reason reason, time_point now) noexcept;
    [[nodiscard]] time_point stop_time() const noexcept;

    lease_terms terms_;
    time_point deadline_;
    time_point renew_at_;
    time_point hold_until_;
    lease_state state_ = lease_state::held;
    loss_reason loss_ = loss_reason::none;
    bool in_flight_ = false;
    // A renewal has been tried since the last one that was confirmed.
    bool tried_ = false;
    bool connected_ = true;
};

}  // namespace holdfast::detail

#endif
