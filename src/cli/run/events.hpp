#ifndef HOLDFAST_CLI_RUN_EVENTS_HPP
#define HOLDFAST_CLI_RUN_EVENTS_HPP

#include "cli/run/guard.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/lease_state.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <deque>
#include <optional>
#include <variant>

namespace holdfast::cli {

namespace asio = boost::asio;

/// This program got a signal.
struct got_signal {
    int number = 0;
};
/// The operation that was begun has ended.
struct answered {};
/// The lease was renewed.
struct lease_renewed {};
/// The lease is lost.
struct lease_lost {
    loss_reason why = loss_reason::none;
};
/// Nothing more comes from the guard.
struct guard_ended {};
/// It is time to look at the processes again.
struct look_due {};

using run_event = std::
    variant<got_signal, answered, lease_renewed, lease_lost, guard_report, guard_ended, look_due>;

/// What happens while a command waits or runs, in its order. For one coroutine that takes, and
/// handlers on the same executor that put.
class run_events {
public:
    explicit run_events(asio::any_io_executor const& executor)
        : something_{executor},
          look_{executor} {}

    void put(run_event what);
    /// The next one; waits for it.
    [[nodiscard]] asio::awaitable<run_event> next();
    /// Puts `look_due` at this time; before, if it was asked for an earlier time.
    void look_at(lease_clock::time_point when);

private:
    std::deque<run_event> all_;
    detail::timer something_;
    detail::timer look_;
    std::optional<lease_clock::time_point> look_at_;
};

}  // namespace holdfast::cli

#endif
