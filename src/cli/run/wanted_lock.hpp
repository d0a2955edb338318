#ifndef HOLDFAST_CLI_RUN_WANTED_LOCK_HPP
#define HOLDFAST_CLI_RUN_WANTED_LOCK_HPP

#include "cli/options.hpp"

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

#include <boost/asio/any_completion_handler.hpp>

#include <chrono>
#include <string>
#include <variant>

namespace holdfast::cli {

/// What a command runs under: a lock of the kind that the options ask for.
class wanted_lock {
public:
    using handler = asio::any_completion_handler<void(error_code, lease)>;

    wanted_lock(holdfast::client const& client, run_options const& options);

    /// The name on the server.
    [[nodiscard]] std::string const& name() const noexcept;
    /// As `lockable::acquire()`.
    void acquire(acquire_options options, handler done) const;
    /// As `lockable::try_acquire_for()`; without time to wait, one attempt.
    void try_acquire_for(std::chrono::milliseconds limit, acquire_options options, handler done)
        const;

private:
    using any = std::variant<lock, fair_lock, read_lock, write_lock, semaphore>;

    static any make(holdfast::client const& client, run_options const& options);

    any what_;
};

}  // namespace holdfast::cli

#endif
