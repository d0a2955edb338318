#ifndef HOLDFAST_CLI_RUN_GUARD_REPORTS_HPP
#define HOLDFAST_CLI_RUN_GUARD_REPORTS_HPP

#include "cli/run/events.hpp"
#include "cli/run/guard.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

namespace holdfast::cli {

/// Puts what the guard tells among the events.
class guard_reports {
public:
    guard_reports(asio::any_io_executor const& executor, guard const& from, run_events& to);
    ~guard_reports() { descriptor_.release(); }
    guard_reports(guard_reports const&) = delete;
    guard_reports& operator=(guard_reports const&) = delete;

private:
    void read();

    asio::posix::stream_descriptor descriptor_;
    run_events& to_;
    guard_report next_;
};

}  // namespace holdfast::cli

#endif
