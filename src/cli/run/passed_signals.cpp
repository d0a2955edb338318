#include "cli/run/passed_signals.hpp"

#include <holdfast/error.hpp>

#include <sys/wait.h>

#include <csignal>

namespace holdfast::cli {

passed_signals::passed_signals(
    asio::any_io_executor const& executor,
    inherited_signals const& at_first,
    run_events& to
)
    : signals_{executor, SIGCHLD},
      to_{to} {
    for (int const signal : at_first.passed_on()) {
        signals_.add(signal);
    }
    wait();
}

void passed_signals::wait() {
    signals_.async_wait([this](error_code ec, int number) {
        if (ec) {
            return;
        }
        if (number != SIGCHLD) {
            to_.put(got_signal{number});
        }
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        wait();
    });
}

}  // namespace holdfast::cli
