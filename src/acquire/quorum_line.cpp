#include "acquire/quorum_line.hpp"

#include "core/quorum_tally.hpp"
#include "lease/lease_group.hpp"
#include "protocol/subscription.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::detail {

/// Listens to one node's channel, on the strand of its client.
class quorum_line::listener final : public std::enable_shared_from_this<listener>,
                                    private subscriber {
public:
    listener(
        std::weak_ptr<quorum_line> to,
        std::shared_ptr<client_context> lead,
        quorum_node const& of,
        std::size_t number
    )
        : to_{std::move(to)},
          lead_{std::move(lead)},
          client_{of.client},
          on_{of.on},
          number_{number} {}

    void start() {
        client_->enter_strand([self = shared_from_this(), this] {
            subscription_ = client_->subscribe(on_->channel(), *this);
        });
    }
    void stop() noexcept {
        try {
            client_->enter_strand([self = shared_from_this(), this] { subscription_ = {}; });
        } catch (...) {
            // The end of a context calls this. What it hears finds nobody in line.
        }
    }

private:
    void tell(hearing how, bool news, error_code cause = {}) {
        lead_->on_strand([to = to_, number = number_, how, news, cause] {
            if (auto const line = to.lock()) {
                line->on_heard(number, how, news, cause);
            }
        });
    }
    void on_confirmed(bool) override { tell(hearing::confirmed, true); }
    void on_unconfirmed() override { tell(hearing::none, false); }
    void on_refused(error_code cause) override { tell(hearing::refused, false, cause); }
    void on_notification(std::string_view) override { tell(hearing::confirmed, true); }

    std::weak_ptr<quorum_line> to_;
    std::shared_ptr<client_context> lead_;
    std::shared_ptr<client_context> client_;
    std::shared_ptr<target const> on_;
    std::size_t number_;
    subscription subscription_;
};

quorum_line::place quorum_line::enter(std::shared_ptr<quorum_waiter> who) {
    return waiters_.insert(waiters_.end(), std::move(who));
}

void quorum_line::leave(place of) {
    if (cleared_) {
        return;
    }
    bool const was_first = is_first(of);
    waiters_.erase(of);
    if (waiters_.empty()) {
        stop_listening();
    } else if (was_first) {
        lead_->on_strand([self = shared_from_this()] {
            if (auto const next = self->first()) {
                next->on_turn();
            }
        });
    }
}

void quorum_line::listen(std::vector<quorum_node> const& nodes) {
    if (!listeners_.empty()) {
        return;
    }
    heard_.assign(nodes.size(), hearing::none);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        listeners_.push_back(std::make_shared<listener>(weak_from_this(), lead_, nodes[i], i));
        listeners_.back()->start();
    }
}

bool quorum_line::hears() const noexcept {
    auto const confirmed = std::count(heard_.begin(), heard_.end(), hearing::confirmed);
    return static_cast<std::size_t>(confirmed) >= quorum_tally::majority_of(heard_.size());
}

void quorum_line::on_heard(std::size_t node, hearing how, bool news, error_code cause) {
    if (listeners_.empty()) {
        return;
    }
    heard_[node] = how;
    auto const waits = first();
    if (!waits) {
        return;
    }
    auto const refused = std::count(heard_.begin(), heard_.end(), hearing::refused);
    auto const left = heard_.size() - static_cast<std::size_t>(refused);
    if (how == hearing::refused && left < quorum_tally::majority_of(heard_.size())) {
        waits->on_ended(cause);
    } else if (news) {
        waits->on_news(node);
    }
}

void quorum_line::stop_listening() noexcept {
    auto const gone = std::exchange(listeners_, {});
    for (auto const& each : gone) {
        each->stop();
    }
}

void quorum_line::on_round_over(bool busy, time_point began) {
    if (busy) {
        busy_at_ = std::max(busy_at_, began);
        auto const all = std::exchange(overdue_, {});
        for (auto const& each : all) {
            if (auto const who = each.lock()) {
                who->on_busy();
            }
        }
    }
}

void quorum_line::note_owner(owner const& who, std::weak_ptr<quorum_waiter> which) {
    std::erase_if(owned_, [](auto const& each) { return each.second.expired(); });
    owned_.emplace_back(who, std::move(which));
}

void quorum_line::on_grant_to(owner const& who, std::weak_ptr<lease_group const> lease) {
    std::erase_if(leases_, [](auto const& each) { return each.second.expired(); });
    leases_.emplace_back(who, std::move(lease));
    auto const all = owned_;
    for (auto const& each : all) {
        if (auto const one = each.first == who ? each.second.lock() : nullptr) {
            one->on_newcomer(true);
        }
    }
}

bool quorum_line::has_lock(owner const& who) const {
    return std::ranges::any_of(leases_, [&](auto const& each) {
        auto const lease = each.first == who ? each.second.lock() : nullptr;
        return lease && is_alive(lease->state());
    });
}

void quorum_line::ask_again(bool brief) const {
    if (auto const next = first()) {
        next->on_newcomer(brief);
    }
}

void quorum_line::on_overdue(std::weak_ptr<quorum_waiter> who) {
    std::erase_if(overdue_, [](auto const& each) { return each.expired(); });
    overdue_.push_back(std::move(who));
}

void quorum_line::end_all(error_code cause) {
    auto all = waiters_;
    for (auto const& each : owned_) {
        if (auto one = each.second.lock()) {
            all.push_back(std::move(one));
        }
    }
    for (auto const& each : all) {
        each->on_ended(cause);
    }
}

void quorum_line::clear() noexcept {
    cleared_ = true;
    stop_listening();
    auto const gone = std::exchange(waiters_, {});
}

std::shared_ptr<quorum_line> quorum_lines::of(std::vector<quorum_node> const& nodes) {
    if (all_.size() >= look_at_) {
        // Seldom enough that thousands of lines cost each other nothing.
        std::erase_if(all_, [](auto const& each) { return each.second.expired(); });
        look_at_ = std::max(few, 2 * all_.size());
    }
    auto& found = all_[key_of(nodes)];
    auto line = found.lock();
    if (!line) {
        line = std::make_shared<quorum_line>(nodes.front().client);
        found = line;
    }
    return line;
}

quorum_lines::key quorum_lines::key_of(std::vector<quorum_node> const& nodes) {
    key made{nodes.front().on->lock, {}};
    for (auto const& each : nodes) {
        made.second.push_back(each.client.get());
    }
    return made;
}

void quorum_lines::end_all(error_code cause) {
    auto const all = all_;
    for (auto const& each : all) {
        if (auto const line = each.second.lock()) {
            line->end_all(cause);
        }
    }
}

void quorum_lines::clear() noexcept {
    auto const all = std::exchange(all_, {});
    for (auto const& each : all) {
        if (auto const line = each.second.lock()) {
            line->clear();
        }
    }
}

}  // namespace holdfast::detail
