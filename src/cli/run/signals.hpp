#ifndef HOLDFAST_CLI_RUN_SIGNALS_HPP
#define HOLDFAST_CLI_RUN_SIGNALS_HPP

#include <csignal>
#include <vector>

namespace holdfast::cli {

/// What a process begins with, for one that shall begin with the same: the signal mask, and which
/// of the signals that a program passes on are ignored. `nohup` and shells ignore some for the
/// programs that they start.
class inherited_signals {
public:
    /// Those of this program, before it changed anything.
    inherited_signals();

    /// What is passed on to the command: the signals that ask for something, if they were not
    /// ignored.
    [[nodiscard]] std::vector<int> const& passed_on() const noexcept { return passed_on_; }

    /// For a child before it executes a program: what this program handles has its default action
    /// again, then the mask is as it was. Safe after fork().
    void restore() const noexcept;

private:
    sigset_t mask_{};
    std::vector<int> passed_on_;
};

/// Whether the signal asks a program to end.
[[nodiscard]] bool asks_to_end(int signal) noexcept;

/// Blocks all signals of this thread, until destruction.
class blocked_signals {
public:
    blocked_signals() noexcept;
    ~blocked_signals();
    blocked_signals(blocked_signals const&) = delete;
    blocked_signals& operator=(blocked_signals const&) = delete;

private:
    sigset_t before_{};
};

/// Stops this program and the others of its process group, as the terminal's stop key does.
/// Returns when they go on. Handlers of this program stay as they are.
void stop_own_group() noexcept;

/// Ends this program by a signal, so that whoever waits for it sees that. Returns if the signal
/// does not end it.
void end_by(int signal) noexcept;

}  // namespace holdfast::cli

#endif
