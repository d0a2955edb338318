#ifndef HOLDFAST_CORE_LEADER_SEQUENCE_HPP
#define HOLDFAST_CORE_LEADER_SEQUENCE_HPP

#include <holdfast/leader_info.hpp>

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace holdfast::detail {

/// Where a leader stands in the history of an election. A leader has one place for each value that
/// it proclaimed. Places without gaps have numbers without gaps.
struct leader_place {
    std::uint64_t number = 0;
    fencing_token term;
    /// The number of the value within the term, from 1.
    std::uint64_t change = 0;

    /// Whether this one came later. A server that has lost data may give a number again, but no
    /// term.
    [[nodiscard]] bool is_after(leader_place const& other) const noexcept {
        return term != other.term ? term > other.term : change > other.change;
    }
    friend bool operator==(leader_place const&, leader_place const&) = default;
};

/// An element of the history.
struct leader_record {
    leader_place place;
    leader_info leader;
};

/// What a look at an election found.
struct leader_look {
    /// To the end of the holder's lease; none if nobody has the lock, or the lease has no end.
    std::optional<std::chrono::milliseconds> remaining;
    /// Somebody has the lock.
    bool held = false;
    /// It is the newest leader.
    bool leading = false;
    leader_place newest;
    /// Leaders are missing before those that were found.
    bool missed = false;
    /// Those after the last one that the observer knew, the oldest first. There may be more.
    std::vector<leader_record> found;
};

/// Decides what an observer of an election is told: each leader once and in order, and that nobody
/// leads. What it is not told of it is told to have missed.
class leader_sequence {
public:
    /// The last leader that it knows; zeros: there was none. Nothing: it wants the newest one only.
    [[nodiscard]] std::optional<leader_place> const& seen() const noexcept { return seen_; }
    /// Whether a leader that was announced is news.
    [[nodiscard]] bool is_news(leader_place const& announced) const noexcept {
        return !seen_ || announced.is_after(*seen_);
    }

    struct told {
        std::vector<leader_change> changes;
        /// There is more to be looked at.
        bool more = false;
    };
    /// The answer to a look that was asked for with `seen()`.
    [[nodiscard]] told on_look(leader_look&& found);

private:
    std::optional<leader_place> seen_;
    bool begun_ = false;
    bool vacant_ = false;
    bool missed_ = false;
};

}  // namespace holdfast::detail

#endif
