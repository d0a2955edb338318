#ifndef HOLDFAST_CORE_QUORUM_WAIT_HPP
#define HOLDFAST_CORE_QUORUM_WAIT_HPP

#include "core/backoff.hpp"
#include "core/lease_terms.hpp"
#include "core/quorum_tally.hpp"

#include <cstddef>
#include <vector>

namespace holdfast::detail {

/// Decides when a waiter for a quorum tries again: when a majority of the nodes may be free.
///
/// The rule that loses no release: what is heard of a node while a round is under way counts after
/// that round, whatever the round's answer from that node was. A node whose subscription has just
/// been confirmed may have been freed unheard.
///
/// Waiters that try at the same time may split the nodes among them, so that nobody has a majority.
/// Each gives back what it got, and tries again after a pause that it draws. The pauses grow until
/// one waiter's round is over before another's begins. Rounds begin at least `shortest_pause`
/// apart: in the last millisecond of a lease the nodes say that it lasts for zero more.
class quorum_wait {
public:
    /// Spreads those who wait for the end of the same lease.
    static constexpr nanos longest_jitter = millis{15};
    static constexpr nanos shortest_pause = millis{1};
    static constexpr nanos longest_pause = millis{500};

    /// A waiter that may not hear of a release tries again after `fallback_poll_interval`.
    quorum_wait(std::size_t nodes, nanos fallback_poll_interval)
        : free_at_(nodes, time_point::max()),
          counts_from_(nodes, time_point::max()),
          news_(nodes, false),
          fallback_poll_interval_{fallback_poll_interval} {}

    /// A round begins.
    void on_round(time_point now) noexcept;
    /// This node is not asked in it: it counts from then on, if nothing changes.
    void on_not_asked(std::size_t node, time_point counts_from) noexcept {
        counts_from_[node] = counts_from;
    }
    /// It came to no grant. `part` in [0, 1) is drawn by the caller. `hears`: what a majority of
    /// the nodes publish arrives.
    void on_lost(quorum_tally const& of, bool hears, double part, time_point now) noexcept;
    /// A node was freed, or may have been: also while a round is under way.
    void on_news(std::size_t node, double part, time_point now) noexcept;
    /// Another waiter joins the line, and relies on this one. As `wait_queue_fsm::on_newcomer`.
    void on_newcomer(bool brief, time_point now) noexcept;
    /// When to try: never, while a round is under way.
    [[nodiscard]] time_point attempt_at() const noexcept {
        return in_round_ ? time_point::max() : attempt_at_;
    }

private:
    [[nodiscard]] time_point majority_free_at() const noexcept;
    /// When to try because a majority may be free at that time.
    [[nodiscard]] time_point try_at(time_point free_at, double part, time_point now) const noexcept;
    /// The earliest time for the next round.
    [[nodiscard]] time_point earliest(time_point now) const noexcept;
    [[nodiscard]] time_point after_loss(
        quorum_tally const& of,
        bool hears,
        double part,
        time_point now
    ) noexcept;
    /// The pause before a try that others may make at the same time.
    [[nodiscard]] nanos spread(double part) const noexcept;

    std::vector<time_point> free_at_;
    // Of nodes that were not asked in this round.
    std::vector<time_point> counts_from_;
    std::vector<bool> news_;
    nanos fallback_poll_interval_;
    backoff pauses_{shortest_pause, longest_pause};
    // While a node refuses.
    backoff refused_pauses_{shortest_pause, backoff::refusals};
    nanos round_trip_{0};
    time_point round_began_ = time_point::min();
    // While a round is under way: when a waiter wants the next one.
    time_point attempt_at_ = time_point::min();
    bool in_round_ = false;
};

}  // namespace holdfast::detail

#endif
