#include "acquire/wait_queues.hpp"

#include "acquire/acquire_op.hpp"
#include "acquire/acquisitions.hpp"
#include "acquire/wait_queue.hpp"
#include "protocol/primitive.hpp"
#include "runtime/client_context.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::detail {

namespace {

// An empty queue keeps its subscription this long: the next waiter of a busy lock is a moment away.
constexpr millis linger{500};

}  // namespace

void wait_queues::enter(std::shared_ptr<acquire_op> op, time_point now) {
    auto* const shared = find(*op->on());
    auto const waiting = shared ? shared->size() : waiters_of(*op->on());
    // mutant: waiters-without-end
    if (waiting >= all_.client().settings().max_waiters) {
        op->end(errc::too_many_waiters);
        return;
    }
    auto const queue =
        shared ? shared->shared_from_this() : std::make_shared<wait_queue>(all_, op->on());
    if (!shared) {
        // The key is a name in the target, which the queue shares.
        queues_.emplace(target_key{*op->on()}, queue);
    }
    queue->join(std::move(op), now);
}

wait_queue* wait_queues::find(target const& on) const noexcept {
    return on.speaks->queues_each() ? nullptr : find(target_key{on});
}

wait_queue* wait_queues::find(target_key const& on) const noexcept {
    if (queues_.empty()) {
        return nullptr;  // it need not hash the name
    }
    auto const at = queues_.find(on);
    return at == queues_.end() ? nullptr : at->second.get();
}

std::size_t wait_queues::waiters_of(target const& on) const noexcept {
    if (on.speaks->queues_each()) {
        return queues_.count(target_key{on});
    }
    auto const* const shared = find(on);
    return shared ? shared->size() : 0;
}

std::size_t wait_queues::waiters_of_name(target const& on) const noexcept {
    std::size_t count = 0;
    for (auto const& [key, queue] : queues_) {
        count += key.kind == on.kind && key.name == on.lock ? queue->size() : 0;
    }
    return count;
}

void wait_queues::on_empty(wait_queue& which) {
    if (!which.lingers()) {
        close(which);
        return;
    }
    lingering_.push_back({which.weak_from_this(), which.empty_since()});
    arm_sweep();
}

void wait_queues::close(wait_queue& which) noexcept {
    auto const [first, end] = queues_.equal_range(target_key{*which.on()});
    auto const at =
        std::find_if(first, end, [&](auto const& each) { return each.second.get() == &which; });
    if (at != end) {
        // The key is a name in the queue.
        auto const closed = std::move(at->second);
        queues_.erase(at);
        if (queues_.empty()) {
            all_.channel().close();
        }
    }
}

void wait_queues::arm_sweep() {
    if (sweeping_) {
        return;
    }
    if (!sweep_timer_) {
        sweep_timer_.emplace(all_.client().strand());
    }
    sleep_until(*sweep_timer_, lingering_.front().since + linger);
    sweep_timer_->async_wait([client = all_.client().shared_from_this(), this](error_code ec) {
        sweeping_ = false;
        if (!ec) {
            sweep();
        }
    });
    sweeping_ = true;
}

void wait_queues::sweep() {
    auto const old = lease_clock::now() - linger;
    while (!lingering_.empty() && lingering_.front().since <= old) {
        auto const queue = lingering_.front().which.lock();
        bool const still =
            queue && queue->empty() && queue->empty_since() == lingering_.front().since;
        lingering_.pop_front();
        if (still) {
            close(*queue);
        }
    }
    if (!lingering_.empty()) {
        arm_sweep();
    }
}

std::vector<std::shared_ptr<wait_queue>> wait_queues::all() const {
    std::vector<std::shared_ptr<wait_queue>> queues;
    queues.reserve(queues_.size());
    for (auto const& [key, queue] : queues_) {
        queues.push_back(queue);
    }
    return queues;
}

void wait_queues::on_connected(nanos spread, client_context::some const& those) {
    for (auto const& queue : all()) {
        if (those(*queue->on())) {
            queue->on_connected(scaled(spread, all_.client().random_part()));
        }
    }
}

void wait_queues::on_disconnected(client_context::some const& those) {
    for (auto const& [key, queue] : queues_) {
        if (those(*queue->on())) {
            queue->on_disconnected();
        }
    }
}

void wait_queues::on_hand_over_changed() {
    for (auto const& queue : all()) {
        queue->on_hand_over_changed();
    }
}

void wait_queues::end_all(error_code cause, client_context::some const& those) {
    for (auto const& queue : all()) {
        if (those(*queue->on())) {
            queue->end_all(cause);
        }
    }
}

void wait_queues::clear() noexcept {
    sweep_timer_.reset();
    lingering_.clear();
    // Handlers in there may own the last reference to anything.
    auto const queues = std::exchange(queues_, {});
}

}  // namespace holdfast::detail
