#include "acquire/multi_acquire.hpp"

#include "acquire/joint_attempt.hpp"
#include "lease/lease_group.hpp"
#include "lease/lease_handles.hpp"
#include "lease/tenure.hpp"
#include "protocol/multi_lock.hpp"
#include "runtime/client_context.hpp"
#include "runtime/recycling_allocator.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace holdfast::detail {

multi_acquire::multi_acquire(
    std::shared_ptr<client_context> lead,
    request what,
    guarded_executor holder_executor,
    pending_handler<error_code, multi_lease> handler
)
    : lead_{std::move(lead)},
      what_{std::move(what)},
      holder_executor_{std::move(holder_executor)},
      handler_{std::move(handler)},
      fsm_{what_.members.size(), what_.how_long = effective_patience(what_.how_long, what_.limit)},
      started_{lease_clock::now()},
      parts_(what_.members.size()) {}

void multi_acquire::accept_cancellation() {
    auto const cancel = [](multi_acquire& self, asio::cancellation_type type) {
        self.on_cancel(type);
    };
    on_cancel_in_strand(handler_, weak_from_this(), lead_, cancel);
}

template <class F>
void multi_acquire::guarded(F f) {
    try {
        f();
    } catch (std::exception const&) {
        // Out of memory.
        perform(fsm_.on_ended(asio::error::no_memory));
    }
}

void multi_acquire::start() {
    guarded([this] {
        if (!fsm_.done()) {
            perform(fsm_.start(may_ask_together()));
        }
    });
}

void multi_acquire::perform(multi_acquire_fsm::action const& next) {
    if (next.what == step::wait) {
        return;
    }
    if (next.what != step::deliver) {
        ++round_;
        cancel_what_is_asked(asio::cancellation_type::terminal);
        give_back_from(next.kept);
    }
    limit_.reset();
    switch (next.what) {
        case step::wait: break;
        case step::together: ask_together(); break;
        case step::take: take(next.kept); break;
        case step::deliver: deliver(); break;
        case step::finish: finish(next.error); break;
        case step::abort: finish(asio::error::operation_aborted); break;
    }
}

// A preflight is for each lock by itself, and an owner may join what another of his operations is
// granted meanwhile.
bool multi_acquire::may_ask_together() const {
    auto const& first = what_.members.front();
    return !what_.who && !first.terms.learned && lead_->may_attempt(*first.on) &&
           !first.all->closed() && lead_->server(*first.on).tokens.has_granted() &&
           std::all_of(what_.members.begin(), what_.members.end(), [&](member const& each) {
               return each.client == lead_ && may_be_taken_together(*each.on, *first.on) &&
                      lead_->may_share_a_call(*each.on, *first.on);
           });
}

void multi_acquire::ask_together() {
    together_.missing = parts_.size();
    if (what_.how_long == patience::limited) {
        arm_limit();
    }
    auto const joint = std::make_shared<joint_attempt>();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        make_op(i, what_.members[i].terms, patience::one_attempt, joint)->start();
    }
    joint->send(*lead_, parts_.size());
}

// Those that are held until the others are have no limits of their own: what the user limits begins
// when all are held.
void multi_acquire::take(std::size_t which) {
    auto const& wanted = what_.members[which].terms;
    auto const op = make_op(which, wanted.limited_as({}), what_.how_long, {});
    what_.members[which].client->enter_strand([op] { op->start(); });
}

std::shared_ptr<acquire_op> multi_acquire::make_op(
    std::size_t which,
    lease_terms const& terms,
    patience how_long,
    std::shared_ptr<joint_attempt> with
) {
    auto const& on = what_.members[which];
    auto on_end = [self = shared_from_this(), which, round = round_](error_code ec, lease given) {
        if (self->round_ == round) {
            self->on_answer(which, ec, std::move(given));
        }
    };
    auto op = make_recycled<acquire_op>(
        *on.all,
        on.client,
        acquire_op::request{
            .on = on.on,
            .terms = terms,
            .how_long = how_long,
            .limit = left(),
            .who = what_.who,
            .orphan_after = what_.orphan_after,
            .with = std::move(with),
        },
        holder_executor_,
        pending_handler<error_code, lease>{std::move(on_end), lead_->strand()}
    );
    parts_[which].asked = op;
    return op;
}

