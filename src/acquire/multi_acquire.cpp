#include "acquire/multi_acquire.hpp"

#include "acquire/end_acquire.hpp"
#include "acquire/joint_attempt.hpp"
#include "lease/lease_group.hpp"
#include "lease/lease_handles.hpp"
#include "lease/tenure.hpp"
#include "protocol/multi_lock.hpp"
#include "runtime/client_context.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::detail {

namespace {

// So much of its full length may have passed when a lease begins: a grant takes a round trip.
nanos short_part(nanos full) {
    return std::clamp<nanos>(full / 100, just_now, millis{100});
}

bool is_limited(lease_terms const& terms) {
    return terms != terms.limited_as({});
}

}  // namespace

multi_acquire::multi_acquire(
    std::shared_ptr<client_context> lead,
    request members,
    guarded_executor holder_executor,
    pending_handler<error_code, multi_lease> handler
)
    : lead_{std::move(lead)},
      members_{std::move(members)},
      how_long_{effective_patience(members_.front().asked.how_long, members_.front().asked.limit)},
      holder_executor_{std::move(holder_executor)},
      handler_{std::move(handler)},
      fsm_{
          members_.size(),
          how_long_,
          std::any_of(
              members_.begin(),
              members_.end(),
              [](member const& each) { return is_limited(each.asked.terms); }
          )
      },
      started_{lease_clock::now()},
      parts_(members_.size()) {}

void multi_acquire::accept_cancellation() {
    auto const cancel = [](multi_acquire& self, asio::cancellation_type type) {
        self.on_cancel(type);
    };
    on_cancel_in_strand(handler_, weak_from_this(), lead_, cancel);
}

void multi_acquire::start() {
    if (!fsm_.done()) {
        perform(fsm_.start(may_ask_together()));
    }
}

void multi_acquire::perform(multi_acquire_fsm::action const& next) {
    if (next.what == step::wait) {
        return;
    }
    if (next.what != step::deliver) {
        ++round_;
        if (next.what == step::finish) {
            // An observer is told what this operation has come to.
            for_each_asked([error = next.error](acquire_op& op) { op.give_up(error); });
        } else {
            cancel_what_is_asked(asio::cancellation_type::terminal);
        }
        give_back_from(next.kept);
    }
    if (fsm_.done()) {
        limit_.reset();
    }
    switch (next.what) {
        case step::wait: break;
        case step::together: ask_together(); break;
        case step::take:
            watch_kept(next.kept);
            take(next.kept);
            break;
        case step::limit: limit(); break;
        case step::deliver: deliver(); break;
        case step::finish: finish(next.error); break;
        case step::abort: finish(asio::error::operation_aborted); break;
    }
}

// A preflight is for each lock by itself, and an owner may join what another of his operations is
// granted meanwhile. What another client knows is looked at on its own strand only.
bool multi_acquire::may_ask_together() const {
    auto const& first = members_.front();
    auto const& on = *first.asked.on;
    bool const together = !first.asked.who && !first.asked.terms.learned &&
                          std::all_of(members_.begin(), members_.end(), [&](member const& each) {
                              return each.client == lead_ &&
                                     may_be_taken_together(*each.asked.on, on) &&
                                     lead_->may_share_a_call(*each.asked.on, on);
                          });
    return together && lead_->may_attempt(on) && !first.all->closed() &&
           lead_->server(on).has_granted;
}

void multi_acquire::ask_together() {
    together_.missing = parts_.size();
    arm_limit();
    auto const joint = std::make_shared<joint_attempt>();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        make_op(i, patience::one_attempt, joint)->start();
    }
    joint->send(*lead_, parts_.size());
}

void multi_acquire::take(std::size_t which) {
    arm_limit();
    auto const op = make_op(which, how_long_, {});
    members_[which].client->enter_strand([op] { op->start(); });
}

// A member that is held before the others are has no limits of its own: see `limit()`.
std::shared_ptr<acquire_op> multi_acquire::make_op(
    std::size_t which,
    patience how_long,
    std::shared_ptr<joint_attempt> with
) {
    auto const& on = members_[which];
    auto asked = on.asked;
    asked.terms = asked.terms.limited_as({});
    asked.how_long = how_long;
    asked.limit = left();
    asked.part = true;
    asked.provisional = with && how_long_ != patience::one_attempt;
    asked.with = std::move(with);
    auto on_end = [self = shared_from_this(), which, round = round_](error_code ec, lease given) {
        if (self->round_ == round) {
            self->on_answer(which, ec, std::move(given));
        }
    };
    auto op = std::make_shared<acquire_op>(
        *on.all,
        on.client,
        std::move(asked),
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
    if (together_.missing > 0) {
        on_answer_together(ec, static_cast<bool>(asked.held));
    } else if (asked.held) {
        on_taken();
    } else {
        perform(fsm_.on_refused(ec));
    }
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
    perform(fsm_.on_taken(intact()));
}

// What the user limits begins when all are held. A member's client knows it on its own strand, so
// the limits are sent there; the lease is not given out before they have begun. A lease that ends
// after some renewals, or without any, begins with its full length: a member that was held before
// the others is renewed first.
void multi_acquire::limit() {
    auto const now = lease_clock::now();
    unlimited_ = parts_.size();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        auto const& terms = members_[i].asked.terms;
        auto const& held = parts_[i].held;
        bool const ends = !terms.renew || terms.max_renewals != lease_terms::no_limit;
        auto const full = nanos{terms.lease} - terms.drift;
        bool const renews = ends && held.deadline() < now + full - short_part(full);
        auto on_end = [self = shared_from_this(), which = i, round = round_](error_code ec) {
            self->lead_->on_strand([self, which, round, ec] {
                if (self->round_ == round) {
                    self->on_limited(which, ec);
                }
            });
        };
        members_[i].client->enter_strand(
            [share = lease_access::share_of(held), terms, renews, on_end = std::move(on_end)] {
                share->of.limit(*share, terms, renews, on_end);
            }
        );
    }
}

