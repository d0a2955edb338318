#include "client/counting.hpp"

#include "acquire/acquire_op.hpp"
#include "client/client_state.hpp"
#include "client/request.hpp"
#include "core/acquire_fsm.hpp"

#include <holdfast/detail/counted_handle.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <list>
#include <string>

namespace holdfast::detail {

namespace {

// An empty queue keeps its subscription this long: the next waiter may be a moment away.
constexpr millis linger_time{500};
// A server that is away for long must not make the list grow without end.
constexpr std::size_t most_withdrawals = 100'000;
// Long enough for many marks to go together, and short beside the time that they are kept.
constexpr millis longest_to_forget{1'000};
constexpr std::size_t forgotten_together = 32;

// No lease limits the time of an attempt.
nanos attempt_timeout(config const& settings) {
    return request_timeout_for(settings, max_lease);
}

// What takes permits is asked for again where replicas are waited for.
nanos longest_try(client_context const& client, target const& on) {
    auto const timeout = attempt_timeout(client.settings());
    bool const confirms = client.confirms() && counted::takes(on);
    return confirms ? timeout + replication_timeout_for(client.settings(), timeout) : timeout;
}

attempt_answer answer_to(target const& on, exec_result const& result) {
    switch (result.status) {
        case exec_status::replied: break;
        case exec_status::failed: return attempt_answer::failed;
        case exec_status::refused: return attempt_answer::refused;
        case exec_status::not_sent: return attempt_answer::not_sent;
        case exec_status::unknown: return attempt_answer::unknown;
        case exec_status::unconfirmed: return attempt_answer::unconfirmed;
    }
    auto const success = counted::read_attempt(on, result.reply);
    return !success   ? attempt_answer::failed
           : *success ? attempt_answer::granted
                      : attempt_answer::busy;
}

}  // namespace

/// One operation that waits until a latch is open, or for permits of a counting semaphore. Used on
/// the client's strand.
class number_wait final : public std::enable_shared_from_this<number_wait> {
public:
    /// `then` is called once. Neither an error nor a success: the latch is closed, or the permits
    /// are too few.
    number_wait(
        std::shared_ptr<client_state> client,
        std::shared_ptr<target const> what,
        patience how_long,
        nanos limit,
        std::function<void(error_code, bool success)> then
    );

    void start();
    /// Carries out a verdict that did not come from the queue.
    void end(acquire_fsm::verdict verdict);
    void on_cancel(asio::cancellation_type type) { end(fsm.on_cancel(request_of(type))); }
    void on_attempt_answered(attempt_answer answer, error_code cause);
    void on_wait();
    void carry_out(acquire_fsm::verdict verdict, grant_kind how = grant_kind::uncontended);

    [[nodiscard]] bool tries_once() const { return how_long_ == patience::one_attempt; }
    [[nodiscard]] bool brief() const { return is_brief(how_long_, limit_); }
    [[nodiscard]] bool overdue() const { return fsm.overdue() && !fsm.done(); }

    std::shared_ptr<client_state> const client;
    std::shared_ptr<target const> const on;
    acquire_fsm fsm;
    time_point const started = lease_clock::now();
    bool has_waited = false;
    number_queue* queue = nullptr;
    std::list<std::shared_ptr<number_wait>>::iterator place;

private:
    void on_time_up();
    void arm(time_point at);
    [[nodiscard]] observer::acquisition observed() const { return {number_, on->lock, has_waited}; }

    patience const how_long_;
    nanos const limit_;
    std::function<void(error_code, bool)> then_;
    std::uint64_t const number_;  // for the observer
    std::optional<timer> timer_;
};

/// The operations of one client that wait for the same, in order. One subscription and one attempt
/// at a time serve all. Used on the client's strand.
class number_queue final : public look_loop {
public:
    number_queue(std::shared_ptr<client_state> client, std::shared_ptr<target const> on)
        : look_loop{std::move(client), std::move(on)} {}

