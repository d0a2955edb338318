#include "ops/releaser.hpp"

#include "ops/client_state.hpp"
#include "redis/scripts.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace holdfast::detail {

namespace {

// A server that is away for long must not make the list grow without end; what falls off is freed
// by its lease.
constexpr std::size_t most_pending = 100'000;

}  // namespace

releaser::releaser(client_state& client)
    : client_{client},
      timer_{std::in_place, client.strand()} {}

void releaser::add(release_task task) {
    if (pending_.size() >= most_pending) {
        finish(*pending_.front(), errc::release_unknown);
    }
    auto e = std::make_shared<entry>(std::move(task), lease_clock::now());
    e->position = pending_.insert(pending_.end(), e);
    send(e);
}

void releaser::send(std::shared_ptr<entry> const& e) {
    e->in_flight = true;
    e->retry_at = time_point::max();
    std::array<std::string_view, 2> const keys{e->task.key->lock, e->task.key->channel};
    std::array<std::string_view, 1> const args{e->task.id.view()};
    client_.exec(
        scripts::release,
        keys,
        args,
        e->task.timeout,
        [this, e, client = client_.shared_from_this()](exec_result result) { on_answer(e, result); }
    );
}

void releaser::on_answer(std::shared_ptr<entry> const& e, exec_result const& result) {
    e->in_flight = false;
    if (e->done) {
        return;
    }
    auto const& task = e->task;
    error_code const lost = task.was_lost ? make_error_code(errc::lease_lost) : error_code{};
    switch (result.status) {
        case exec_status::replied: {
            bool const ours = result.reply.integer(0) == 1;
            if (ours) {
                client_.count().releases.add();
                client_.rooms().on_released(*task.key, result.reply.integer(1) == 1);
            }
            bool const freed = ours || task.withdrawal || e->unsure;
            finish(*e, freed ? lost : make_error_code(errc::lease_lost));
            return;
        }
        case exec_status::failed:
            // A value of another kind under the key means that the lock is gone.
            finish(
                *e,
                task.was_lost || result.error == errc::corrupt_state
                    ? make_error_code(errc::lease_lost)
                    : result.error
            );
            return;
        case exec_status::unknown: e->unsure = true; break;
        case exec_status::refused:
        case exec_status::not_sent: break;
    }
    retry(*e, millis{20} + scaled(millis{200}, client_.random_part()));
}

void releaser::retry(entry& e, nanos after) {
    auto const now = lease_clock::now();
    auto& task = e.task;
    // The lease is over: nothing is left to free. A caller has had its answer by then.
    if (now >= task.until || client_.gone()) {
        finish(e, task.was_lost ? errc::lease_lost : errc::release_unknown);
        return;
    }
    auto const answer_by = e.started + 2 * task.timeout;
    if (task.handler && now >= answer_by) {
        std::exchange(task.handler, {})
            ->complete(task.was_lost ? errc::lease_lost : errc::release_unknown);
    }
    e.retry_at = client_.commands_up() ? now + after : time_point::max();
    auto next = std::min(e.retry_at, task.until);
    if (task.handler) {
        next = std::min(next, answer_by);
    }
    arm(next);
}

void releaser::finish(entry& e, error_code result) {
    e.done = true;
    if (e.task.handler) {
        std::exchange(e.task.handler, {})->complete(result);
    }
    pending_.erase(e.position);
    client_.on_release_settled();
}

void releaser::on_connected() {
    auto const all = pending_;
    for (auto const& e : all) {
        if (!e->done && !e->in_flight) {
            send(e);
        }
    }
}

bool releaser::stop() {
    bool const left = !pending_.empty();
    for (auto const& e : std::exchange(pending_, {})) {
        e->done = true;
        if (e->task.handler) {
            std::exchange(e->task.handler, {})
                ->complete(e->task.was_lost ? errc::lease_lost : errc::release_unknown);
        }
    }
    timer_.reset();
    return left;
}

void releaser::arm(time_point at) {
    if (at >= armed_for_ || !timer_) {
        return;
    }
    armed_for_ = at;
    sleep_until(*timer_, at);
    timer_->async_wait([this, client = client_.shared_from_this()](error_code ec) {
        if (!ec) {
            on_timer();
        }
    });
}

void releaser::on_timer() {
    armed_for_ = time_point::max();
    auto const now = lease_clock::now();
    auto const all = pending_;
    for (auto const& e : all) {
        if (e->done || e->in_flight) {
            continue;
        }
        if (now >= e->retry_at) {
            send(e);
        } else {
            retry(
                *e,
                std::max(e->retry_at == time_point::max() ? nanos{0} : e->retry_at - now, nanos{0})
            );
        }
    }
}

}  // namespace holdfast::detail
