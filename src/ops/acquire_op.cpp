#include "ops/acquire_op.hpp"

#include "ops/client_state.hpp"
#include "ops/waiting_room.hpp"

#include <utility>

namespace holdfast::detail {

namespace {

patience effective_patience(acquire_request const& request) {
    bool const no_time = request.how_long == patience::limited && request.limit == nanos{0};
    return no_time ? patience::one_attempt : request.how_long;
}

}  // namespace

acquire_op::acquire_op(
    acquire_request request,
    lease_terms const& terms,
    asio::any_io_executor holder,
    pending_handler<error_code, lease> handler
)
    : request_{std::move(request)},
      terms_{terms},
      holder_{std::move(holder)},
      handler_{std::move(handler)},
      fsm_{request_.how_long = effective_patience(request_)},
      id_{request_.client->make_holder_id()},
      started_{lease_clock::now()} {}

void acquire_op::accept_cancellation() {
    handler_.on_cancel([weak = weak_from_this(),
                        client = request_.client](asio::cancellation_type type) {
        client->on_strand([weak, type] {
            if (auto const self = weak.lock()) {
                self->on_cancel(type);
            }
        });
    });
}

void acquire_op::start() {
    if (fsm_.done()) {
        return;
    }
    auto& client = *request_.client;
    if (client.stopping()) {
        end(errc::client_stopped);
        return;
    }
    // A lease that is valid can be shared, whatever the connection does.
    if (auto* const held = client.owners().held_by_owner_of(*this)) {
        join(*held);
        if (fsm_.done()) {
            return;
        }
    }
    if (!client.commands_up() && client.failure()) {
        end(client.failure());
        return;
    }
    if (request_.how_long == patience::limited) {
        arm_limit(saturating_add(started_, request_.limit) - lease_clock::now());
    } else if (request_.how_long == patience::one_attempt && !client.commands_up()) {
        arm_limit(terms_.request_timeout);
    }
    client.enter(shared_from_this());
}

void acquire_op::attempt() {
    fsm_.on_attempt_sent();
    sent_at_ = lease_clock::now();
    request_.client->exec_acquire(*this, [self = shared_from_this()](exec_result result) {
        self->on_answer(std::move(result));
    });
}

void acquire_op::on_answer(exec_result result) {
    auto& client = *request_.client;
    auto answer = attempt_answer::unknown;
    fencing_token token;
    switch (result.status) {
        case exec_status::replied:
            switch (result.reply.integer(0)) {
                case 0: answer = attempt_answer::busy; break;
                case 1:
                    answer = attempt_answer::granted;
                    token.value = static_cast<std::uint64_t>(result.reply.integer(1));
                    break;
                default:
                    answer = attempt_answer::failed;
                    result.error = errc::corrupt_state;
                    break;
            }
            break;
        case exec_status::refused: answer = attempt_answer::refused; break;
        case exec_status::failed: answer = attempt_answer::failed; break;
        case exec_status::not_sent: answer = attempt_answer::not_sent; break;
        case exec_status::unknown: answer = attempt_answer::unknown; break;
    }
    // An answer that was under way for so long that little of the lease is left is none: the same
    // holder id asks again.
    if (answer == attempt_answer::granted &&
        lease_clock::now() >= sent_at_ + terms_.lease - terms_.drift - terms_.notice) {
        answer = attempt_answer::unknown;
        result.error = errc::unreachable;
    }
    if (fsm_.done()) {
        // Its caller has gone, and it was withdrawn. The withdrawal may have overtaken it.
        bool const may_hold =
            answer == attempt_answer::granted || answer == attempt_answer::unknown;
        if (result.sent_again && may_hold) {
            client.withdraw(*this);
        }
        return;
    }
    auto const self = shared_from_this();
    auto const verdict = fsm_.on_answer(answer, result.error);
    auto* const mine = room;
    if (mine) {
        mine->on_answer(answer, result.reply);
    } else if (answer == attempt_answer::busy) {
        client.count().refusals.add();
    }
    carry_out(verdict, [&](asio::any_io_executor const& holder) {
        if (has_waited) {
            client.count().hand_overs.add();
        }
        return client.make_lease(*this, token, holder);
    });
    if (!fsm_.done() && !waits() && answer == attempt_answer::not_sent) {
        arm_limit(terms_.request_timeout);
        client.leave(*self);
        client.enter(self);
    }
    if (!mine) {
        let_others_join(answer);
        return;
    }
    // Before the room looks further: those who join need no attempt and no subscription. They may
    // be the last in it.
    auto const keeps_room = mine->shared_from_this();
    let_others_join(answer);
    mine->update();
}

// The same owner may have asked more than once.
void acquire_op::let_others_join(attempt_answer answer) {
    if (answer != attempt_answer::granted) {
        return;
    }
    auto const& owners = request_.client->owners();
    for (auto const& other : owners.waiting_like(*this)) {
        if (auto* const held = owners.held_by_owner_of(*this)) {
            other->join(*held);
        }
    }
}

void acquire_op::on_cancel(asio::cancellation_type type) {
    bool const undecided = fsm_.in_flight();
    auto const self = shared_from_this();
    auto* const mine = room;
    carry_out(fsm_.on_cancel(type));
    if (mine && fsm_.done()) {
        mine->on_left(undecided);
    }
}

void acquire_op::on_time_up() {
    bool const undecided = fsm_.in_flight();
    auto const self = shared_from_this();
    auto* const mine = room;
    bool const busy = mine && mine->last_answer_was_busy();
    carry_out(fsm_.on_time_up(busy, request_.client->failure()));
    if (mine && fsm_.done()) {
        mine->on_left(undecided);
    }
}

void acquire_op::end(error_code cause) {
    auto const self = shared_from_this();
    carry_out(fsm_.on_ended(cause));
}

void acquire_op::join(grant& held) {
    auto further = fsm_.done() ? lease{} : held.make_further_lease(holder_);
    if (!further) {
        return;
    }
    bool const undecided = fsm_.in_flight();
    auto const self = shared_from_this();
    auto* const mine = room;
    request_.client->count().re_entries.add();
    carry_out(fsm_.on_joined(), [&](asio::any_io_executor const&) { return std::move(further); });
    if (mine) {
        mine->on_left(undecided);
    }
}

void acquire_op::arm_limit(nanos limit) {
    if (!limit_) {
        limit_.emplace(request_.client->strand());
    }
    sleep_until(*limit_, saturating_add(lease_clock::now(), limit));
    limit_->async_wait([weak = weak_from_this()](error_code ec) {
        if (auto const self = weak.lock(); self && !ec) {
            self->on_time_up();
        }
    });
}

template <class MakeLease>
void acquire_op::carry_out(acquire_fsm::verdict verdict, MakeLease granted) {
    using kind = acquire_fsm::verdict_kind;
    if (verdict.kind == kind::go_on) {
        return;
    }
    auto& client = *request_.client;
    limit_.reset();
    // An answer may come long after; the holder's context may be gone by then.
    auto const holder = std::exchange(holder_, {});
    lease delivered;
    if (verdict.kind == kind::deliver) {
        delivered = granted(holder);
        auto const waited = lease_clock::now() - started_;
        client.count().longest_wait_ns.raise_to(static_cast<std::uint64_t>(waited.count()));
    }
    if (verdict.withdraw) {
        client.withdraw(*this);
    }
    client.leave(*this);
    handler_.complete(verdict.error, std::move(delivered));
}

void acquire_op::carry_out(acquire_fsm::verdict verdict) {
    carry_out(verdict, [](asio::any_io_executor const&) { return lease{}; });
}

}  // namespace holdfast::detail
