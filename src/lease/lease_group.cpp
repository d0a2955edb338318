#include "lease/lease_group.hpp"

#include "lease/delivery.hpp"
#include "lease/group_answers.hpp"
#include "lease/tenure.hpp"
#include "lease/told_once.hpp"
#include "runtime/pending_handler.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

namespace holdfast::detail {

/// One who waits until too few members are left.
class lease_group::watch : public std::enable_shared_from_this<watch> {
public:
    watch(std::shared_ptr<lease_group> of, pending_handler<error_code, loss_reason> caller)
        : of_{std::move(of)},
          caller_{std::move(caller)} {}

    void start() {
        caller_.accept_cancellation(weak_from_this());
        try {
            std::vector<share_ptr> all;
            {
                std::lock_guard const guard{of_->mutex_};
                std::erase_if(of_->watches_, [](auto const& each) { return each.expired(); });
                of_->watches_.push_back(weak_from_this());
                all = of_->shares();
            }
            for (auto const& each : all) {
                follow(each);
            }
        } catch (...) {
            // The caller of an initiating function that throws must not hear of the loss later.
            caller_.drop();
            cancel();
            throw;
        }
    }

    /// Watches a member, too.
    void follow(share_ptr const& share) {
        auto on_end = [self = shared_from_this()](error_code ec, loss_reason) {
            self->on_member_gone(ec);
        };
        auto const number = share->of.wait_lost(share, std::move(on_end));
        {
            std::lock_guard const guard{mutex_};
            if (!over_) {
                parts_.push_back({share, number});
                return;
            }
        }
        share->of.cancel_watch(number);
    }

    void end(error_code ec, loss_reason reason) {
        if (caller_.tell(ec, reason)) {
            cancel();
        }
    }

private:
    struct part {
        share_ptr share;
        std::uint64_t number = 0;
    };

    // One that is lost may leave enough others.
    void on_member_gone(error_code ec) {
        if (auto const reason = of_->loss(); reason != loss_reason::none) {
            end({}, reason);
        } else if (ec && of_->state() == lease_state::empty) {
            end(ec, loss_reason::none);
        }
    }
    void cancel() {
        std::unique_lock guard{mutex_};
        over_ = true;
        auto const parts = std::exchange(parts_, {});
        guard.unlock();
        for (auto const& each : parts) {
            each.share->of.cancel_watch(each.number);
        }
    }

