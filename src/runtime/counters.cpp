#include "runtime/counters.hpp"

namespace holdfast::detail {

void counters::handed_over(grant_kind how) noexcept {
    hand_overs.add();
    switch (how) {
        case grant_kind::own_client: local_hand_overs.add(); break;
        case grant_kind::other_client: direct_hand_overs.add(); break;
        case grant_kind::notification: notified_hand_overs.add(); break;
        case grant_kind::expiry: expired_hand_overs.add(); break;
        case grant_kind::uncontended:
        case grant_kind::joined: break;
    }
}

stats counters::snapshot() const noexcept {
    auto const lost = [this](loss_reason reason) {
        return losses[static_cast<std::size_t>(reason)].get();
    };
    stats s;
    s.attempts = attempts.get();
    s.grants = grants.get();
    s.refusals = refusals.get();
    s.waits = waits.get();
    s.re_entries = re_entries.get();
    s.hand_overs = hand_overs.get();
    s.hand_overs_by.own_client = local_hand_overs.get();
    s.hand_overs_by.other_client = direct_hand_overs.get();
    s.hand_overs_by.notification = notified_hand_overs.get();
    s.hand_overs_by.expiry = expired_hand_overs.get();
    s.claims_confirmed = claims_confirmed.get();
    s.claims_passed_on = claims_passed_on.get();
    s.claims_lost = claims_lost.get();
    s.longest_wait = std::chrono::nanoseconds{longest_wait_ns.get()};
    s.total_wait = std::chrono::nanoseconds{total_wait_ns.get()};
    s.total_hold = std::chrono::nanoseconds{total_hold_ns.get()};
    s.renewals = renewals.get();
    s.failed_renewals = failed_renewals.get();
    s.releases = releases.get();
    s.withdrawals = withdrawals.get();
    s.losses.expired = lost(loss_reason::expired);
    s.losses.taken = lost(loss_reason::taken);
    s.losses.deleted = lost(loss_reason::deleted);
    s.losses.unreachable = lost(loss_reason::unreachable);
    s.losses.max_hold = lost(loss_reason::max_hold);
    s.losses.client_stopped = lost(loss_reason::client_stopped);
    s.losses.max_renewals = lost(loss_reason::max_renewals);
    s.losses.failed_over = lost(loss_reason::failed_over);
    s.reconnects = reconnects.get();
    s.notifications = notifications.get();
    s.refused_notifications = refused_notifications.get();
    s.commands = commands.get();
    s.waiters_now = waiters_now.get();
    s.leases_now = leases_now.get();
    s.connections_now = connections_now.get();
    s.subscriptions_now = subscriptions_now.get();
    return s;
}

}  // namespace holdfast::detail
