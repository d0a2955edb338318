#ifndef HOLDFAST_CLI_RUN_SUPERVISION_HPP
#define HOLDFAST_CLI_RUN_SUPERVISION_HPP

#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/run/child.hpp"
#include "cli/run/events.hpp"
#include "cli/run/holding.hpp"
#include "cli/run/run_fsm.hpp"
#include "cli/run/terminal.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>

namespace holdfast::cli {

/// A command that runs under a lock, from its start until no process of its group is left.
class supervision {
public:
    supervision(
        context const& on,
        run_options const& options,
        inherited const& from,
        holding& held,
        run_events& events
    );

    /// How the command ended; or why it could not be started.
    [[nodiscard]] asio::awaitable<run_ending> run();
    [[nodiscard]] bool lost() const noexcept { return fsm_.lost(); }

private:
    [[nodiscard]] std::optional<run_ending> start();
    void on(got_signal const& what);
    void on(lease_lost const& what);
    void on(look_due const& what);
    void on(answered const&) {}
    void on_child();
    void on_stopped(int signal);
    void go_on(bool with_terminal);
    void perform(run_fsm::step const& what);
    [[nodiscard]] std::chrono::nanoseconds grace() const;

    context const& on_;
    run_options const& options_;
    inherited const& from_;
    holding& held_;
    run_events& events_;
    terminal terminal_;
    run_fsm fsm_;
    std::optional<child> child_;
};

}  // namespace holdfast::cli

#endif
