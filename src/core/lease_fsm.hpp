#ifndef HOLDFAST_CORE_LEASE_FSM_HPP
#define HOLDFAST_CORE_LEASE_FSM_HPP

#include "core/lease_terms.hpp"

#include <holdfast/lease_state.hpp>

#include <algorithm>
#include <cstdint>

namespace holdfast::detail {

/// Its holder may act.
[[nodiscard]] inline bool is_alive(lease_state state) noexcept {
    return state == lease_state::held || state == lease_state::in_doubt;
}

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
        /// Of a sleep: what comes after it may be done from then on, if that is done for others,
        /// too.
        time_point from{};
    };

    /// Until when a lease is granted at first.
    struct grant {
        time_point deadline;
        time_point renew_at;
        /// The `loss_margin` until the first renewal.
        nanos loss_margin{0};
        time_point at;
        /// The server was asked. If not, it is renewed once in any case.
        bool confirmed = true;

        /// By a request that was sent at `sent_at`.
        [[nodiscard]] static grant by_request(
            lease_terms const& terms,
            time_point sent_at,
            time_point at
        ) noexcept;
        /// Of a lock that this client has already: by a request that was sent at `sent_at`, the
        /// server keeps it until `end`.
        [[nodiscard]] static grant within(
            lease_terms const& terms,
            time_point sent_at,
            time_point end,
            time_point at
        ) noexcept;
        /// It ends at `end`, sooner than its terms want. It is renewed at `renew_at` at the latest.
        [[nodiscard]] static grant until(
            lease_terms const& terms,
            time_point end,
            time_point renew_at,
            time_point at
        ) noexcept;
    };

    lease_fsm(lease_terms const& terms, grant const& by) noexcept;
    /// `sent_at` is the clock just before the request that was granted went out.
    lease_fsm(lease_terms const& terms, time_point sent_at, time_point granted_at) noexcept
        : lease_fsm{terms, grant::by_request(terms, sent_at, granted_at)} {}

    /// The state at this instant.
    lease_state look(time_point now) noexcept;
    /// The state as it was seen last.
    [[nodiscard]] bool in_doubt() const noexcept { return state_ == lease_state::in_doubt; }
    /// Who sent a renewal.
    enum class renewed_by : std::uint8_t {
        keep_alive,
        /// By `lease::renew()`.
        holder,
        /// The client, for the lock's sake.
        client,
    };
    /// A renewal that was confirmed.
    struct renewal {
        /// Which it was sent with. Their times hold from now on.
        lease_terms terms;
        time_point sent_at;
        /// The server keeps the lock no longer than that.
        time_point until = time_point::max();
        renewed_by by = renewed_by::keep_alive;
    };

    /// What the keep-alive should do next. A renewal that is asked for a little early is due: it
    /// can leave together with others. That is not so in doubt, where each has a time of its own.
    step next(time_point now) noexcept;
    /// What a watcher of the loss should do: sleep, or finish.
    step watch(time_point now) noexcept;

    void on_renewal_sent(time_point now) noexcept;
    /// The server confirmed a renewal. True if the keep-alive has to be woken: a renewal was due
    /// before this answer came, or none was, so it may sleep until the end.
    bool on_renewed(renewal const& what, time_point now) noexcept;
    /// The server says that the lock is not ours.
    void on_not_ours(loss_reason reason, time_point now) noexcept;
    /// The renewal failed, or nobody answered. `retry_after` is how long to let it be.
    void on_renewal_failed(nanos retry_after, time_point now) noexcept;
    /// The command connection is gone: an answer on its way will not come, and nothing is renewed
    /// before the next connection.
    void on_disconnected(time_point now) noexcept;
    /// It is back; `delay` spreads the renewals of many leases.
    void on_connected(nanos delay, time_point now) noexcept;
    /// It is back, and leads to another server: the lease is in doubt, and due for a renewal.
    void on_failed_over(time_point now) noexcept;
    /// The server says that the lock is ours, and keeps its end. That ends the doubt of a lease
    /// that is not renewed.
    void on_verified(time_point now) noexcept;
    void on_client_stopped(time_point now) noexcept;
    /// It is limited as these terms say, from now on.
    void on_new_limits(lease_terms const& limits, time_point now) noexcept;
    /// The release starts. False if there is nothing to release.
    bool on_release(time_point now) noexcept;
    /// The release found that the lease had been lost before.
    void on_found_lost(loss_reason reason, time_point now) noexcept;

    /// Also after the release.
    [[nodiscard]] loss_reason loss() const noexcept { return loss_; }
    /// From then on the lock may be another holder's. The loss is reported `loss_margin` before,
    /// also where `max_hold` is its reason.
    [[nodiscard]] time_point deadline() const noexcept {
        return std::min(deadline_, saturating_add(hold_until_, loss_margin_));
    }
    [[nodiscard]] lease_terms const& terms() const noexcept { return terms_; }
    /// The keep-alive will send a renewal that gives it more time, sooner or later.
    [[nodiscard]] bool renews() const noexcept {
        return terms_.renew && !(used_up() && confirmed_);
    }

    friend bool operator==(lease_fsm const&, lease_fsm const&) = default;

private:
    void lose(loss_reason reason, time_point now) noexcept;
    [[nodiscard]] time_point stop_time() const noexcept;
    [[nodiscard]] nanos most_early() const noexcept;
    [[nodiscard]] bool used_up() const noexcept { return renewals_ >= terms_.max_renewals; }
    [[nodiscard]] time_point own_renewal_at() const noexcept;
    /// The lock was renewed and the lease has no more time. True as `on_renewed()`.
    bool on_kept(time_point sent_at) noexcept;
    [[nodiscard]] bool asked_by_terms(time_point sent_at) const noexcept;

    lease_terms terms_;
    time_point deadline_;
    time_point renew_at_;
    time_point hold_until_;
    nanos loss_margin_;
    // A client may have 100 000 leases: no more bits than needed.
    lease_state state_ : 8 = lease_state::held;
    loss_reason loss_ : 8 = loss_reason::none;
    bool in_flight_ : 1 = false;
    // A renewal has been tried since the last one that was confirmed.
    bool tried_ : 1 = false;
    bool connected_ : 1 = true;
    bool confirmed_ : 1;
    // By the keep-alive.
    std::uint32_t renewals_ = 0;
};

}  // namespace holdfast::detail

#endif
