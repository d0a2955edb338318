#include "lease/release_queue.hpp"

#include "core/backoff.hpp"
#include "core/lease_terms.hpp"
#include "lease/tenure.hpp"
#include "protocol/primitive.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace holdfast::detail {

namespace {

// A server that is away for long must not make the list grow without end. Releases of leases are as
// many as there were leases; what is dropped of the others is freed by the end of its lease.
constexpr std::size_t most_withdrawals = 100'000;

release_fsm::answer kind_of(exec_result const& result, loss_reason lost) {
    using answer = release_fsm::answer;
    switch (result.status) {
        case exec_status::replied:
            return lost == loss_reason::none ? answer::freed : answer::not_ours;
        case exec_status::failed:
            return result.error == errc::corrupt_state ? answer::corrupt : answer::failed;
        case exec_status::refused:
        case exec_status::not_sent: return answer::refused;
        case exec_status::unknown:
        case exec_status::unconfirmed: return answer::unknown;
    }
    return answer::unknown;
}

}  // namespace

struct release_queue::entry {
    entry(release_task what, time_point now) : task{std::move(what)}, fsm{task.terms, now} {}
    entry(entry const&) = delete;
    entry& operator=(entry const&) = delete;
    // Nobody was told of its end: the context is being destroyed. The lease may outlive that, those
    // who watch for its loss may not.
    ~entry() {
        if (task.of) {
            task.of->drop_watchers();
        }
    }

    release_task task;
    release_fsm fsm;
    backoff pauses{millis{200}, backoff::refusals};
    queue::iterator place{};
    bool listed = false;
};

release_queue::release_queue(client_context& client) : client_{client} {}
release_queue::~release_queue() = default;

void release_queue::add(release_task task, time_point now) {
    if (auto const e = list(std::move(task), now)) {
        send(e, now);
    }
}

// None if nothing is sent any more.
release_queue::entry_ptr release_queue::list(release_task task, time_point now) {
    auto e = std::make_shared<entry>(std::move(task), now);
    if (stopped_) {
        tell(*e, e->fsm.on_stopped());
        return {};
    }
    if (e->task.terms.withdrawal) {
        if (withdrawals_ == most_withdrawals) {
            drop_a_withdrawal();
        }
        ++withdrawals_;
    }
    e->place = pending_.emplace_hint(pending_.end(), time_point::max(), e);
    e->listed = true;
    if (!client_.can_execute(*e->task.on)) {
        e->fsm.on_disconnected();
    }
    return e;
}

void release_queue::send(entry_ptr const& e, time_point now) {
    auto& task = e->task;
    auto const next = task.next;
    auto what = task.on->speaks->release({
        .on = *task.on,
        .id = task.id,
        .timeout = task.terms.timeout,
        .hand_over = client_.hands_over(*task.on),
        .held_back = client_.grants_held_back(*task.on),
        .window = task.window,
        .next = next,
        .counter_ttl = client_.settings().fence_ttl,
        .held = task.held,
        .patience = client_.settings().waiter_patience,
    });
    if (task.held.count > 0) {
        what.may_be_forbidden();
    }
    client_.exec(
        std::move(what),
        [this, e, next, now, client = client_.shared_from_this()](exec_result result) {
            on_answer(e, result, next, now);
        }
    );
    task.next.reset();
    e->fsm.on_sent();
}

void release_queue::on_answer(
    entry_ptr const& e,
    exec_result const& result,
    std::optional<primitive::queue_entry> next,
    time_point sent_at
) {
    if (!e->listed) {
        return;
    }
    released what{e->task.id, next, {}, sent_at};
    release_reply reply;
    if (result.status == exec_status::replied) {
        reply = e->task.on->speaks->read_release(result.reply);
        what.reply = reply;
        if (reply.lost == loss_reason::none) {
            client_.count().releases.add();
        }
    }
    if (observer_.on_answered) {
        observer_.on_answered(e->task.on, what);
    }
    auto const pause = millis{20} + e->pauses.next(client_.random_part());
    auto kind = kind_of(result, reply.lost);
    if (kind == release_fsm::answer::failed && e->task.held.count > 0) {
        // Perhaps only that is not allowed.
        e->task.held = {};
        kind = release_fsm::answer::refused;
    }
    apply(e, e->fsm.on_answer(kind, result.error, reply.lost, pause, lease_clock::now()));
}

