#include "acquire/acquisitions.hpp"

#include "acquire/acquire_op.hpp"
#include "acquire/wait_queue.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::detail {

namespace {

// After a reconnection the attempts are spread over this much time each, and no more than that
// altogether: a server that has just come up is not flooded by all its clients at once.
constexpr nanos spread_each{20'000};
constexpr nanos longest_spread = millis{250};

}  // namespace

acquisitions::acquisitions(client_context& client, holds& held)
    : client_{client},
      held_{held},
      queues_{*this} {}

acquisitions::~acquisitions() = default;

void acquisitions::enter(std::shared_ptr<acquire_op> op) {
    list_owner(op);
    if (op->waits()) {
        queues_.enter(std::move(op));
        return;
    }
    if (singles_.size() >= client_.settings().max_waiters) {
        op->end(errc::too_many_waiters);
        return;
    }
    op->place = singles_.insert(singles_.end(), op);
    op->listed = true;
    if (client_.can_execute()) {
        op->attempt(lease_clock::now());
    }
}

void acquisitions::leave(acquire_op& op) noexcept {
    unlist_owner(op);
    if (op.queue) {
        op.queue->leave(op);
    } else if (std::exchange(op.listed, false)) {
        auto const keeps = std::move(*op.place);
        singles_.erase(op.place);
    }
}

void acquisitions::list_owner(std::shared_ptr<acquire_op> const& op) {
    if (op->who()) {
        auto& same =
            owners_.try_emplace(
                       {target_key{*op->on()}, *op->who()},
                       same_owner{op->on(), {}}
            ).first->second;
        same.waiting.push_back(op);
    }
}

void acquisitions::unlist_owner(acquire_op& op) noexcept {
    if (!op.who()) {
        return;
    }
    auto const at = owners_.find({target_key{*op.on()}, *op.who()});
    if (at == owners_.end()) {
        return;
    }
    at->second.waiting.remove_if([&op](auto const& one) { return one.lock().get() == &op; });
    if (at->second.waiting.empty()) {
        auto const keeps = at->second.keeps;
        owners_.erase(at);
    }
}

std::vector<std::shared_ptr<acquire_op>> acquisitions::waiting_like(acquire_op const& op) const {
    std::vector<std::shared_ptr<acquire_op>> found;
    if (!op.who()) {
        return found;
    }
    if (auto const at = owners_.find({target_key{*op.on()}, *op.who()}); at != owners_.end()) {
        for (auto const& one : at->second.waiting) {
            if (auto waiting = one.lock()) {
                found.push_back(std::move(waiting));
            }
        }
    }
    return found;
}

void acquisitions::exec(acquire_op const& op, exec_handler&& handler) {
    auto const& terms = op.terms();
    client_.count().attempts.add();
    client_.exec(
        op.on()->speaks->acquire({
            .on = *op.on(),
            .id = op.id(),
            .lease = terms.lease,
            .counter_ttl = client_.settings().fence_ttl,
            .preflight = !clock_.runs(),
            .floor = clock_.floor(op.sent_at()),
            .timeout = terms.request_timeout,
        }),
        std::move(handler)
    );
}

lease acquisitions::add_hold(
    acquire_op const& op,
    fencing_token token,
    time_point now,
    guarded_executor const& holder_executor
) {
    clock_.on_granted(token, now);
    client_.count().grants.add();
    return held_.add(
        {
            .on = op.on(),
            .id = op.id(),
            .terms = op.terms(),
            .sent_at = op.sent_at(),
            .at = now,
            .token = token,
            .who = op.who(),
        },
        holder_executor
    );
}

void acquisitions::withdraw(acquire_op const& op) noexcept {
    try {
        client_.count().withdrawals.add();
        auto const now = lease_clock::now();
        held_.releases().add(
            {
                .on = op.on(),
                .id = op.id(),
                .terms = release_fsm::terms::of_withdrawal(op.terms(), now),
                .of = {},
                .caller = {},
            },
            now
        );
    } catch (...) {
        // Out of memory: what was granted is freed by the end of its lease.
    }
}

void acquisitions::on_connected() {
    clock_.reset();
    auto const waiting = static_cast<nanos::rep>(queues_.size() + singles_.size());
    auto const spread = std::min(waiting * spread_each, longest_spread);
    queues_.on_connected(spread);
    if (singles_.empty()) {
        return;
    }
    if (!singles_timer_) {
        singles_timer_.emplace(client_.strand());
    }
    sleep_until(*singles_timer_, lease_clock::now() + scaled(spread, client_.random_part()));
    singles_timer_->async_wait([this, client = client_.shared_from_this()](error_code ec) {
        if (!ec) {
            try_singles();
        }
    });
}

void acquisitions::try_singles() {
    if (!client_.can_execute()) {
        return;
    }
    auto const all = singles_;
    for (auto const& op : all) {
        if (op->listed && !op->in_flight()) {
            op->attempt(lease_clock::now());
        }
    }
}

void acquisitions::on_disconnected() {
    queues_.on_disconnected();
}

void acquisitions::end_all(error_code cause) {
    auto const all = singles_;
    for_each_in_spite_of_exceptions(all, [cause](auto const& op) { op->end(cause); });
    queues_.end_all(cause);
}

void acquisitions::on_freed(target const& on, bool notified) {
    if (!notified) {
        client_.count().refused_notifications.add();
    }
    auto* const queue = queues_.find(on);
    if (queue && (!notified || !queue->confirmed())) {
        auto const keeps = queue->shared_from_this();
        queue->on_news();
    }
}

std::size_t acquisitions::waiters_of(target const& on) const noexcept {
    auto const* const queue = queues_.find(on);
    return queue ? queue->size() : 0;
}

void acquisitions::clear() noexcept {
    singles_timer_.reset();
    owners_.clear();
    queues_.clear();
    auto const singles = std::exchange(singles_, {});
}

}  // namespace holdfast::detail
