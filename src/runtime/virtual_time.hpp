#ifndef HOLDFAST_RUNTIME_VIRTUAL_TIME_HPP
#define HOLDFAST_RUNTIME_VIRTUAL_TIME_HPP

#include <holdfast/export.hpp>
#include <holdfast/lease_clock.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::detail {

/// What the system's clock shows: that of `lease_clock`, unless a test moves it.
[[nodiscard]] lease_clock::duration system_time() noexcept;

/// How a test moves the lease clock of the process. Nobody else does: then the clock costs one look
/// at two atomic numbers more.
///
/// The clock never goes back. What it was moved ahead by remains when the tests are over.
///
/// Thread-safe.
class virtual_time {
public:
    using time_point = lease_clock::time_point;
    using duration = lease_clock::duration;

    /// While one of these lives, the instants at which timers are due are noted. While one lives
    /// that stops the clock, time passes only by `move_to`.
    class HOLDFAST_EXPORT watch {
    public:
        explicit watch(bool stop_clock);
        watch(watch const&) = delete;
        watch& operator=(watch const&) = delete;
        ~watch();

    private:
        bool stops_clock_;
    };

    /// What the lease clock shows.
    [[nodiscard]] static duration now() noexcept {
        auto const stopped = stopped_at.load(std::memory_order_acquire);
        return stopped != running ? duration{stopped}
                                  : system_time() + duration{ahead.load(std::memory_order_relaxed)};
    }

    /// Whether timers have to be noted.
    [[nodiscard]] static bool is_watched() noexcept {
        return watches.load(std::memory_order_relaxed) > 0;
    }
    /// A timer was set to this instant. One that is cancelled stays noted: a look too many does no
    /// harm.
    HOLDFAST_EXPORT static void note(time_point due);
    /// The earliest instant noted, if it is not after `last`. It is forgotten, and so are all that
    /// have passed.
    [[nodiscard]] HOLDFAST_EXPORT static std::optional<time_point> take_next(time_point last);
    /// Moves the clock ahead. Does nothing if it is later already.
    HOLDFAST_EXPORT static void move_to(time_point at);

private:
    static constexpr std::int64_t running = INT64_MIN;

    // In nanoseconds: where the clock stands, and what it is ahead of the system's.
    static std::atomic<std::int64_t> stopped_at;
    static std::atomic<std::int64_t> ahead;
    HOLDFAST_EXPORT static std::atomic<int> watches;
};

}  // namespace holdfast::detail

#endif
