#include "prometheus/client_totals.hpp"

#include <algorithm>

namespace holdfast::detail {

namespace {

void add_levels(stats& to, stats const& more) noexcept {
    to.waiters_now += more.waiters_now;
    to.leases_now += more.leases_now;
    to.connections_now += more.connections_now;
    to.subscriptions_now += more.subscriptions_now;
}

void add_losses(loss_counts& to, loss_counts const& more) noexcept {
    to.expired += more.expired;
    to.taken += more.taken;
    to.deleted += more.deleted;
    to.unreachable += more.unreachable;
    to.max_hold += more.max_hold;
    to.client_stopped += more.client_stopped;
    to.max_renewals += more.max_renewals;
    to.failed_over += more.failed_over;
}

}  // namespace

void add_counters(stats& to, stats const& more) noexcept {
    to.attempts += more.attempts;
    to.grants += more.grants;
    to.refusals += more.refusals;
    to.waits += more.waits;
    to.re_entries += more.re_entries;
    to.hand_overs += more.hand_overs;
    to.hand_overs_by.own_client += more.hand_overs_by.own_client;
    to.hand_overs_by.other_client += more.hand_overs_by.other_client;
    to.hand_overs_by.notification += more.hand_overs_by.notification;
    to.hand_overs_by.expiry += more.hand_overs_by.expiry;
    to.claims_confirmed += more.claims_confirmed;
    to.claims_passed_on += more.claims_passed_on;
    to.claims_lost += more.claims_lost;
    to.longest_wait = std::max(to.longest_wait, more.longest_wait);
    to.total_wait += more.total_wait;
    to.total_hold += more.total_hold;
    to.renewals += more.renewals;
    to.failed_renewals += more.failed_renewals;
    to.releases += more.releases;
    to.withdrawals += more.withdrawals;
    add_losses(to.losses, more.losses);
    to.reconnects += more.reconnects;
    to.notifications += more.notifications;
    to.refused_notifications += more.refused_notifications;
    to.commands += more.commands;
}

void client_totals::add(stats_source const& client) {
    std::lock_guard const guard{mutex_};
    if (there_.size() >= look_at_) {
        forget_ended();
        look_at_ = std::max<std::size_t>(16, 2 * there_.size());
    }
    there_.push_back(client);
}

client_totals::sums client_totals::read() {
    std::lock_guard const guard{mutex_};
    forget_ended();
    sums result{gone_, there_.size()};
    for (auto const& client : there_) {
        auto const now = client.stats();
        add_counters(result.all, now);
        add_levels(result.all, now);
    }
    return result;
}

std::size_t client_totals::kept() {
    std::lock_guard const guard{mutex_};
    return there_.size();
}

void client_totals::forget_ended() noexcept {
    std::erase_if(there_, [this](stats_source const& client) {
        bool const over = client.ended();
        if (over) {
            add_counters(gone_, client.stats());
        }
        return over;
    });
}

}  // namespace holdfast::detail
