#ifndef HOLDFAST_CLI_RUN_SUPERVISION_HPP
#define HOLDFAST_CLI_RUN_SUPERVISION_HPP

#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/run/events.hpp"
#include "cli/run/guard.hpp"
#include "cli/run/guard_reports.hpp"
#include "cli/run/holding.hpp"
#include "cli/run/run.hpp"
#include "cli/run/terminal.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <sys/types.h>

#include <chrono>
#include <optional>

namespace holdfast::cli {

/// A command that runs under a lock, from its start until nothing is left that it has started.
class supervision {
public:
    supervision(
        context const& on,
        run_options const& options,
        guard const& by,
        asio::any_io_executor const& executor,
        holding& held,
        run_events& events
    );

    /// How the command ended; or why it could not be started.
    [[nodiscard]] asio::awaitable<run_ending> run();
    [[nodiscard]] bool lost() const noexcept { return lost_; }

private:
    void on(got_signal const& what);
    void on(lease_renewed const& what);
    void on(lease_lost const& what);
    void on(guard_report const& what);
    void on(guard_ended const& what);
    void on(look_due const& what);
    void on(answered const&) {}
    void on_not_started(int error);
    void on_stopped(int signal);
    void go_on(bool with_terminal);
    [[nodiscard]] std::chrono::nanoseconds grace() const;

    context const& on_;
    run_options const& options_;
    guard const& guard_;
    holding& held_;
    run_events& events_;
    guard_reports reports_;
    terminal terminal_;
    /// Of the command, while it lives.
    std::optional<pid_t> group_;
    bool lost_ = false;
    std::optional<run_ending> ending_;
    bool gone_ = false;
};

}  // namespace holdfast::cli

#endif
