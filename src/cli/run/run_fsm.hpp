#ifndef HOLDFAST_CLI_RUN_RUN_FSM_HPP
#define HOLDFAST_CLI_RUN_RUN_FSM_HPP

#include <holdfast/lease_clock.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::cli {

/// Decides what happens to the process group of a command that runs under a lock.
///
/// The group is running until its leader ends or the lock is lost. Then it is ending: what is left
/// of it has got TERM, and gets KILL when the grace time is over. It is gone when no process of it
/// is left; only then the lock is given back.
class run_fsm {
public:
    using time_point = lease_clock::time_point;
    using duration = std::chrono::nanoseconds;

    enum class state : std::uint8_t { running, ending, killed, gone };

    /// What to do now. At most one signal is due at a time.
    struct step {
        /// Send it to the group; zero: none.
        int signal = 0;
        /// Stopped processes have to go on, or they do not get the signal.
        bool with_continue = false;
        /// Look at the group again at this time.
        std::optional<time_point> look_at = std::nullopt;
        friend bool operator==(step const&, step const&) = default;
    };

    [[nodiscard]] state now() const noexcept { return state_; }
    [[nodiscard]] bool lost() const noexcept { return lost_; }
    /// The wait status of the leader; nothing while it lives.
    [[nodiscard]] std::optional<int> status() const noexcept { return status_; }

    /// Somebody sent this program a signal.
    [[nodiscard]] step on_signal(int number) const noexcept;
    /// The lock is lost. What is left of the group gets KILL after `grace`.
    [[nodiscard]] step on_lost(time_point at, duration grace) noexcept;
    /// The leader has ended. `others`: the group has more processes.
    [[nodiscard]] step on_leader_ended(
        int status,
        bool others,
        time_point at,
        duration grace
    ) noexcept;
    /// The group was looked at. `alive`: some process of it lives, the leader or another one.
    [[nodiscard]] step on_look(bool alive, time_point at) noexcept;

private:
    [[nodiscard]] step end_group(time_point at, duration grace) noexcept;
    [[nodiscard]] step next_look(time_point at) const noexcept;

    state state_ = state::running;
    bool lost_ = false;
    std::optional<int> status_;
    time_point kill_at_ = time_point::max();
};

}  // namespace holdfast::cli

#endif
