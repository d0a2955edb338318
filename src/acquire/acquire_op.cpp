#include "acquire/acquire_op.hpp"

#include "acquire/end_acquire.hpp"
#include "acquire/wait_queue.hpp"
#include "lease/tenure.hpp"
#include "runtime/client_context.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::detail {

namespace {

constexpr nanos brief_limit = millis{500};

}  // namespace

patience effective_patience(patience how_long, nanos limit) noexcept {
    bool const no_time = how_long == patience::limited && limit == nanos{0};
    return no_time ? patience::one_attempt : how_long;
}

bool is_brief(patience how_long, nanos limit) noexcept {
    return how_long == patience::limited && limit < brief_limit;
}

nanos longest_overtime(lease_terms const& of) noexcept {
    return std::min<nanos>(millis{100}, of.request_timeout);
}

cancel_request request_of(asio::cancellation_type type) noexcept {
    auto const now = asio::cancellation_type::terminal | asio::cancellation_type::partial;
    return (type & now) != asio::cancellation_type::none ? cancel_request::at_once
                                                         : cancel_request::after_the_reply;
}

acquire_op::acquire_op(
    acquisitions& all,
    std::shared_ptr<client_context> client,
    request&& what,
    guarded_executor holder_executor,
    pending_handler<error_code, lease>&& handler
)
    : all_{all},
      client_{std::move(client)},
      what_{std::move(what)},
      holder_executor_{std::move(holder_executor)},
      handler_{std::move(handler)},
      fsm_{what_.how_long = effective_patience(what_.how_long, what_.limit)},
      started_{lease_clock::now()},
      number_{what_.provisional ? 0 : client_->next_acquisition()} {
    if (what_.how_long == patience::one_attempt) {
        alone_ = std::make_unique<by_itself>();
    }
    if (!what_.provisional) {
        client_->tell_observer([this](observer& told) { told.on_acquire(observed()); });
    }
}

void acquire_op::accept_cancellation() {
    auto const cancel = [](acquire_op& self, asio::cancellation_type type) {
        self.on_cancel(type);
    };
    on_cancel_in_strand(handler_, weak_from_this(), client_, cancel);
}

void acquire_op::start() {
    if (fsm_.done()) {
        return;
    }
    if (all_.closed()) {
        end(errc::client_stopped);
        return;
    }
    // A lease that is valid can be shared, whatever the connection does.
    if (auto* const held = all_.held().of_owner(*what_.on, what_.who)) {
        join(*held);
    }
    auto const now = lease_clock::now();
    if (fsm_.done() || look_at_other_side() || share(now)) {
        return;
    }
    if (auto const cause = client_->failure(*what_.on); cause && !client_->can_execute(*what_.on)) {
        end(cause);
        return;
    }
    if (alone_) {
        alone_->id = client_->make_holder_id();
    }
    if (what_.how_long == patience::limited) {
        arm_limit(saturating_add(started_, what_.limit) - now);
    } else if (what_.how_long == patience::one_attempt && !client_->may_attempt(*what_.on)) {
        arm_limit(what_.terms.request_timeout);
    }
    all_.enter(shared_from_this(), now);
}

// Whether that ends it.
bool acquire_op::look_at_other_side() {
    auto const& speaks = *what_.on->speaks;
    auto const other = speaks.other_side();
    auto const* const held =
        other ? all_.held().of_owner(target_key{*what_.on, *other}, what_.who) : nullptr;
    if (!held || !held->alive()) {
        return false;
    }
    if (!speaks.is_shared()) {
        end(errc::would_deadlock);
        return true;
    }
    alone_ = std::make_unique<by_itself>();
    alone_->beside = held->over().id();
    // Both have one expiry on the server.
    held->over().on_asked(longest_to_ask(client_->settings(), what_.terms));
    return false;
}

// Whether it has a hold that others of this client have.
bool acquire_op::share(time_point now) {
    auto shared = all_.share(*this, false, now);
    if (!shared) {
        return false;
    }
    deliver(std::move(shared), now, grant_kind::own_client);
    return true;
}

