#ifndef HOLDFAST_CLI_RUN_GUARDING_HPP
#define HOLDFAST_CLI_RUN_GUARDING_HPP

#include "cli/options.hpp"
#include "cli/run/guard.hpp"
#include "cli/run/process_tree.hpp"
#include "cli/run/run_fsm.hpp"
#include "cli/run/signals.hpp"

#include <holdfast/lease_clock.hpp>

#include <sys/types.h>

#include <optional>
#include <string>

namespace holdfast::cli {

/// The guard's own work, in a process that has nothing else to do: see `guard`.
class guarding {
public:
    guarding(
        run_options const& options,
        std::string const& name,
        inherited_signals const& signals,
        int descriptor
    );

    /// Until the command is gone. Ends the process.
    [[noreturn]] void run();

private:
    void prepare() const;
    void wait();
    void read_orders();
    void follow(guard_order const& what);
    void start(guard_order const& what);
    void look_at_children();
    void look();
    void perform(run_fsm::step const& what);
    [[nodiscard]] bool is_alive() const;
    [[nodiscard]] process_tree job() const;
    void tell(guard_report::kind what, int number = 0) const noexcept;

    run_options const& options_;
    std::string const& name_;
    inherited_signals const& signals_;
    int descriptor_;
    // Where orders come from, until nobody is there.
    bool owned_ = true;
    // As the owner has said last.
    lease_clock::time_point lease_ends_ = lease_clock::time_point::max();
    pid_t leader_ = -1;
    // The leader, or those that have lost their parents.
    bool has_children_ = false;
    run_fsm fsm_;
    std::optional<run_fsm::time_point> look_at_;
    bool done_ = false;
};

}  // namespace holdfast::cli

#endif