void multi_acquire::on_answer(std::size_t which, error_code ec, lease given) {
    auto& asked = parts_[which];
    asked.asked.reset();
    asked.held = std::move(given);
    guarded([&] {
        if (together_.missing > 0) {
            on_answer_together(ec, static_cast<bool>(asked.held));
        } else if (asked.held) {
            on_taken();
        } else {
            perform(fsm_.on_refused(ec));
        }
    });
}

void multi_acquire::on_answer_together(error_code ec, bool granted) {
    together_.busy = together_.busy || (!ec && !granted);
    // One that is worth another try says less.
    if (ec && (!together_.cause || is_retryable(together_.cause))) {
        together_.cause = ec;
    }
    if (--together_.missing == 0) {
        perform(fsm_.on_together(intact(), together_.busy, together_.cause));
    }
}

void multi_acquire::on_taken() {
    auto const last = fsm_.kept();
    auto const next = fsm_.on_taken(intact());
    if (next.what == step::take && next.kept > last) {
        watch(last);
    }
    perform(next);
}

std::size_t multi_acquire::intact() const noexcept {
    auto const lost = std::find_if(parts_.begin(), parts_.end(), [](part const& each) {
        return !each.held.valid();
    });
    return static_cast<std::size_t>(lost - parts_.begin());
}

nanos multi_acquire::left() const noexcept {
    return time_left(saturating_add(started_, what_.limit));
}

// A member that is kept while others are waited for.
void multi_acquire::watch(std::size_t which) {
    auto& kept = parts_[which];
    auto const& share = lease_access::share_of(kept.held);
    auto on_end =
        [weak = weak_from_this(), which, share = share.get()](error_code ec, loss_reason) {
            auto const self = weak.lock();
            if (self && !ec) {
                auto const& now = self->parts_[which].held;
                if (lease_access::share_of(now).get() == share) {
                    self->on_lost(which);
                }
            }
        };
    kept.watch =
        share->of.wait_lost(share, asio::bind_executor(lead_->strand(), std::move(on_end)));
}

void multi_acquire::on_lost(std::size_t which) {
    guarded([&] { perform(fsm_.on_lost(which)); });
}

void multi_acquire::on_cancel(asio::cancellation_type type) {
    auto const next = fsm_.on_cancel(request_of(type));
    if (next.what == step::wait) {
        cancel_what_is_asked(type);
    }
    perform(next);
}

void multi_acquire::arm_limit() {
    limit_.emplace(lead_->strand());
    sleep_until(*limit_, saturating_add(started_, what_.limit));
    limit_->async_wait([weak = weak_from_this()](error_code ec) {
        if (auto const self = weak.lock(); self && !ec) {
            self->perform(self->fsm_.on_time_up());
        }
    });
}

void multi_acquire::cancel_what_is_asked(asio::cancellation_type type) noexcept {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        auto const op = parts_[i].asked.lock();
        if (!op) {
            continue;
        }
        try {
            what_.members[i].client->on_strand([op, type] { op->on_cancel(type); });
        } catch (...) {
            // Out of memory: what it is granted is given back when it comes.
        }
    }
}

void multi_acquire::give_back_from(std::size_t first) noexcept {
    together_ = {};
    for (std::size_t i = first; i < parts_.size(); ++i) {
        parts_[i] = {};
    }
}

multi_lease multi_acquire::all_held() {
    std::vector<lease> all(parts_.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        auto& each = parts_[i];
        auto const& what = what_.members[i];
        auto const& share = lease_access::share_of(each.held);
        share->of.cancel_watch(each.watch);
        if (what.terms != what.terms.limited_as({})) {
            share->of.limit(*share, what.terms);
        }
        all[what.named] = std::move(each.held);
    }
    return lease_group::make(lead_, std::move(all));
}

void multi_acquire::deliver() {
    multi_lease granted;
    try {
        granted = all_held();
    } catch (std::exception const&) {
        give_back_from(0);
        finish(asio::error::no_memory);
        return;
    }
    holder_executor_ = {};
    handler_.complete({}, std::move(granted));
}

void multi_acquire::finish(error_code ec) {
    holder_executor_ = {};
    handler_.complete(ec, multi_lease{});
}

}  // namespace holdfast::detail
