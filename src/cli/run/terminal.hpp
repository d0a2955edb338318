#ifndef HOLDFAST_CLI_RUN_TERMINAL_HPP
#define HOLDFAST_CLI_RUN_TERMINAL_HPP

#include <sys/types.h>

namespace holdfast::cli {

/// The terminal that controls this program, if there is one. One process group at a time has it:
/// its stop and interrupt keys go there, and only that group may read from it.
class terminal {
public:
    terminal() noexcept;
    /// Takes the terminal back.
    ~terminal();
    terminal(terminal const&) = delete;
    terminal& operator=(terminal const&) = delete;

    [[nodiscard]] bool there() const noexcept { return descriptor_ >= 0; }
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    /// This program's group has it.
    [[nodiscard]] bool ours() const noexcept;
    /// A command that starts should have it: it is ours, and both input and output go there. Of a
    /// pipeline, others of our group may need it.
    [[nodiscard]] bool for_command() const noexcept;
    /// It is with the group that it was given to.
    [[nodiscard]] bool given() const noexcept { return given_; }

    void give_to(pid_t group) noexcept;
    void take_back() noexcept;
    /// A child has taken it for its group.
    void note_given() noexcept { given_ = true; }

private:
    int descriptor_;
    bool given_ = false;
};

/// Makes the group the one that has the terminal. Safe after fork().
void set_foreground_group(int terminal, pid_t group) noexcept;

}  // namespace holdfast::cli

#endif
