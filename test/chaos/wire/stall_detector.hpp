#ifndef HOLDFAST_TEST_WIRE_STALL_DETECTOR_HPP
#define HOLDFAST_TEST_WIRE_STALL_DETECTOR_HPP

#include "report.hpp"

#include <holdfast.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>

namespace holdfast::test {

/// Asks the server something all the time, by a connection that no fault meets: shows whether the
/// machine had time for the test, the proxy and the server. Used on one thread.
class stall_detector {
public:
    /// Beats from now until it is destroyed, which must be before `by` is.
    stall_detector(boost::asio::any_io_executor const& executor, client& by);
    stall_detector(stall_detector const&) = delete;
    stall_detector& operator=(stall_detector const&) = delete;
    ~stall_detector();

    /// The longest time that an answer has taken since then.
    std::chrono::nanoseconds longest_since(lease_clock::time_point then) const;

private:
    struct beat {
        lease_clock::time_point asked;
        lease_clock::time_point answered;
    };
    struct state {
        std::deque<beat> beats;  // the last has no answer yet
        bool stopped = false;
    };

    static boost::asio::awaitable<void> beat_on(std::shared_ptr<state> kept, lock asked);

    std::shared_ptr<state> state_ = std::make_shared<state>();
};

/// Runs something, and once more if it found fault while the machine had no time for it: what is
/// too late then is no one's fault. A false grant is, whatever the machine does.
///
/// `run` is called with a report of its own, which it may keep. `patience`: how long an answer may
/// take.
boost::asio::awaitable<void> until_undisturbed(
    report& findings,
    stall_detector const& beat,
    std::chrono::nanoseconds patience,
    std::function<boost::asio::awaitable<void>(std::shared_ptr<report>)> const& run
);

}  // namespace holdfast::test

#endif