void release_queue::apply(entry_ptr const& e, release_fsm::verdict const& verdict) {
    if (verdict.left_behind) {
        left_behind_until_ = std::max(left_behind_until_, e->task.terms.until);
    }
    if (verdict.over) {
        pending_.erase(e->place);
        e->listed = false;
        withdrawals_ -= e->task.terms.withdrawal ? 1 : 0;
    } else {
        requeue(*e);
    }
    if (verdict.tell) {
        tell(*e, verdict);
    }
    if (verdict.over && idle() && observer_.on_idle) {
        observer_.on_idle();
    }
}

void release_queue::tell(entry& e, release_fsm::verdict const& verdict) {
    auto const of = std::move(e.task.of);
    auto const caller = std::move(e.task.caller);
    // The lease says so before the caller learns of it.
    if (of) {
        of->on_released(verdict.lost);
    }
    if (caller) {
        caller->complete(verdict.error);
    }
}

void release_queue::requeue(entry& e) {
    auto node = pending_.extract(e.place);
    node.key() = e.fsm.wake_at();
    e.place = pending_.insert(std::move(node));
    arm();
}

// The oldest one that is not on its way.
void release_queue::drop_a_withdrawal() {
    auto const at = std::find_if(pending_.begin(), pending_.end(), [](auto const& each) {
        return each.second->task.terms.withdrawal;
    });
    auto const dropped = at->second;
    apply(dropped, dropped->fsm.on_stopped());
}

void release_queue::on_disconnected(client_context::some const& those) {
    for (auto const& [at, e] : pending_) {
        if (those(*e->task.on)) {
            e->fsm.on_disconnected();
        }
    }
}

void release_queue::on_connected(client_context::some const& those) {
    auto const now = lease_clock::now();
    std::vector<entry_ptr> all;
    for (auto const& [at, e] : pending_) {
        if (those(*e->task.on)) {
            all.push_back(e);
        }
    }
    // The first one leaves at once, and the order stays: others may wait for a lock longest whose
    // lease ends first.
    auto const spread = spread_of(all.size());
    double before = 0;
    for (auto const& e : all) {
        auto const part = before++ / static_cast<double>(all.size());
        e->fsm.on_connected(scaled(spread, part), now);
        if (!e->listed) {
            continue;
        }
        if (e->fsm.due(now)) {
            send(e, now);
        }
        requeue(*e);
    }
}

void release_queue::stop() {
    stopped_ = true;
    auto const all = std::exchange(pending_, {});
    for (auto const& [at, e] : all) {
        e->listed = false;
        left_behind_until_ = std::max(left_behind_until_, e->task.terms.until);
    }
    timer_.reset();
    armed_for_ = time_point::max();
    for (auto const& [at, e] : all) {
        auto const verdict = e->fsm.on_stopped();
        if (!client_.gone() && verdict.tell) {
            tell(*e, verdict);
        }
    }
}

bool release_queue::left_behind() const noexcept {
    return lease_clock::now() < left_behind_until_;
}

void release_queue::arm() {
    if (pending_.empty() || pending_.begin()->first >= armed_for_) {
        return;
    }
    if (!timer_) {
        timer_.emplace(client_.strand());
    }
    auto const at = pending_.begin()->first;
    sleep_until(*timer_, at);
    timer_->async_wait([this, client = client_.shared_from_this()](error_code ec) {
        if (!ec) {
            on_timer();
        }
    });
    armed_for_ = at;
}

void release_queue::on_timer() {
    armed_for_ = time_point::max();
    auto const now = lease_clock::now();
    while (!pending_.empty() && pending_.begin()->first <= now) {
        auto const e = pending_.begin()->second;
        if (e->fsm.due(now)) {
            send(e, now);
            requeue(*e);
        } else {
            apply(e, e->fsm.look(now));
        }
    }
    arm();
}

}  // namespace holdfast::detail
