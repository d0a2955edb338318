#include "acquire/acquisitions.hpp"

#include "acquire/acquire_op.hpp"
#include "acquire/quorum_line.hpp"
#include "acquire/wait_queue.hpp"
#include "core/backoff.hpp"
#include "protocol/lock.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::detail {

acquisitions::acquisitions(client_context& client, holds& held)
    : client_{client},
      held_{held},
      queues_{*this},
      channel_{*this},
      looks_{client},
      lines_{std::make_unique<quorum_lines>()} {
    held_.set_successors(*this);
}

acquisitions::~acquisitions() = default;

void acquisitions::enter(std::shared_ptr<acquire_op> op, time_point now) {
    list_owner(op);
    if (op->waits()) {
        queues_.enter(std::move(op), now);
        return;
    }
    // Those of all locks: without a server they would pile up.
    if (singles_.size() >= client_.settings().max_waiters) {
        op->end(errc::too_many_waiters);
        return;
    }
    singles_.push_back(*op, op);
    if (client_.may_attempt(*op->on())) {
        op->attempt(now);
    }
}

void acquisitions::leave(acquire_op& op) {
    unlist_owner(op);
    if (op.queue) {
        op.queue->leave(op);
    } else if (op.listed()) {
        auto const keeps = singles_.remove(op);
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

void acquisitions::withdraw(acquire_op const& op) {
    client_.count().withdrawals.add();
    give_up(op.on(), op.id(), op.terms(), millis{0});
}

void acquisitions::give_up(
    std::shared_ptr<target const> on,
    holder_id const& id,
    lease_terms const& terms,
    millis window
) {
    auto const now = lease_clock::now();
    held_.releases().add(
        {
            .on = std::move(on),
            .id = id,
            .terms = release_fsm::terms::of_withdrawal(terms, now),
            .window = window,
        },
        now
    );
}

void acquisitions::on_connected(client_context::some const& those) {
    auto const spread = spread_of(queues_.size() + singles_.size());
    queues_.on_connected(spread, those);
    if (singles_.empty()) {
        return;
    }
    if (!singles_timer_) {
        singles_timer_.emplace(client_.strand());
    }
    // What this client has released is not refused to it because the release has not left.
    auto const delay = spread_of(held_.releases().size()) + scaled(spread, client_.random_part());
    sleep_until(*singles_timer_, lease_clock::now() + delay);
    singles_timer_->async_wait([this, client = client_.shared_from_this()](error_code ec) {
        if (!ec) {
            try_singles();
        }
    });
}

void acquisitions::try_singles() {
    auto const all = singles_.copy();
    for (auto const& op : all) {
        if (op->listed() && !op->in_flight() && client_.may_attempt(*op->on())) {
            op->attempt(lease_clock::now());
        }
    }
}

void acquisitions::on_disconnected(client_context::some const& those) {
    queues_.on_disconnected(those);
}

void acquisitions::end_all(error_code cause) {
    end_all(cause, client_context::everything());
}

void acquisitions::end_all(error_code cause, client_context::some const& those) {
    auto const all = singles_.copy();
    for (auto const& op : all) {
        if (those(*op->on())) {
            op->end(cause);
        }
    }
    queues_.end_all(cause, those);
    if (cause == errc::client_stopped) {
        // For another cause, other nodes may make up a majority.
        lines_->end_all(cause);
    }
}

void acquisitions::on_freed(target const& on, bool notified) {
    if (!notified) {
        client_.on_not_notified(on);
    }
    auto const tell = [&](target_key const& side) {
        auto* const queue = queues_.find(side);
        if (queue && (!notified || !queue->confirmed())) {
            auto const keeps = queue->shared_from_this();
            // It may have been forced from the holder of this client.
            queue->on_doubt();
            queue->on_news();
        }
    };
    tell(target_key{on});
    if (auto const other = on.speaks->other_side()) {
        tell(target_key{on, *other});
    }
}

// Hand-over

// By the server's clock, which may be slower, and in whole milliseconds.
nanos acquisitions::time_to_claim(target const& on, millis window) const {
    if (!on.speaks->hands_over()) {
        // It is the first waiter's turn, and nobody claims anything.
        return window + millis{2};
    }
    nanos const longest{std::max(window, primitive::longest_window)};
    return longest + scaled(longest, client_.settings().drift) + millis{2};
}

void acquisitions::on_given_back(std::shared_ptr<target const> const& on, released const& what) {
    // mutant: no-look-after-a-hand-over
    if (what.reply && what.reply->handed_over) {
        looks_.later(on, what.id, lease_clock::now() + time_to_claim(*on, what.reply->window));
    }
    if (what.reply && what.reply->lost == loss_reason::none && !what.reply->handed_over) {
        on_freed(*on, what.reply->notified);
    } else if (what.reply && !what.reply->notified) {
        // A place that was given up, or some of the permits.
        client_.on_not_notified(*on);
    }
    if (auto* const queue = queues_.find(*on)) {
        auto const keeps = queue->shared_from_this();
        queue->on_given_back(what);
    }
}

void acquisitions::on_message(hand_over_message const& message) {
    using kind = hand_over_message::kind;
    auto* const queue = queues_.find(target_key{target_kind::lock, message.lock});
    auto const keeps = queue ? queue->shared_from_this() : nullptr;
    switch (message.what) {
        case kind::grant:
            // mutant: grants-nobody-wants-are-kept
            if (!queue || !queue->on_grant(message)) {
                pass_on(message);
            }
            break;
        case kind::next:
            if (queue) {
                queue->on_next(message);
            }
            break;
        case kind::wait:
            if (queue) {
                queue->on_others_wait(message);
            }
            break;
        case kind::look:
            if (queue) {
                queue->on_forced(message);
            }
            break;
    }
}

// The waiters have gone that wanted this lock. A hold that has the id got it from the answer to an
// attempt, which came first; or it was lost, and the id was granted the lock once more.
void acquisitions::pass_on(hand_over_message const& message) {
    auto const id = client_.holder_id_in(message.holder);
    auto on = std::make_shared<target const>(make_lock_target({}, message.lock));
    if (!id) {
        return;
    }
    held_.on_granted(*on, *id, message.token);
    if (held_.has(*on, *id)) {
        return;
    }
    client_.count().claims_passed_on.add();
    lease_terms terms;
    terms.lease = message.window;
    terms.request_timeout =
        request_timeout_for(client_.settings(), std::max(message.window, min_lease));
    give_up(std::move(on), *id, terms, millis{0});
}

void acquisitions::on_hand_over_changed() {
    queues_.on_hand_over_changed();
}

successors::waiters acquisitions::waiting_for(target const& on) const noexcept {
    auto const* const queue = queues_.find(on);
    return queue ? waiters{queue->size(), queue->queued()} : waiters{};
}

lease_terms const* acquisitions::next_terms(target const& on) const noexcept {
    auto const* const queue = closed_ ? nullptr : queues_.find(on);
    return queue && !queue->empty() ? &queue->front().terms() : nullptr;
}

void acquisitions::take(hold& of) {
    auto* const queue = queues_.find(*of.on());
    auto const keeps = queue->shared_from_this();
    queue->take(of);
    queue->update();
}

std::optional<primitive::queue_entry> acquisitions::next_entry(target const& on) {
    auto* const queue = queues_.find(on);
    return queue && !queue->empty() && !closed_ ? queue->next_entry() : std::nullopt;
}

void acquisitions::on_held(hold& of) noexcept {
    if (auto* const queue = queues_.find(*of.on())) {
        queue->on_own(of);
    }
}

void acquisitions::on_gone(target const& on) {
    if (auto* const queue = queues_.find(on)) {
        auto const keeps = queue->shared_from_this();
        queue->on_gone();
    }
}

void acquisitions::on_lost(hold const& of) {
    if (auto* const queue = queues_.find(*of.on())) {
        auto const keeps = queue->shared_from_this();
        queue->on_lost(of);
    }
}

void acquisitions::stranded::add(target const& on, time_point began, std::size_t how_many) {
    count += how_many;
    if (began < since) {
        since = began;
        lock = on.lock;
    }
}

acquisitions::stranded acquisitions::out_of_reach() const {
    stranded found;
    auto const add = [&](acquire_op const& first, std::size_t count) {
        if (!client_.can_execute(*first.on())) {
            found.add(*first.on(), first.started(), count);
        }
    };
    queues_.for_each([&](wait_queue const& each) {
        if (!each.empty()) {
            add(each.front(), each.size());
        }
    });
    for (auto const& each : singles_.copy()) {
        add(*each, 1);
    }
    return found;
}

std::size_t acquisitions::waiters_of(target const& on) const noexcept {
    return queues_.waiters_of(on);
}

void acquisitions::clear() noexcept {
    singles_timer_.reset();
    looks_.clear();
    lines_->clear();
    channel_.close();
    owners_.clear();
    queues_.clear();
    singles_.clear();
}

}  // namespace holdfast::detail