void acquire_op::attempt(time_point now) {
    alone_->sent = {what_.terms, now, all_.rights_for(*what_.on, what_.terms), what_.on->limit};
    auto const with = std::exchange(what_.with, {});
    all_.exec(
        {
            .on = *what_.on,
            .id = id(),
            .terms = what_.terms,
            .over = {shared_from_this(), &fsm_.done()},
            .with = with.get(),
            .beside = beside(),
            .proposed = what_.vote ? what_.vote->proposed : fencing_token{},
            .limit = what_.on->limit,
        },
        [self = shared_from_this()](exec_result result) { self->on_answer(result); }
    );
    fsm_.on_attempt_sent(what_.terms.lost_at(now));
}

void acquire_op::on_answer(exec_result const& result) {
    auto const now = lease_clock::now();
    auto read = all_.read(*what_.on, result, *alone_->sent, now);
    if (fsm_.done()) {
        // It was withdrawn, on another connection than what waited for replicas: the server may
        // have granted it once more since.
        if (client_->confirms()) {
            all_.withdraw(*this);
        }
        return;
    }
    if (what_.vote && result.status == exec_status::replied) {
        what_.vote->reply = read.reply;
    }
    auto const answer = fsm_.judge(read.answer, now);
    if (answer == attempt_answer::granted) {
        on_granted(read, now);
        return;
    }
    if (answer == attempt_answer::busy) {
        client_->count().refusals.add();
    }
    auto const self = shared_from_this();
    carry_out(fsm_.on_answer(answer, read.cause), {}, now);
    if (!fsm_.done()) {
        // Without a right it is repeated at once in another way.
        bool const at_once = result.status == exec_status::failed;
        try_again(answer, at_once || answer == attempt_answer::busy);
    }
}

// An attempt that could not be made, or was not the only one of an owner who has the other side.
void acquire_op::try_again(attempt_answer answer, bool at_once) {
    auto const self = shared_from_this();
    if (answer == attempt_answer::unknown || answer == attempt_answer::unconfirmed) {
        all_.withdraw(*this);
        alone_->id = client_->make_holder_id();
    }
    if (answer == attempt_answer::busy) {
        // The other side was lost: it waits as others do.
        if (what_.how_long == patience::one_attempt) {
            alone_->beside.reset();
        } else {
            alone_.reset();
        }
    }
    if (what_.how_long == patience::one_attempt && !limit_) {
        arm_limit(what_.terms.request_timeout);
    }
    if (at_once) {
        all_.leave(*self);
        all_.enter(self, lease_clock::now());
        return;
    }
    // A connection that comes up ends the pause. Where there is one already, a request that cannot
    // be sent would not be sent at the next try either: a node of a cluster has named another one
    // that is down.
    auto& pause = alone_->pause.emplace(client_->strand());
    auto const& settings = client_->settings();
    auto const drawn = alone_->pauses.next(client_->random_part());
    sleep_until(pause, lease_clock::now() + std::max<nanos>(settings.reconnect_min, drawn));
    pause.async_wait([weak = weak_from_this()](error_code ec) {
        auto const op = weak.lock();
        if (op && !ec && op->listed() && !op->in_flight() && op->client_->may_attempt(*op->on())) {
            op->attempt(lease_clock::now());
        }
    });
}

void acquire_op::on_granted(acquisitions::reading const& read, time_point now) {
    auto granted = all_.add_hold(*this, id(), read, 1, now);
    deliver(std::move(granted), now, grant_kind::uncontended);
}

void acquire_op::on_attempt_answered(attempt_answer answer, error_code cause) {
    if (!fsm_.done() && (fsm_.in_flight() || fsm_.overdue())) {
        carry_out(fsm_.on_answer(answer, cause));
    }
}

void acquire_op::deliver(lease granted, time_point now, grant_kind how) {
    auto const self = shared_from_this();
    carry_out(fsm_.on_answer(attempt_answer::granted, {}), std::move(granted), now, how);
    let_others_join();
}

void acquire_op::tell_of_wait() const {
    client_->tell_observer([this](observer& told) { told.on_wait(observed()); });
}

// The same owner may have asked more than once. Those who join need no attempt.
void acquire_op::let_others_join() {
    for (auto const& other : all_.waiting_like(*this)) {
        if (auto* const held = all_.held().of_owner(*what_.on, what_.who)) {
            // This one's queue looks when it has been served.
            other->join(*held, what_.on->speaks->queues_each());
        }
    }
}

