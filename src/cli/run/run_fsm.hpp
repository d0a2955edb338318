#ifndef HOLDFAST_CLI_RUN_RUN_FSM_HPP
#define HOLDFAST_CLI_RUN_RUN_FSM_HPP

#include <holdfast/lease_clock.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::cli {

/// Decides what happens to the processes of a command that runs under a lock.
///
/// They are running until they have to end: because the first of them, the leader, has ended, or
/// because the lock is lost. If a daemon may be on its way out of the session, they are settling:
/// TERM has to wait. Then they are ending: they have got TERM, and get KILL when the grace time is
/// over. They are gone when none is left; only then the lock is given back.
class run_fsm {
public:
    using time_point = lease_clock::time_point;
    using duration = std::chrono::nanoseconds;

    enum class state : std::uint8_t { running, settling, ending, killed, gone };

    /// What to do now. At most one signal is due at a time.
    struct step {
        /// Zero: none.
        int signal = 0;
        /// To every process of the command, and those that are stopped have to go on, or they do
        /// not get it. Else to the leader's group.
        bool to_all = false;
        /// Look at the processes again at this time.
        std::optional<time_point> look_at = std::nullopt;
        friend bool operator==(step const&, step const&) = default;
    };

    [[nodiscard]] state now() const noexcept { return state_; }
    /// The wait status of the leader; nothing while it lives.
    [[nodiscard]] std::optional<int> status() const noexcept { return status_; }

    /// Somebody sent the command a signal.
    [[nodiscard]] step on_signal(int number) const noexcept;
    /// The command has to end. The processes get KILL `grace` after TERM, but at `kill_by` at the
    /// latest, and not later than an earlier call said.
    [[nodiscard]] step on_end(
        time_point at,
        duration grace,
        time_point kill_by = time_point::max()
    ) noexcept;
    /// No process gets TERM before `term_from`.
    void on_leader_ended(int status, time_point term_from = time_point::min()) noexcept {
        status_ = status;
        term_from_ = term_from;
    }
    /// The processes were looked at. `alive`: some process lives, the leader or another one.
    [[nodiscard]] step on_look(bool alive, time_point at) noexcept;

private:
    [[nodiscard]] step terminate(time_point at) noexcept;
    [[nodiscard]] step next_look(time_point at) const noexcept;

    state state_ = state::running;
    std::optional<int> status_;
    time_point term_from_ = time_point::min();
    time_point kill_at_ = time_point::max();
};

}  // namespace holdfast::cli

#endif