    std::shared_ptr<lease_group> of_;
    told_once<loss_reason> caller_;
    std::mutex mutex_;
    std::vector<part> parts_;
    bool over_ = false;
};

lease_group::lease_group(
    std::shared_ptr<client_context> client,
    std::vector<lease>&& leases,
    std::size_t needed
)
    : client_{std::move(client)},
      needed_{needed},
      leases_{std::move(leases)} {}

multi_lease lease_group::make(std::shared_ptr<client_context> client, std::vector<lease>&& leases) {
    auto const all = leases.size();
    return multi_lease{std::make_shared<lease_group>(std::move(client), std::move(leases), all)};
}

void lease_access::raise_token(lease const& which, fencing_token to) noexcept {
    share_of(which)->of.raise_token(to);
}

fencing_token lease_access::quorum_token(lease const& which) noexcept {
    return share_of(which)->of.quorum_token();
}

quorum_lease lease_group::make_lease(std::shared_ptr<lease_group> group, fencing_token token) {
    return quorum_lease{std::move(group), token};
}

// Under the mutex.
std::vector<lease_group::share_ptr> lease_group::shares() const {
    std::vector<share_ptr> all;
    all.reserve(leases_.size());
    for (auto const& each : leases_) {
        if (auto const& share = lease_access::share_of(each)) {
            all.push_back(share);
        }
    }
    return all;
}

lease_state lease_group::look() const noexcept {
    if (released_) {
        return lease_state::empty;
    }
    std::size_t held = 0;
    std::size_t in_doubt = 0;
    for (auto const& each : leases_) {
        auto const now = each.state();
        held += now == lease_state::held ? 1U : 0U;
        in_doubt += now == lease_state::in_doubt ? 1U : 0U;
    }
    if (held >= needed_) {
        return lease_state::held;
    }
    if (held + in_doubt >= needed_) {
        return lease_state::in_doubt;
    }
    static_cast<void>(look_for_loss());
    return lease_state::lost;
}

lease_state lease_group::state() const noexcept {
    std::lock_guard const guard{mutex_};
    return look();
}

// Also after the release, which may find what nobody had seen.
loss_reason lease_group::look_for_loss() const noexcept {
    if (first_loss_ != loss_reason::none) {
        return first_loss_;
    }
    std::size_t left = 0;
    auto first = loss_reason::none;
    for (auto const& each : leases_) {
        auto const reason = each.loss();
        if (reason != loss_reason::none) {
            first = first == loss_reason::none ? reason : first;
        } else if (lease_access::share_of(each)) {
            ++left;
        }
    }
    if (left < needed_) {
        first_loss_ = first;
    }
    return first_loss_;
}

loss_reason lease_group::loss() const noexcept {
    std::lock_guard const guard{mutex_};
    return look_for_loss();
}

// When too few are left.
time_point lease_group::deadline() const noexcept {
    std::array<time_point, most_members> ends{};
    auto end = ends.begin();
    std::lock_guard const guard{mutex_};
    for (auto const& each : leases_) {
        *end++ = each.deadline();
    }
    std::sort(ends.begin(), end, std::greater<>{});
    return ends[needed_ - 1];
}

std::size_t lease_group::standing() const noexcept {
    std::lock_guard const guard{mutex_};
    return released_ ? 0
                     : static_cast<std::size_t>(std::count_if(
                           leases_.begin(),
                           leases_.end(),
                           [](lease const& each) { return each.valid(); }
                       ));
}

bool lease_group::has_room(std::size_t place) const noexcept {
    std::lock_guard const guard{mutex_};
    return !leases_[place].valid();
}

guarded_executor lease_group::holder() const {
    std::unique_lock guard{mutex_};
    auto const all = shares();
    guard.unlock();
    for (auto const& each : all) {
        if (auto found = each->of.holder_of(*each)) {
            return found;
        }
    }
    return {};
}

bool lease_group::join(std::size_t place, lease&& given) {
    std::vector<std::weak_ptr<watch>> told;
    share_ptr joined;
    lease gone;
    {
        std::lock_guard const guard{mutex_};
        auto const now = look();
        // One that joins does not make up for a time without a majority.
        if (now == lease_state::empty || now == lease_state::lost) {
            return false;
        }
        told = watches_;
        joined = lease_access::share_of(given);
        joined->of.tell_of_renewals(*joined, weak_from_this());
        std::swap(gone, leases_[place]);
        std::swap(leases_[place], given);
    }
    for (auto const& each : told) {
        if (auto const one = each.lock()) {
            one->follow(joined);
        }
    }
    return true;
}

std::shared_ptr<group_answers> lease_group::expect_answers(
    plain_handler handler,
    std::size_t all,
    std::size_t enough
) {
    auto made = std::make_shared<group_answers>(
        pending_handler<error_code>{std::move(handler), executor()},
        all,
        enough
    );
    made->accept_cancellation(made);
    return made;
}

void lease_group::set_keeper(std::shared_ptr<group_keeper> keeper) noexcept {
    keeper_ = std::move(keeper);
    for (auto const& each : leases_) {
        if (auto const& share = lease_access::share_of(each)) {
            share->of.tell_of_renewals(*share, weak_from_this());
        }
    }
}

// Members that are renewed at about the same time are looked at once.
void lease_group::on_renewal() {
    if (client_->closed()) {
        return;
    }
    {
        std::lock_guard const guard{mutex_};
        if (!keeper_ || std::exchange(will_look_, true)) {
            return;
        }
    }
    client_->on_strand([self = shared_from_this()] { self->look_after_members(); });
}

// The user may take long to notice a loss. What is left would be renewed until then, and nobody
// else would get a majority. A loss by time is told before the deadline, up to which the user may
// still be stopping: nobody else gets the lock before that.
void lease_group::look_after_members() {
    std::unique_lock guard{mutex_};
    will_look_ = false;
    auto const keeper = keeper_;
    auto const now = look();
    guard.unlock();
    auto const time = lease_clock::now();
    if (keeper && is_alive(now)) {
        keeper->ask_for_missing(time);
    } else if (keeper && now == lease_state::lost && time >= deadline()) {
        release_rest();
    }
}

void lease_group::renew(plain_handler handler) {
    on_renewal();
    confirm(std::move(handler));
}

void lease_group::confirm(plain_handler handler) {
    if (client_->gone()) {
        return;
    }
    std::unique_lock guard{mutex_};
    auto const members = shares();
    guard.unlock();
    auto const all = expect_answers(std::move(handler), members.size(), needed_);
    for (std::size_t i = 0; i < members.size(); ++i) {
        members[i]->of.renew(members[i], [all, i](error_code ec) { all->on_answer(i, ec); });
    }
}

// What was lost before is told by then. The requests of a client leave in one turn of its strand,
// and so together.
void lease_group::release(plain_handler handler) {
    if (client_->gone()) {
        abandon();
        return;
    }
    std::unique_lock guard{mutex_};
    static_cast<void>(look());
    static_cast<void>(look_for_loss());
    released_ = true;
    auto const members = shares();
    guard.unlock();
    end_keeping();
    auto const all =
        expect_answers(std::move(handler), members.size(), std::min(needed_, members.size()));
    begin_releases(members, [all](std::size_t i, error_code ec) { all->on_answer(i, ec); });
}

// Those that are lost stay, and tell the user's release so.
void lease_group::release_rest() {
    std::unique_lock guard{mutex_};
    auto members = shares();
    guard.unlock();
    std::erase_if(members, [](auto const& each) { return !is_alive(each->of.state(*each)); });
    end_keeping();
    begin_releases(members, [](std::size_t, error_code) {});
}

void lease_group::begin_releases(
    std::vector<share_ptr> const& members,
    std::function<void(std::size_t, error_code)> const& on_answer
) {
    std::vector<given_back> left;
    left.reserve(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
        auto const& share = members[i];
        auto rest =
            share->of.begin_release(share, [on_answer, i](error_code ec) { on_answer(i, ec); });
        if (rest) {
            left.push_back(*std::move(rest));
        }
    }
    while (!left.empty()) {
        auto& client = left.back().of->over().client();
        std::vector<given_back> own;
        std::vector<given_back> others;
        for (auto& each : left) {
            bool const is_own = &each.of->over().client() == &client;
            (is_own ? own : others).push_back(std::move(each));
        }
        left = std::move(others);
        client.enter_strand([own = std::move(own)]() mutable {
            for (auto& each : own) {
                each();
            }
        });
    }
}

void lease_group::wait_lost(loss_handler handler) {
    if (client_->gone()) {
        return;
    }
    std::unique_lock guard{mutex_};
    auto const first = shares().front();
    guard.unlock();
    auto const made = std::make_shared<watch>(
        shared_from_this(),
        pending_handler<error_code, loss_reason>{std::move(handler), first->of.told_on(*first)}
    );
    made->start();
}

void lease_group::end_keeping() noexcept {
    std::unique_lock guard{mutex_};
    auto const keeper = std::exchange(keeper_, {});
    guard.unlock();
    if (keeper) {
        keeper->on_group_over();
    }
}

void lease_group::abandon() noexcept {
    bool discarded = delivery::discards(this);
    {
        std::lock_guard const guard{mutex_};
        static_cast<void>(look());
        static_cast<void>(look_for_loss());
        released_ = true;
    }
    end_keeping();
    // Nothing joins any more.
    for (auto const& each : leases_) {
        if (auto const& share = lease_access::share_of(each)) {
            // One lock of several says enough.
            if (std::exchange(discarded, false)) {
                report_discarded_lease(client_, share->of.over().on());
            }
            share->of.abandon(*share);
        }
    }
}

}  // namespace holdfast::detail