// The queue looks further when its waiter's turn has ended, whichever way that was.
void acquire_op::end_with(acquire_fsm::verdict verdict, lease joined, bool last) {
    auto const self = shared_from_this();
    auto const looks = last && queue ? queue->shared_from_this() : nullptr;
    carry_out(verdict, std::move(joined), lease_clock::now(), grant_kind::joined);
    if (looks) {
        looks->update();
    }
}

void acquire_op::on_cancel(asio::cancellation_type type) {
    end_with(fsm_.on_cancel(request_of(type)));
}

// The lock is busy if an attempt that was sent after the operation began was answered so, or if
// this client itself has the lock. If neither is known, and the server can be asked, the operation
// waits for an answer.
void acquire_op::on_time_up() {
    auto const& on = *what_.on;
    // mutant: busy-was-heard-before-the-question
    bool const busy = queue && queue->busy_since(started_);
    bool const reachable = client_->may_be_answered(on, what_.terms.request_timeout);
    end_with(fsm_.on_time_up(busy, reachable, client_->why_no_attempt(on)));
    if (!overdue()) {
        return;
    }
    arm_limit(longest_overtime(what_.terms));
    if (queue) {
        queue->on_overdue(shared_from_this());
    }
}

void acquire_op::give_up(error_code cause) {
    end_with(fsm_.on_ended(cause));
}

void acquire_op::end(error_code cause) {
    auto const self = shared_from_this();
    carry_out(fsm_.on_ended(cause));
}

void acquire_op::join(tenure& held, bool last) {
    auto further = fsm_.done() ? lease{} : held.make_further_lease(holder_executor_);
    if (further) {
        client_->count().re_entries.add();
        end_with(fsm_.on_joined(), std::move(further), last);
    }
}

void acquire_op::arm_limit(nanos limit) {
    if (!limit_) {
        limit_ = std::make_unique<timer>(client_->strand());
    }
    sleep_until(*limit_, saturating_add(lease_clock::now(), limit));
    limit_->async_wait([weak = weak_from_this()](error_code ec) {
        if (auto const self = weak.lock(); self && !ec) {
            self->on_time_up();
        }
    });
}

void acquire_op::carry_out(
    acquire_fsm::verdict verdict,
    lease granted,
    time_point now,
    grant_kind how
) {
    using kind = acquire_fsm::verdict_kind;
    if (verdict.kind == kind::go_on) {
        return;
    }
    limit_.reset();
    if (alone_) {
        alone_->pause.reset();
    }
    // A reply may come long after; the holder's context may be gone by then.
    auto const executor = std::exchange(holder_executor_, {});
    all_.leave(*this);
    if (verdict.kind == kind::deliver) {
        auto const waited = static_cast<std::uint64_t>((now - started_).count());
        client_->count().longest_wait_ns.raise_to(waited);
        client_->count().total_wait_ns.add(waited);
    }
    // A queue keeps its attempt for the others that wait in it.
    if (verdict.withdraw && !waits()) {
        all_.withdraw(*this);
    }
    auto const error =
        verdict.kind == kind::abort ? error_code{asio::error::operation_aborted} : verdict.error;
    tell_of_end(verdict.kind, error, granted, now - started_, how);
    if (what_.part) {
        end_acquire<no_scope>(handler_, what_.how_long, error, std::move(granted));
    } else {
        end_acquire(handler_, what_.how_long, error, std::move(granted));
    }
}

void acquire_op::tell_of_end(
    acquire_fsm::verdict_kind what,
    error_code why,
    lease const& granted,
    nanos waited,
    grant_kind how
) {
    bool const is_granted = what == acquire_fsm::verdict_kind::deliver;
    if (what_.provisional && !is_granted) {
        return;
    }
    if (what_.provisional) {
        number_ = client_->next_acquisition();
    }
    client_->tell_observer([&](observer& told) {
        if (what_.provisional) {
            told.on_acquire(observed());
        }
        if (is_granted) {
            told.on_grant(observed(), {how, waited, granted.token()});
        } else {
            told.on_no_grant(observed(), why, waited);
        }
    });
}

}  // namespace holdfast::detail
