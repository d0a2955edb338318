#ifndef HOLDFAST_CORE_HOLD_FSM_HPP
#define HOLDFAST_CORE_HOLD_FSM_HPP

#include "core/lease_terms.hpp"

#include <holdfast/fencing_token.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace holdfast::detail {

/// What the server has confirmed of one hold, and whether its client may pass it on to its next
/// waiter without asking.
///
/// Time is an argument.
class hold_fsm {
public:
    /// By a request that was sent at `sent_at`, the server keeps the lock until `until` at least.
    struct confirmation {
        time_point sent_at;
        time_point until;

        friend bool operator==(confirmation const&, confirmation const&) = default;
    };
    /// Tokens that are reserved for this hold, in a row.
    struct token_block {
        fencing_token first;
        std::uint32_t size = 0;
    };
    /// Whether it can be passed on.
    enum class step : std::uint8_t {
        hand_over,
        /// The server has to be asked first: for more time, for tokens, or whether it is still
        /// ours.
        refill,
        /// It is to be given back.
        release,
    };

    /// The longest run of local grants while other clients wait.
    static constexpr std::uint32_t longest_run = 64;
    static constexpr nanos longest_run_time = millis{10};
    /// How many tokens are taken at most.
    static constexpr std::uint32_t most_tokens = 512;

    /// `rest`: the tokens that come after that of the grant.
    hold_fsm(confirmation const& by, token_block const& rest, time_point granted_at) noexcept
        : by_{by},
          next_token_{rest.first.value},
          run_began_{granted_at},
          tokens_{bounded(rest.size)},
          tokens_taken_{tokens_} {}

    /// The last tenure is over, and a waiter wants these terms. `asked`: the server was asked
    /// because of this waiter.
    [[nodiscard]] step next(lease_terms const& wanted, bool asked, time_point now) const noexcept;
    /// It lasts for long enough to be of use to a holder that wants these terms.
    [[nodiscard]] bool has_time_for(lease_terms const& wanted, time_point now) const noexcept;
    /// The last confirmation was for a lease of at least this length.
    [[nodiscard]] bool is_as_long_as(lease_terms const& wanted) const noexcept;
    /// The token of the next tenure. Only after `hand_over`.
    [[nodiscard]] fencing_token take_token() noexcept;

    /// Whether the server should be asked ahead of time, with so many local waiters.
    [[nodiscard]] bool wants_refill(std::size_t waiters, time_point now) const noexcept;
    [[nodiscard]] static std::uint32_t tokens_for(std::size_t waiters) noexcept;
    void on_refill_sent(time_point now) noexcept;
    /// It failed, or was not answered.
    void on_refill_failed() noexcept { refilling_ = false; }
    /// `waiting`: so many other clients are in the queue. `others`: so many wait that do not queue.
    void on_refilled(
        token_block const& block,
        std::uint64_t waiting,
        std::uint64_t others
    ) noexcept;
    [[nodiscard]] bool refilling() const noexcept { return refilling_; }
    /// That it is not ours any more may have been said and not been heard. The server should be
    /// asked by a request that is sent from now on.
    void on_unheard() noexcept { unheard_ = true; }
    [[nodiscard]] bool unheard() const noexcept { return unheard_; }

    void on_confirmed(confirmation const& by) noexcept;
    /// It is ours, by a request that was sent at that time and did not change its end.
    void on_verified(time_point sent_at) noexcept {
        verified_at_ = std::max(verified_at_, sent_at);
    }
    /// Another server has the place of the one that said so, wherever the lock goes from there.
    void on_replaced() noexcept { verified_at_ = time_point::min(); }
    /// It may not be ours any more. Only a request that is sent later can tell.
    void on_doubt(time_point since) noexcept { doubt_at_ = std::max(doubt_at_, since); }
    /// The server says that it is not ours. It never is again: others may have had the lock before
    /// its id has it once more, and its tokens are older than theirs.
    void on_lost() noexcept { by_.until = time_point::min(); }
    [[nodiscard]] bool lost() const noexcept { return by_.until == time_point::min(); }
    /// Another client waits.
    void on_others_wait() noexcept { others_wait_ = true; }

    [[nodiscard]] confirmation const& confirmed() const noexcept { return by_; }
    /// When the last request was sent by whose answer it was ours; `time_point::min()`: no server
    /// that is still there has said so.
    [[nodiscard]] time_point verified_at() const noexcept { return verified_at_; }
    /// It was not confirmed since there was a reason to doubt it.
    [[nodiscard]] bool doubtful() const noexcept { return doubt_at_ >= verified_at_; }

    friend bool operator==(hold_fsm const&, hold_fsm const&) = default;

private:
    [[nodiscard]] static std::uint16_t bounded(std::uint32_t tokens) noexcept {
        return static_cast<std::uint16_t>(std::min(tokens, most_tokens));
    }

    confirmation by_;
    std::uint64_t next_token_;
    time_point run_began_;
    // Of the last refill; or when it was granted.
    time_point asked_at_ = run_began_;
    time_point verified_at_ = by_.sent_at;
    time_point doubt_at_ = time_point::min();
    // None is greater than `most_tokens`, and a run is not counted beyond its longest.
    std::uint16_t tokens_;
    std::uint16_t tokens_taken_;
    std::uint8_t run_ = 1;
    // Other clients, those that queue and those that do not.
    bool others_wait_ : 1 = false;
    bool refilling_ : 1 = false;
    bool unheard_ : 1 = false;
};

}  // namespace holdfast::detail

#endif
