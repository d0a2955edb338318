#ifndef HOLDFAST_CLI_RUN_PASSED_SIGNALS_HPP
#define HOLDFAST_CLI_RUN_PASSED_SIGNALS_HPP

#include "cli/run/events.hpp"
#include "cli/run/signals.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/signal_set.hpp>

namespace holdfast::cli {

/// Puts the signals that are passed on among the events when this program gets them. Waits for
/// children that it did not start, as the first process of a container has to.
class passed_signals {
public:
    passed_signals(
        asio::any_io_executor const& executor,
        inherited_signals const& at_first,
        run_events& to
    );
    passed_signals(passed_signals const&) = delete;
    passed_signals& operator=(passed_signals const&) = delete;

private:
    void wait();

    asio::signal_set signals_;
    run_events& to_;
};

}  // namespace holdfast::cli

#endif
