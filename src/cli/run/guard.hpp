#ifndef HOLDFAST_CLI_RUN_GUARD_HPP
#define HOLDFAST_CLI_RUN_GUARD_HPP

#include "cli/options.hpp"
#include "cli/run/signals.hpp"

#include <holdfast/fencing_token.hpp>
#include <holdfast/lease_clock.hpp>

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace holdfast::cli {

/// What the guard is told to do.
struct guard_order {
    enum class kind : std::int32_t { start, renewed, pass_on, go_on, end };
    kind what = kind::start;
    /// start: 1 if the command takes the terminal. pass_on: a signal.
    std::int32_t number = 0;
    /// start: the token. renewed: the deadline of the lease by the lease clock, in ns. end: how
    /// long it has between TERM and KILL, in ns.
    std::int64_t value = 0;
};

/// What the guard tells.
struct guard_report {
    enum class kind : std::int32_t { started, not_started, stopped, ended, killing, gone };
    kind what = kind::gone;
    /// started: the command's process id, and group. not_started: the `errno`. stopped: the signal.
    /// ended: the wait status of the command.
    std::int32_t number = 0;
};

/// A process that starts the command of `holdfast run`, and that everything it starts is below:
/// the subreaper of it all (prctl(2)). If this program ends without having told it to end the
/// command, by KILL too, the guard ends it: TERM, and KILL as after a loss of the lock, but before
/// the lease ends. If the guard is killed, this program is the subreaper.
///
/// It is started before this program opens a connection or starts a thread, so the command has
/// nothing of them.
class guard {
public:
    /// @param name  of the lock, for the command's environment.
    /// @throws std::system_error  if no process can be started.
    guard(run_options const& options, std::string const& name, inherited_signals const& signals);
    /// Unless the command is gone, ends it.
    ~guard();
    guard(guard const&) = delete;
    guard& operator=(guard const&) = delete;

    void start(fencing_token token, bool takes_terminal) const noexcept;
    /// The lease has this deadline now. Before `start`, and after each renewal. Never blocks.
    void renewed(lease_clock::time_point deadline) const noexcept;
    /// To the command's process group; to all that is left, once the command has ended.
    void pass_on(int signal) const noexcept { order({guard_order::kind::pass_on, signal, 0}); }
    /// The command's process group is continued.
    void go_on() const noexcept { order({guard_order::kind::go_on, 0, 0}); }
    void end(std::chrono::nanoseconds grace) const noexcept {
        order({guard_order::kind::end, 0, grace.count()});
    }

    /// Reports come from there, each in one piece. The end of the file without `gone`: somebody has
    /// killed the guard.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    void order(guard_order const& what, int flags = 0) const noexcept;

    int descriptor_ = -1;
};

}  // namespace holdfast::cli

#endif
