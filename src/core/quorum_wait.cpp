#include "core/quorum_wait.hpp"

#include "core/wait_queue_fsm.hpp"

#include <algorithm>
#include <array>

namespace holdfast::detail {

void quorum_wait::on_round(time_point now) noexcept {
    in_round_ = true;
    round_began_ = now;
    attempt_at_ = time_point::max();
    std::fill(news_.begin(), news_.end(), false);
    std::fill(counts_from_.begin(), counts_from_.end(), time_point::max());
}

time_point quorum_wait::earliest(time_point now) const noexcept {
    return std::max(now, round_began_ + shortest_pause);
}

nanos quorum_wait::spread(double part) const noexcept {
    return scaled(std::clamp<nanos>(2 * round_trip_, nanos{0}, longest_jitter), part);
}

time_point quorum_wait::majority_free_at() const noexcept {
    std::array<time_point, quorum_tally::most_nodes> sorted{};
    auto const end = std::copy(free_at_.begin(), free_at_.end(), sorted.begin());
    std::sort(sorted.begin(), end);
    return sorted[quorum_tally::majority_of(free_at_.size()) - 1];
}

void quorum_wait::on_lost(
    quorum_tally const& of,
    bool hears,
    double part,
    time_point now
) noexcept {
    in_round_ = false;
    auto const wanted = std::max(attempt_at_, earliest(now));
    attempt_at_ = std::min(wanted, after_loss(of, hears, part, now));
}

time_point quorum_wait::after_loss(
    quorum_tally const& of,
    bool hears,
    double part,
    time_point now
) noexcept {
    using kind = quorum_tally::vote::kind;
    round_trip_ = now - round_began_;
    std::size_t refused = 0;
    for (std::size_t i = 0; i < free_at_.size(); ++i) {
        auto const& vote = of.votes()[i];
        refused += vote.what == kind::refused ? 1U : 0U;
        if (vote.what == kind::granted || news_[i]) {
            free_at_[i] = now;
        } else if (vote.what == kind::refused && vote.remaining) {
            free_at_[i] = saturating_add(now, *vote.remaining);
        } else {
            free_at_[i] = counts_from_[i];
        }
    }
    bool const refusing = std::ranges::any_of(of.votes(), [](auto const& vote) {
        return vote.what == kind::failed && vote.cause == errc::server_refused;
    });
    auto const pause = refusing ? refused_pauses_.next(part) : pauses_.next(part);
    if (!refusing) {
        refused_pauses_.reset();
    }
    if (of.look() != quorum_tally::verdict::busy || refused < of.needed()) {
        // Nobody is known to have a majority: others may have split the nodes, or nodes are down.
        return earliest(now) + pause;
    }
    pauses_.reset();
    auto const free_at = majority_free_at();
    if (free_at <= now) {
        return try_at(free_at, part, now);
    }
    auto const polled_at = saturating_add(now, fallback_poll_interval_);
    auto const at = free_at == time_point::max() ? polled_at : try_at(free_at, part, now);
    return hears ? at : std::min(at, polled_at);
}

time_point quorum_wait::try_at(time_point free_at, double part, time_point now) const noexcept {
    return free_at <= now ? earliest(now) + spread(part)
                          : free_at + scaled(longest_jitter, part) + millis{1};
}

void quorum_wait::on_news(std::size_t node, double part, time_point now) noexcept {
    if (in_round_) {
        news_[node] = true;
        return;
    }
    free_at_[node] = now;
    if (auto const free_at = majority_free_at(); free_at != time_point::max()) {
        attempt_at_ = std::min(attempt_at_, try_at(free_at, part, now));
    }
}

void quorum_wait::on_newcomer(bool brief, time_point now) noexcept {
    auto const trusted_until = round_began_ + wait_queue_fsm::newcomers_trust;
    auto const at = brief ? earliest(now) : std::max(now, trusted_until);
    attempt_at_ = std::min(attempt_at_, at);
}

}  // namespace holdfast::detail
