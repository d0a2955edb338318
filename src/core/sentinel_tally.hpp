#ifndef HOLDFAST_CORE_SENTINEL_TALLY_HPP
#define HOLDFAST_CORE_SENTINEL_TALLY_HPP

#include "core/lease_terms.hpp"

#include <holdfast/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::detail {

/// What a Sentinel says of the primary.
struct sentinel_answer {
    std::string host;
    std::uint16_t port = 0;
    /// Grows with each failover that the Sentinels have agreed on.
    std::uint64_t config_epoch = 0;
    /// Why it names none.
    error_code cause;
    /// It would not name one if it were asked again.
    bool permanent = false;

    [[nodiscard]] bool names_one() const noexcept { return !cause; }
};

/// Which of the Sentinels' answers counts: that with the greatest config epoch. One that is behind,
/// or cut off from the others, still names the old primary.
///
/// Time is an argument.
class sentinel_tally {
public:
    /// Sentinels tell each other what they know every two seconds. What none of them has repeated
    /// for so long is forgotten, should they know of an earlier epoch only: they were set up anew.
    static constexpr nanos longest_memory = millis{10'000};

    explicit sentinel_tally(std::size_t sentinels) noexcept : sentinels_{sentinels} {}

    /// All of them are asked.
    void begin_round() noexcept;
    /// What one of them says, to a question of this round.
    void on_answer(sentinel_answer const& what, time_point now);
    /// What one says that was asked by itself.
    void on_news(sentinel_answer const& what, time_point now);
    /// A majority has named a primary, or all have been heard.
    [[nodiscard]] bool decided() const noexcept;

    struct primary {
        std::string host;
        std::uint16_t port = 0;
        std::uint64_t config_epoch = 0;
        /// Counts the changes.
        std::uint64_t version = 0;
    };
    /// The primary as far as it is known.
    [[nodiscard]] std::optional<primary> const& known() const noexcept { return known_; }

    struct outcome {
        /// Success: it is the one that is known.
        error_code cause;
        bool permanent = false;
    };
    /// The round is over.
    [[nodiscard]] outcome conclude(time_point now);

private:
    [[nodiscard]] bool agrees(sentinel_answer const& what) const noexcept;
    void learn(sentinel_answer const& what, time_point now);

    std::size_t sentinels_;
    std::optional<primary> known_;
    std::uint64_t version_ = 0;
    // When a Sentinel said so last.
    time_point confirmed_at_{};

    // Of this round.
    std::size_t heard_ = 0;
    std::size_t named_ = 0;
    std::optional<sentinel_answer> newest_;
    // Why the first of those that answered names none, and whether all of them refuse for good.
    error_code refusal_;
    bool all_permanent_ = true;
};

}  // namespace holdfast::detail

#endif
