#include "lease/holds.hpp"

#include <cstdint>
#include <iterator>
#include <utility>

namespace holdfast::detail {

namespace {

// Most leases are released sooner than this. It is a small part of the shortest lease: a lease that
// is older is looked after long before anything has to be done about it.
constexpr millis young{20};

}  // namespace

holds::holds(client_context& client) : client_{client}, releases_{client} {}

lease holds::add(grant const& granted, guarded_executor const& holder_executor) {
    auto const now = granted.at;
    auto const made = std::make_shared<hold>(
        client_.shared_from_this(),
        granted.on,
        granted.id,
        lease_fsm{granted.terms, granted.sent_at, now},
        now
    );
    auto const first = std::make_shared<tenure>(*this, made, granted.token, holder_executor);
    owners_.on_granted(*granted.on, granted.who, *first);
    made->on_listed(first);
    holds_.push_back(*made);
    client_.count().leases_now.add();
    lease given;
    try {
        if (granted.sent_at + granted.terms.renew_after < now + 2 * young) {
            first->start_keep_alive();
        } else {
            keep_alive_later(now + young);
        }
        given = first->make_lease();
    } catch (...) {
        forget(*made, now);
        throw;
    }
    return given;
}

void holds::forget(hold& of, time_point now) noexcept {
    if (!of.is_linked()) {
        return;
    }
    auto const keeps = of.shared_from_this();
    holds_.erase(holds_.iterator_to(of));
    auto const last = of.on_forgotten();
    owners_.on_forgotten(*of.on(), *last);
    client_.count().leases_now.subtract();
    client_.count().total_hold_ns.add(static_cast<std::uint64_t>((now - of.granted_at()).count()));
    last->drop_executors();
}

void holds::give_back(
    std::shared_ptr<tenure> of,
    bool was_lost,
    std::shared_ptr<pending_handler<error_code>> caller
) {
    auto const& given = of->share_hold();
    auto const now = lease_clock::now();
    forget(*given, now);
    releases_.add(
        {
            .on = given->on(),
            .id = given->id(),
            .terms = release_fsm::terms::of_lease(given->terms(), now, was_lost),
            .of = std::move(of),
            .caller = std::move(caller),
        },
        now
    );
}

bool holds::any_of(target const& on) const noexcept {
    for (auto const& each : holds_) {
        if (target_key{*each.on()} == target_key{on}) {
            return true;
        }
    }
    return false;
}

tenure* holds::of_owner(target const& on, std::optional<owner> const& who) const {
    return who ? owners_.find(on, *who) : nullptr;
}

void holds::keep_alive_later(time_point at) {
    if (armed_) {
        return;
    }
    if (!timer_) {
        timer_.emplace(client_.strand());
    }
    sleep_until(*timer_, at);
    timer_->async_wait([this, client = client_.shared_from_this()](error_code ec) {
        armed_ = false;
        if (!ec) {
            start_keep_alives();
        }
    });
    armed_ = true;
}

void holds::start_keep_alives() {
    auto const now = lease_clock::now();
    // The holds stand in the order of their times: the young ones are the last.
    auto first = holds_.end();
    while (first != holds_.begin() && std::prev(first)->granted_at() > kept_until_) {
        --first;
    }
    for (; first != holds_.end(); ++first) {
        if (first->granted_at() + young / 2 > now) {
            keep_alive_later(first->granted_at() + young);
            return;
        }
        try {
            first->current()->start_keep_alive();
        } catch (...) {
            keep_alive_later(now + young);
            throw;
        }
        kept_until_ = first->granted_at();
    }
}

void holds::on_connected() {
    releases_.on_connected();
    for (auto& each : holds_) {
        // Spread over a part of the time that is left, so that thousands of renewals do not come at
        // once.
        each.on_connected(scaled(each.terms().renew_after / 16, client_.random_part()));
    }
}

void holds::on_disconnected() {
    releases_.on_disconnected();
    for (auto& each : holds_) {
        each.on_disconnected();
    }
}

void holds::stop() {
    timer_.reset();
    auto const now = lease_clock::now();
    while (!holds_.empty()) {
        auto const held = holds_.front().shared_from_this();
        held->on_client_stopped();
        forget(*held, now);
        releases_.add(
            {
                .on = held->on(),
                .id = held->id(),
                .terms = release_fsm::terms::of_withdrawal(held->terms(), now),
                .of = {},
                .caller = {},
            },
            now
        );
    }
}

void holds::on_context_gone() noexcept {
    while (!holds_.empty()) {
        auto const held = holds_.front().shared_from_this();
        holds_.pop_front();
        auto const last = held->on_forgotten();
        last->drop_executors();
        last->drop_watchers();
    }
    owners_.clear();
    timer_.reset();
    releases_.stop();
}

}  // namespace holdfast::detail
