#include "cli/run/guard_reports.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include <cstddef>

namespace holdfast::cli {

guard_reports::guard_reports(
    asio::any_io_executor const& executor,
    guard const& from,
    run_events& to
)
    : descriptor_{executor, from.descriptor()},
      to_{to} {
    read();
}

void guard_reports::read() {
    descriptor_.async_read_some(
        asio::buffer(&next_, sizeof next_),
        [this](error_code ec, std::size_t) {
            if (ec == asio::error::operation_aborted) {
                return;
            }
            if (ec == asio::error::connection_reset) {
                // The guard has ended with an order that it had not read. Linux says so once, and
                // before the guard's last reports.
                read();
                return;
            }
            if (ec) {
                to_.put(guard_ended{});
                return;
            }
            to_.put(next_);
            read();
        }
    );
}

}  // namespace holdfast::cli
