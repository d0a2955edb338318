#include "acquire/quorum_keeper.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace holdfast::detail {

quorum_keeper::quorum_keeper(quorum_keepers& all, std::shared_ptr<client_context> lead, quorum what)
    : all_{all},
      lead_{std::move(lead)},
      what_{std::move(what)},
      asked_(what_.nodes.size()) {}

void quorum_keeper::start(
    std::shared_ptr<lease_group> const& group,
    std::vector<std::weak_ptr<acquire_op>> asked
) {
    group_ = group;
    asked_ = std::move(asked);
    look_again(what_.granted_at);
}

void quorum_keeper::look_again(time_point now) {
    // One that is not renewed ends by itself.
    if (auto const& terms = what_.nodes.front().terms; terms.renew) {
        all_.add(*this, now + terms.renew_every());
    }
}

void quorum_keeper::on_group_over() noexcept {
    try {
        lead_->enter_strand([self = shared_from_this()] { self->stop(); });
    } catch (...) {
        // Out of memory: what a node grants finds no group.
    }
}

void quorum_keeper::stop() noexcept {
    all_.remove(*this);
    for (std::size_t i = 0; i < asked_.size(); ++i) {
        what_.nodes[i].cancel(asked_[i], asio::cancellation_type::terminal);
    }
}

void quorum_keeper::look(time_point now) {
    auto const group = group_.lock();
    auto const state = group ? group->state() : lease_state::empty;
    if (state == lease_state::lost) {
        on_loss(*group, now);
    }
    if (state != lease_state::held && state != lease_state::in_doubt) {
        return;
    }
    // Of a number of renewals, others would have to keep count of what is left.
    bool const asks = what_.nodes.front().terms.max_renewals == lease_terms::no_limit;
    for (std::size_t i = 0; asks && i < asked_.size(); ++i) {
        if (asked_[i].expired() && group->has_room(i) && what_.nodes[i].counts(now)) {
            ask(i, now);
        }
    }
    look_again(now);
}

// The user may take long to notice a loss. What is left would be renewed until then, and nobody
// else would get a majority. A loss by time is told before the deadline, up to which the user may
// still be stopping: nobody else gets the lock before that.
void quorum_keeper::on_loss(lease_group& group, time_point now) {
    if (auto const end = group.deadline(); now < end) {
        all_.add(*this, end);
    } else {
        group.release_rest();
    }
}

void quorum_keeper::ask(std::size_t node, time_point now) {
    auto const group = group_.lock();
    auto const& terms = what_.nodes[node].terms;
    auto const holder = group ? group->holder() : guarded_executor{};
    bool const over =
        terms.max_hold > nanos{0} && now >= saturating_add(what_.granted_at, terms.max_hold);
    if (over || !holder) {
        return;
    }
    auto answer = [self = shared_from_this(), node](error_code, lease given) {
        self->on_answer(node, std::move(given));
    };
    asked_[node] = what_.nodes[node].ask(
        {
            .terms = terms,
            .who = what_.who,
            .holder = holder,
            .vote = std::make_shared<ballot>(ballot{what_.token, what_.granted_at}),
        },
        *lead_,
        std::move(answer)
    );
}

void quorum_keeper::on_answer(std::size_t node, lease given) {
    asked_[node].reset();
    auto const group = group_.lock();
    auto const& of = what_.nodes[node];
    if (!given || !group || !of.counts(lease_clock::now())) {
        return;
    }
    if (given.token() < what_.token) {
        of.raise(given, what_.token, lead_, [](bool) {});
        lease_access::raise_token(given, what_.token);
    }
    group->join(node, std::move(given));
}

void quorum_keepers::add(quorum_keeper& which, time_point at) {
    remove(which);
    which.place_ = waiting_.emplace(at, which.weak_from_this());
    arm();
}

void quorum_keepers::remove(quorum_keeper& which) noexcept {
    if (auto const at = std::exchange(which.place_, {})) {
        waiting_.erase(*at);
    }
    if (waiting_.empty()) {
        timer_.reset();
        armed_for_ = time_point::max();
    }
}

// One that is set earlier than it need be costs a look; setting it anew for each lease would cost
// more.
void quorum_keepers::arm() {
    if (waiting_.empty() || waiting_.begin()->first >= armed_for_) {
        return;
    }
    if (!timer_) {
        timer_.emplace(lead_.strand());
    }
    auto const at = waiting_.begin()->first;
    armed_for_ = time_point::max();  // memory may run out
    sleep_until(*timer_, at);
    timer_->async_wait([this, client = lead_.shared_from_this()](error_code ec) {
        if (!ec) {
            on_timer();
        }
    });
    armed_for_ = at;
}

void quorum_keepers::on_timer() {
    armed_for_ = time_point::max();
    auto const now = lease_clock::now();
    while (!waiting_.empty() && waiting_.begin()->first <= now) {
        auto const due = waiting_.begin()->second.lock();
        if (!due) {
            waiting_.erase(waiting_.begin());
            continue;
        }
        remove(*due);
        try {
            due->look(now);
        } catch (std::exception const&) {
            // Out of memory: the nodes that it has go on.
        }
    }
    arm();
}

void quorum_keepers::clear() noexcept {
    timer_.reset();
    for (auto const& each : waiting_) {
        if (auto const one = each.second.lock()) {
            one->place_.reset();
        }
    }
    waiting_.clear();
}

}  // namespace holdfast::detail
