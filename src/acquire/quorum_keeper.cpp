#include "acquire/quorum_keeper.hpp"

#include <boost/asio/bind_executor.hpp>

#include <utility>

namespace holdfast::detail {

quorum_keeper::quorum_keeper(
    std::shared_ptr<client_context> lead,
    quorum what,
    std::weak_ptr<lease_group> group,
    std::vector<std::weak_ptr<acquire_op>> asked
)
    : lead_{std::move(lead)},
      what_{std::move(what)},
      group_{std::move(group)},
      asked_{std::move(asked)},
      next_(what_.nodes.size(), time_point::min()) {}

void quorum_keeper::on_group_over() noexcept {
    try {
        lead_->enter_strand([self = shared_from_this(), this] {
            for (std::size_t i = 0; i < asked_.size(); ++i) {
                what_.nodes[i].cancel(asked_[i], asio::cancellation_type::terminal);
            }
        });
    } catch (...) {
        // The destructor of a lease calls this. What a node grants finds no group.
    }
}

void quorum_keeper::ask_for_missing(time_point now) {
    auto const group = group_.lock();
    // Of a number of renewals, others would have to keep count of what is left.
    if (!group || what_.nodes.front().terms.max_renewals != lease_terms::no_limit) {
        return;
    }
    for (std::size_t i = 0; i < asked_.size(); ++i) {
        bool const idle = asked_[i].expired() && now >= next_[i];
        if (idle && group->has_room(i) && what_.nodes[i].counts(now)) {
            ask(i, *group, now);
        }
    }
}

void quorum_keeper::ask(std::size_t node, lease_group const& group, time_point now) {
    auto const& terms = what_.nodes[node].terms;
    auto const holder = group.holder();
    bool const over =
        terms.max_hold > nanos{0} && now >= saturating_add(what_.granted_at, terms.max_hold);
    if (over || !holder) {
        return;
    }
    next_[node] = now + terms.renew_every() / 2;
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
    if (!given || !group) {
        return;
    }
    auto confirmed = [self = shared_from_this(), node, given = std::move(given)](error_code ec
                     ) mutable {
        if (!ec) {
            self->join(node, std::move(given));
        }
    };
    // mutant: quorum-renewal-creates-again
    group->confirm(asio::bind_executor(lead_->strand(), std::move(confirmed)));
}

void quorum_keeper::on_late_answer(std::size_t node, lease given) {
    asked_[node].reset();
    if (given) {
        join(node, std::move(given));
    }
}

void quorum_keeper::join(std::size_t node, lease given) {
    auto const group = group_.lock();
    auto const& of = what_.nodes[node];
    if (!group || !of.counts(lease_clock::now())) {
        return;
    }
    if (given.token() < what_.token) {
        of.raise(given, what_.token, lead_, [](bool) {});
        lease_access::raise_token(given, what_.token);
    }
    group->join(node, std::move(given));
}

}  // namespace holdfast::detail