    void join(std::shared_ptr<number_wait> op);
    void leave(number_wait& op);
    /// The time of this operation is up: it waits for an answer only.
    void on_overdue(number_wait const& op);
    void end_all(error_code cause) override;
    void clear() noexcept override;

    using look_loop::update;
    [[nodiscard]] auto const& waiting() const { return waiting_; }
    [[nodiscard]] bool busy_since(time_point start) const { return fsm_.busy_since(start); }

private:
    // Attempts with one id take permits once: there is a new id for the next permits.
    struct attempt {
        holder_id id;
        bool in_flight = false;
        // A request was not answered, and may take permits yet.
        bool unsure = false;
        // It took permits, or was withdrawn.
        bool over = false;
    };
    struct sent {
        std::shared_ptr<attempt> by;
        std::shared_ptr<number_wait> first;
        time_point at;
        grant_kind how;
    };

    [[nodiscard]] bool wanted() override;
    [[nodiscard]] bool may_look() const override { return client_->may_attempt(*on_); }
    void look(time_point now) override;
    void on_answer(sent const& what, exec_result const& result);
    void on_success(sent const& what);
    void drop_attempt();

    std::list<std::shared_ptr<number_wait>> waiting_;
    std::size_t overdue_ = 0;
    std::shared_ptr<attempt> attempt_;
    time_point empty_since_{};
};

void number_queue::join(std::shared_ptr<number_wait> op) {
    auto& joined = *op;
    joined.queue = this;
    joined.place = waiting_.insert(waiting_.end(), std::move(op));
    if (!joined.tries_once()) {
        client_->count().waiters_now.add();
    }
    if (waiting_.size() == 1) {
        // It asks, whatever was known before.
        fsm_.on_news();
    } else {
        joined.on_wait();
        fsm_.on_newcomer(joined.brief(), lease_clock::now());
    }
    update();
}

void number_queue::leave(number_wait& op) {
    if (!op.tries_once()) {
        client_->count().waiters_now.subtract();
    }
    overdue_ -= op.fsm.overdue() ? 1 : 0;
    op.queue = nullptr;
    waiting_.erase(op.place);
    if (waiting_.empty()) {
        drop_attempt();
        empty_since_ = lease_clock::now();
    }
}

void number_queue::on_overdue(number_wait const& op) {
    ++overdue_;
    if (!fsm_.asked_since(op.started)) {
        on_news();
    }
}

// The first refusal is the reason to subscribe.
bool number_queue::wanted() {
    if (waiting_.empty()) {
        if (auto const end = empty_since_ + linger_time; listens() && lease_clock::now() < end) {
            arm(end);
        } else {
            client_->numbers().close(*this);
        }
        return false;
    }
    if (fsm_.wants_notifications() && !listens()) {
        listen(on_->channel());
    }
    return true;
}

void number_queue::look(time_point now) {
    if (!attempt_) {
        attempt_ = std::make_shared<attempt>(attempt{client_->make_holder_id()});
    }
    attempt_->in_flight = true;
    auto const& first = waiting_.front();
    first->fsm.on_attempt_sent(time_point::max());
    client_->count().attempts.add();
    auto const how =
        std::exchange(notified_, false) ? grant_kind::notification : grant_kind::expiry;
    auto answered = [this,
                     self = shared_from_this(),
                     what = sent{attempt_, first, now, how}](exec_result const& result) {
        on_answer(what, result);
        update();
    };
    auto request = counted::attempt(*on_, attempt_->id, attempt_timeout(client_->settings()));
    request.unless({attempt_, &attempt_->over});
    // What takes nothing is not missed by a server that has lost it.
    if (!client_->confirms() || !counted::takes(*on_)) {
        client_->exec(std::move(request), std::move(answered));
        return;
    }
    auto again = request;
    auto const succeeded = [on = on_](script_reply const& reply) {
        return counted::read_attempt(*on, reply).value_or(false);
    };
    client_->exec_granting(std::move(request), std::move(again), succeeded, std::move(answered));
}

void number_queue::on_answer(sent const& what, exec_result const& result) {
    what.by->in_flight = false;
    if (what.by->over) {
        // Its repetition, which waited for replicas on a connection of its own, may have come after
        // the withdrawal.
        if (client_->confirms()) {
            client_->numbers().withdraw(on_, what.by->id);
        }
        return;
    }
    auto const answer = answer_to(*on_, result);
    auto cause = result.error;
    switch (answer) {
        case attempt_answer::granted: on_success(what); return;
        case attempt_answer::busy:
            fsm_.on_busy(std::nullopt, nanos{0}, lease_clock::now());
            client_->count().refusals.add();
            waiting_.front()->on_wait();
            break;
        case attempt_answer::failed:
            cause = cause ? cause : make_error_code(errc::corrupt_state);
            fsm_.on_undecided();
            break;
        case attempt_answer::unknown:
        case attempt_answer::unconfirmed: what.by->unsure = true; [[fallthrough]];
        case attempt_answer::refused:
        case attempt_answer::not_sent:
            fsm_.on_setback(client_->random_part(), lease_clock::now());
            break;
    }
    what.first->on_attempt_answered(answer, cause);
    if (overdue_ > 0) {
        auto const all = waiting_;
        for (auto const& op : all) {
            if (op->overdue() && what.at >= op->started) {
                op->on_attempt_answered(answer, cause);
            }
        }
    }
}

// The attempt may have been made for an operation that has gone.
void number_queue::on_success(sent const& what) {
    what.by->over = true;
    attempt_.reset();
    fsm_.on_granted(max_lease, false, lease_clock::now());
    auto const succeed = [&](std::shared_ptr<number_wait> op) {
        client_->count().grants.add();
        if (op->has_waited) {
            client_->count().handed_over(what.how);
        }
        op->carry_out(
            op->fsm.on_answer(attempt_answer::granted, {}),
            op->has_waited ? what.how : grant_kind::uncontended
        );
    };
    if (counted::takes(*on_)) {
        if (!what.by->unsure) {
            client_->numbers().forget(on_, what.by->id);
        }
        // There may be more permits.
        fsm_.on_news();
        succeed(what.first->queue == this ? what.first : waiting_.front());
        return;
    }
    while (!waiting_.empty()) {
        succeed(waiting_.front());
    }
}

void number_queue::drop_attempt() {
    auto const dropped = std::exchange(attempt_, {});
    if (!dropped) {
        return;
    }
    dropped->over = true;
    if (dropped->in_flight) {
        fsm_.on_undecided();
    }
    if (dropped->in_flight || dropped->unsure) {
        // mutant: dropped-attempt-takes-permits
        client_->numbers().withdraw(on_, dropped->id);
    }
}

void number_queue::end_all(error_code cause) {
    auto const self = shared_from_this();
    while (!waiting_.empty()) {
        auto const op = waiting_.front();
        op->carry_out(op->fsm.on_ended(cause));
    }
    update();
}

void number_queue::clear() noexcept {
    look_loop::clear();
    if (attempt_) {
        attempt_->over = true;
    }
    // Handlers may own the last reference to anything.
    auto const waiting = std::exchange(waiting_, {});
}

// One operation

number_wait::number_wait(
    std::shared_ptr<client_state> of,
    std::shared_ptr<target const> what,
    patience how_long,
    nanos limit,
    std::function<void(error_code, bool)> then
)
    : client{std::move(of)},
      on{std::move(what)},
      fsm{effective_patience(how_long, limit)},
      how_long_{effective_patience(how_long, limit)},
      limit_{how_long_ == patience::one_attempt ? longest_try(*client, *on) : limit},
      then_{std::move(then)},
      number_{client->next_acquisition()} {
    client->tell_observer([this](observer& told) { told.on_acquire(observed()); });
}

void number_wait::start() {
    auto const cause = client->acquires().closed() ? make_error_code(errc::client_stopped)
                       : client->can_execute(*on)  ? error_code{}
                                                   : client->failure(*on);
    if (cause) {
        carry_out(fsm.on_ended(cause));
    }
    if (fsm.done()) {
        return;
    }
    if (how_long_ != patience::unlimited) {
        arm(saturating_add(started, limit_));
    }
    client->numbers().enter(shared_from_this());
}

void number_wait::end(acquire_fsm::verdict verdict) {
    auto* const from = queue;
    auto const keeps = from ? from->shared_from_this() : nullptr;
    carry_out(verdict);
    if (from) {
        from->update();
    }
}

// Without the answer to an attempt that was sent after the operation began, it is not known whether
// the number is too small. If the server can be asked, the operation waits for one.
void number_wait::on_time_up() {
    // The timer may have been due when the operation ended.
    if (fsm.done()) {
        return;
    }
    auto const timeout = attempt_timeout(client->settings());
    bool const busy = queue->busy_since(started);
    bool const reachable = client->may_be_answered(*on, timeout);
    end(fsm.on_time_up(busy, reachable, client->why_no_attempt(*on)));
    if (overdue()) {
        arm(lease_clock::now() + longest_overtime({.request_timeout = timeout}));
        queue->on_overdue(*this);
    }
}

void number_wait::on_attempt_answered(attempt_answer answer, error_code cause) {
    if (!fsm.done() && (fsm.in_flight() || fsm.overdue())) {
        carry_out(fsm.on_answer(answer, cause));
    }
}

void number_wait::on_wait() {
    if (!tries_once() && !std::exchange(has_waited, true)) {
        client->count().waits.add();
        client->tell_observer([this](observer& told) { told.on_wait(observed()); });
    }
}

void number_wait::arm(time_point at) {
    timer_.emplace(client->strand());
    sleep_until(*timer_, at);
    timer_->async_wait([weak = weak_from_this()](error_code ec) {
        if (auto const self = weak.lock(); self && !ec) {
            self->on_time_up();
        }
    });
}

void number_wait::carry_out(acquire_fsm::verdict verdict, grant_kind how) {
    using kind = acquire_fsm::verdict_kind;
    if (verdict.kind == kind::go_on) {
        return;
    }
    auto const self = shared_from_this();
    timer_.reset();
    if (queue) {
        queue->leave(*this);
    }
    bool const success = verdict.kind == kind::deliver;
    auto const waited = lease_clock::now() - started;
    if (success) {
        auto const time = static_cast<std::uint64_t>(waited.count());
        client->count().longest_wait_ns.raise_to(time);
        client->count().total_wait_ns.add(time);
    }
    auto const error =
        verdict.kind == kind::abort ? error_code{asio::error::operation_aborted} : verdict.error;
    client->tell_observer([&](observer& told) {
        if (success) {
            told.on_grant(observed(), {how, waited, {}});
        } else {
            told.on_no_grant(observed(), error, waited);
        }
    });
    std::exchange(then_, {})(error, success);
}

// All of a client

void counting::enter(std::shared_ptr<number_wait> op) {
    auto const& on = op->on;
    auto const shared = op->tries_once() ? queues_.end() : queues_.find(target_key{*on});
    auto queue = shared == queues_.end() ? nullptr : shared->second;
    auto const before = op->tries_once() ? tries_ : queue ? queue->waiting().size() : 0;
    if (before >= client_.settings().max_waiters) {
        op->carry_out(op->fsm.on_ended(errc::too_many_waiters));
        return;
    }
    if (!queue) {
        queue = std::make_shared<number_queue>(op->client, on);
        loops_.add(queue);
        if (op->tries_once()) {
            ++tries_;
        } else {
            queues_.emplace(target_key{*queue->on()}, queue);
        }
    }
    queue->join(std::move(op));
}

void counting::close(number_queue& queue) {
    auto const at = queues_.find(target_key{*queue.on()});
    if (at != queues_.end() && at->second.get() == &queue) {
        queues_.erase(at);
        loops_.remove(queue);
    } else if (loops_.remove(queue)) {
        --tries_;
    }
}

void counting::on_freed(target const& on, bool notified) {
    if (notified) {
        // Whoever does not hear it yet looks when its subscription is confirmed.
        return;
    }
    client_.on_not_notified(on);
    // A number of permits has a queue of its own.
    auto const same = [&](target const& of) { return of.kind == on.kind && of.lock == on.lock; };
    loops_.for_each(same, [](look_loop& one) { one.on_news(); });
}

void counting::withdraw(std::shared_ptr<target const> on, holder_id const& id) {
    if (!counted::takes(*on)) {
        return;
    }
    if (withdrawals_ == most_withdrawals) {
        client_.log(
            log_level::error,
            {"permits left behind", on->lock},
            fmt::format(
                "semaphore \"{}\": an attempt that was given up may have taken {} permits, and is "
                "not withdrawn, because {} others are being withdrawn already: once the server "
                "answers, compare the free permits with what is in use, and add what is missing",
                escaped(on->lock),
                on->permits,
                most_withdrawals
            )
        );
        return;
    }
    client_.count().withdrawals.add();
    ++withdrawals_;
    request_op::plan plan{
        .make =
            [on, id](client_state& by, holder_id const&, nanos) {
                return counted::withdraw(*on, id, attempt_timeout(by.settings()));
            },
        .finish = [this, on](error_code, script_reply const* reply) { on_withdrawn(*on, reply); },
        .withdraws = true,
        .on = on,
    };
    std::make_shared<request_op>(client_.self(), std::move(plan))->start();
}

// Without a reply, it was given up.
void counting::on_withdrawn(target const& on, script_reply const* reply) {
    --withdrawals_;
    auto const read = reply ? counted::read_withdrawal(*reply) : counted::request_reply{};
    if (read.done) {
        client_.count().releases.add();
        on_freed(on, read.notified);
    }
    tell_idle();
}

void counting::tell_idle() {
    if (idle() && on_idle_) {
        on_idle_();
    }
}

void counting::forget(std::shared_ptr<target const> on, holder_id const& id) {
    answered_.push_back({std::move(on), id});
    if (answered_.size() >= forgotten_together) {
        forget_now();
    } else if (answered_.size() == 1) {
        forget_timer_.emplace(client_.strand());
        sleep_until(*forget_timer_, lease_clock::now() + longest_to_forget);
        forget_timer_->async_wait([this, client = client_.self()](error_code ec) {
            if (!ec) {
                forget_now();
                // Without a connection nothing was sent.
                tell_idle();
            }
        });
    }
}

void counting::forget_now() {
    auto all = std::exchange(answered_, {});
    forget_timer_.reset();
    // Usually one call for all.
    for (auto first = all.begin(); first != all.end();) {
        auto const end = std::partition(std::next(first), all.end(), [&](auto const& one) {
            return client_.in_one_slot(*first->on, *one.on);
        });
        send_forget({first, end});
        first = end;
    }
}

// Without a connection, the marks expire.
void counting::send_forget(std::span<counted::answered const> marks) {
    if (!client_.can_execute(*marks.front().on)) {
        return;
    }
    auto const& settings = client_.settings();
    ++forgetting_;
    client_.exec(
        counted::forget(marks, request_timeout_for(settings, settings.lease)),
        [this, client = client_.self()](exec_result const&) {
            --forgetting_;
            tell_idle();
        }
    );
}

void counting::add_out_of_reach(acquisitions::stranded& to) const {
    auto const out_of_reach = [this](target const& on) { return !client_.can_execute(on); };
    loops_.for_each(out_of_reach, [&to](look_loop& one) {
        auto const& waiting = static_cast<number_queue&>(one).waiting();
        if (!waiting.empty()) {
            to.add(*one.on(), waiting.front()->started, waiting.size());
        }
    });
}

void counting::clear() noexcept {
    forget_timer_.reset();
    answered_.clear();
    queues_.clear();
    loops_.clear();
}

// The operations of users

namespace {

// A request that is repeated until it is answered.
template <class... Results, class Read>
void send_change(
    counted_number of,
    call (*make)(counted::request const&),
    std::int64_t number,
    std::int64_t least,
    completion_handler<error_code, Results...> handler,
    Read read
) {
    bool const right = number >= least && number <= counted::greatest;
    send_request(
        std::move(of.client),
        std::move(of.key),
        std::move(handler),
        true,
        right ? error_code{} : make_error_code(errc::invalid_options),
        [make, number](client_state& by, target const& on, holder_id const& id, nanos timeout) {
            return make({on, id, number, remembered_for(by.settings()), timeout});
        },
        read
    );
}

// `Results`: whether it was done, or nothing.
template <class... Results>
void change(
    counted_number of,
    call (*make)(counted::request const&),
    std::int64_t number,
    std::int64_t least,
    completion_handler<error_code, Results...> handler
) {
    auto const read =
        [](script_reply const& reply, Results&... done, client_state& from, target const& on) {
            auto const got = counted::read_request(reply);
            ((done = got.done), ...);
            if (got.done) {
                from.numbers().on_freed(on, got.notified);
            }
            return got.valid ? error_code{} : make_error_code(errc::corrupt_state);
        };
    send_change(std::move(of), make, number, least, std::move(handler), read);
}

error_code read_value(
    script_reply const& reply,
    std::int64_t& value,
    client_state&,
    target const& on
) {
    auto const read = counted::read_number(on, reply);
    value = read.value_or(0);
    return read ? error_code{} : make_error_code(errc::corrupt_state);
}

template <class... Results>
void start_waiting(
    counted_number of,
    std::int64_t permits,
    patience how_long,
    nanos limit,
    completion_handler<error_code, Results...> handler
) {
    // Redisson's numbers are Java's.
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    auto const& [client, key] = of;
    if (client->gone()) {
        return;
    }
    auto const waiting = std::make_shared<pending_handler<error_code, Results...>>(
        std::move(handler),
        client->executor()
    );
    if (!key->valid() || permits < 1 || permits > most || limit < nanos{0}) {
        waiting->complete(key->valid() ? errc::invalid_options : errc::invalid_name, Results{}...);
        return;
    }
    auto on = key;
    if (permits != key->permits) {
        auto const other = std::make_shared<target>(*key);
        other->permits = static_cast<std::uint32_t>(permits);
        on = other;
    }
    auto const op = std::make_shared<number_wait>(
        client,
        std::move(on),
        how_long,
        limit,
        [waiting](error_code ec, [[maybe_unused]] bool success) {
            waiting->complete(ec, Results{success}...);
        }
    );
    auto const cancel = [](number_wait& self, auto type) { self.on_cancel(type); };
    on_cancel_in_strand(*waiting, std::weak_ptr{op}, client, cancel);
    client->enter_strand([op] { op->start(); });
}

}  // namespace

void start_read_number(counted_number of, number_handler handler) {
    auto const make = [](client_state&, target const& on, holder_id const&, nanos timeout) {
        return counted::read(on, timeout);
    };
    send_request(of.client, of.key, std::move(handler), false, {}, make, &read_value);
}

void start_drain_permits(counted_number of, number_handler handler) {
    send_change(std::move(of), &counted::drain, 0, 0, std::move(handler), &read_value);
}

void start_try_set_number(counted_number of, std::int64_t number, success_handler handler) {
    change(std::move(of), &counted::try_set, number, 0, std::move(handler));
}

void start_count_down(counted_number of, std::int64_t times, change_handler handler) {
    change(std::move(of), &counted::count_down, times, 1, std::move(handler));
}

void start_add_permits(counted_number of, std::int64_t permits, change_handler handler) {
    change(std::move(of), &counted::add, permits, -counted::greatest, std::move(handler));
}

void start_release_permits(counted_number of, std::int64_t permits, change_handler handler) {
    change(std::move(of), &counted::add, permits, 1, std::move(handler));
}

void start_wait_for_number(counted_number of, std::int64_t permits, change_handler handler) {
    start_waiting(std::move(of), permits, patience::unlimited, {}, std::move(handler));
}

void start_try_number(
    counted_number of,
    std::int64_t permits,
    patience how_long,
    std::chrono::nanoseconds limit,
    success_handler handler
) {
    start_waiting(std::move(of), permits, how_long, limit, std::move(handler));
}

}  // namespace holdfast::detail
