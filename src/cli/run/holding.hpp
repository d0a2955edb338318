#ifndef HOLDFAST_CLI_RUN_HOLDING_HPP
#define HOLDFAST_CLI_RUN_HOLDING_HPP

#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/run/events.hpp"
#include "cli/run/run.hpp"
#include "cli/run/wanted_lock.hpp"

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <optional>

namespace holdfast::cli {

/// The lock of a command, from the wait for it to its release.
class holding {
public:
    /// @throws std::invalid_argument  for settings that no client accepts.
    holding(
        context const& on,
        run_options const& options,
        asio::any_io_executor const& executor,
        run_events& events
    );
    holding(holding const&) = delete;
    holding& operator=(holding const&) = delete;

    /// Nothing once the lock is held; else how this program ends. A signal that asks to end ends
    /// the wait.
    [[nodiscard]] asio::awaitable<std::optional<run_ending>> acquire();
    /// Puts `lease_lost` among the events when that happens; `lease_renewed` comes without this.
    void watch();
    [[nodiscard]] holdfast::lease const& lease() const noexcept { return lease_; }

    /// Ends the lease and the client. How this program ends, after a command that ended so.
    [[nodiscard]] asio::awaitable<run_ending> give_back(run_ending command, bool was_lost);
    [[nodiscard]] asio::awaitable<void> shut_down();

private:
    using answer_handler = asio::any_completion_handler<void(error_code, holdfast::lease)>;

    [[nodiscard]] answer_handler on_answer();
    [[nodiscard]] asio::awaitable<void> until_answered();
    [[nodiscard]] asio::awaitable<error_code> set_limit();
    [[nodiscard]] run_ending refused();

    context const& on_;
    run_options const& options_;
    run_events& events_;
    holdfast::client client_;
    wanted_lock lock_;
    holdfast::lease lease_;
    error_code error_;
    int interrupted_by_ = 0;
    asio::cancellation_signal cancel_;
};

}  // namespace holdfast::cli

#endif