void multi_acquire::on_limited(std::size_t which, error_code ec) {
    if (ec && ec != errc::lease_lost && !is_retryable(ec)) {
        perform(fsm_.on_ended(ec));
    } else if (ec == errc::lease_lost) {
        on_lost(which, parts_[which].held.loss());
    } else if (ec) {
        perform(fsm_.on_lost(which, ec));
    } else if (--unlimited_ == 0) {
        perform(fsm_.on_limited(intact()));
    }
}

std::size_t multi_acquire::intact() const noexcept {
    auto const lost = std::find_if(parts_.begin(), parts_.end(), [](part const& each) {
        return !each.held.valid();
    });
    return static_cast<std::size_t>(lost - parts_.begin());
}

time_point multi_acquire::limit_at() const noexcept {
    return saturating_add(started_, members_.front().asked.limit);
}

// What is taken when the time is up is asked for, and has until the end of this operation to be
// answered.
nanos multi_acquire::left() const noexcept {
    bool const limited = how_long_ == patience::limited;
    return limited ? std::max(time_left(limit_at()), nanos{1}) : nanos{0};
}

// The first members, which are kept while others are waited for.
void multi_acquire::watch_kept(std::size_t count) {
    for (std::size_t which = 0; which < count; ++which) {
        auto& kept = parts_[which];
        if (kept.watch != 0) {
            continue;
        }
        auto const& share = lease_access::share_of(kept.held);
        auto on_end =
            [weak = weak_from_this(), which, share = share.get()](error_code ec, loss_reason why) {
                auto const self = weak.lock();
                if (self && !ec) {
                    auto const& now = self->parts_[which].held;
                    if (lease_access::share_of(now).get() == share) {
                        self->on_lost(which, why);
                    }
                }
            };
        kept.watch =
            share->of.wait_lost(share, asio::bind_executor(lead_->strand(), std::move(on_end)));
    }
}

void multi_acquire::on_lost(std::size_t which, loss_reason why) {
    bool const other = why == loss_reason::taken || why == loss_reason::deleted;
    auto const cause = other ? error_code{} : make_error_code(errc::unreachable);
    perform(fsm_.on_lost(which, cause));
}

void multi_acquire::on_cancel(asio::cancellation_type type) {
    auto const next = fsm_.on_cancel(request_of(type));
    if (next.what == step::wait) {
        cancel_what_is_asked(type);
    }
    perform(next);
}

void multi_acquire::arm_limit() {
    if (how_long_ != patience::limited || limit_) {
        return;
    }
    auto const& terms = members_.front().asked.terms;
    limit_.emplace(lead_->strand());
    sleep_until(
        *limit_,
        saturating_add(limit_at(), fsm_.overdue() ? longest_overtime(terms) : nanos{0})
    );
    limit_->async_wait([weak = weak_from_this()](error_code ec) {
        if (auto const self = weak.lock(); self && !ec) {
            self->on_time_up();
        }
    });
}

// Of those that are taken one by one, each looks after its own time as well. Here it ends for all
// of them together.
void multi_acquire::on_time_up() {
    limit_.reset();
    bool const together = together_.missing > 0;
    auto const& first = members_.front().asked;
    perform(
        fsm_.on_time_up(!together || lead_->may_be_answered(*first.on, first.terms.request_timeout))
    );
    if (fsm_.overdue()) {
        arm_limit();
    }
}

void multi_acquire::cancel_what_is_asked(asio::cancellation_type type) {
    for_each_asked([type](acquire_op& op) { op.on_cancel(type); });
}

template <class F>
void multi_acquire::for_each_asked(F f) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (auto const op = parts_[i].asked.lock()) {
            members_[i].client->on_strand([op, f] { f(*op); });
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
        lease_access::share_of(each.held)->of.cancel_watch(each.watch);
        all[members_[i].named] = std::move(each.held);
    }
    return lease_group::make(lead_, std::move(all));
}

void multi_acquire::deliver() {
    finish({}, all_held());
}

void multi_acquire::finish(error_code ec, multi_lease granted) {
    holder_executor_ = {};
    end_acquire(handler_, how_long_, ec, std::move(granted));
}

}  // namespace holdfast::detail
