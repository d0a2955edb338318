#ifndef HOLDFAST_CORE_QUORUM_TALLY_HPP
#define HOLDFAST_CORE_QUORUM_TALLY_HPP

#include "core/lease_terms.hpp"

#include <holdfast/error.hpp>
#include <holdfast/fencing_token.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace holdfast::detail {

/// What the nodes of a quorum have said to one round of attempts, and what that comes to.
///
/// The token. It has to be greater than that of every grant before. Each node keeps a counter, and
/// a script never gives less than one more than that. Say that a grant has the token T, and was not
/// given out before T stood in the counters of a majority. The next grant is by a majority, too.
/// Two majorities have a node in common, where the later attempt was executed after T was written:
/// T is only written while the earlier holder has the lock there. So that node said more than T,
/// and the greatest token of the later majority is more than T. By induction tokens grow.
///
/// The nodes need not say the same. But each attempt proposes a token, which is what the servers'
/// clocks should show. A node whose counter is below takes it as it is. Where a majority has done
/// so, it stands there already, and one round is enough. Otherwise the greatest token is written
/// back to those that are behind, which takes a second round.
class quorum_tally {
public:
    static constexpr std::size_t fewest_nodes = 3;
    static constexpr std::size_t most_nodes = 9;

    explicit quorum_tally(std::size_t nodes) : votes_(nodes) {}

    /// The fewest nodes that are more than the others.
    [[nodiscard]] static std::size_t majority_of(std::size_t nodes) noexcept;
    [[nodiscard]] std::size_t needed() const noexcept { return majority_of(votes_.size()); }

    void on_granted(std::size_t node, fencing_token token) noexcept;
    /// Another holder has it, for so long. None: its lease has no end.
    void on_refused(std::size_t node, std::optional<millis> remaining) noexcept;
    /// It did not answer, or not to the question.
    void on_failed(std::size_t node, error_code cause) noexcept;
    /// Those that have not answered yet are not waited for if others have said enough.
    void on_late() noexcept { late_ = true; }
    /// The token was written back to a node that had granted the lock.
    void on_raised(std::size_t node) noexcept;
    /// The node was asked for it, or need not be.
    void on_raise_sent(std::size_t node) noexcept { votes_[node].raising = true; }

    enum class verdict : std::uint8_t {
        /// More answers are needed.
        open,
        /// A majority has granted the lock, and has not the token yet.
        write_back,
        granted,
        /// A majority has answered, and no majority granted it.
        busy,
        /// Fewer than a majority have answered.
        not_reached,
        /// So many nodes fail, for causes that do not pass by themselves, that no majority is left.
        failed,
    };
    [[nodiscard]] verdict look() const noexcept;
    /// Of `failed`: the first one. Of `not_reached`: `too_many_waiters` if a majority could have
    /// been asked otherwise.
    [[nodiscard]] error_code cause() const noexcept;

    /// Of the grant, once a majority has granted it.
    [[nodiscard]] fencing_token token() const noexcept { return token_; }
    /// The token has to be written back to this node, and was not yet.
    [[nodiscard]] bool is_behind(std::size_t node) const noexcept;
    /// A majority has answered, and some nodes have not.
    [[nodiscard]] bool has_stragglers() const noexcept;

    /// What one node has said.
    struct vote {
        enum class kind : std::uint8_t { open, granted, refused, failed };
        kind what = kind::open;
        bool raising = false;
        fencing_token token;
        std::optional<millis> remaining;
        error_code cause;
    };
    [[nodiscard]] std::vector<vote> const& votes() const noexcept { return votes_; }

private:
    [[nodiscard]] std::size_t count(vote::kind what) const noexcept;

    std::vector<vote> votes_;
    fencing_token token_;
    bool late_ = false;
};

}  // namespace holdfast::detail

#endif
