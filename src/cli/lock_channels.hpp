#ifndef HOLDFAST_CLI_LOCK_CHANNELS_HPP
#define HOLDFAST_CLI_LOCK_CHANNELS_HPP

#include <holdfast/client.hpp>
#include <holdfast/config.hpp>
#include <holdfast/lease_clock.hpp>

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// Every channel on which something may be said of a name: those of locks of each kind, and the
/// server's own for changes to the key, on which it is silent unless it is configured to speak.
[[nodiscard]] std::vector<std::string> channels_of(config const& settings, std::string_view name);

/// Listens to the channels of a name. For a program with one thread.
class lock_channels {
public:
    lock_channels(holdfast::client const& by, config const& settings, std::string_view name);
    lock_channels(lock_channels const&) = delete;
    lock_channels& operator=(lock_channels const&) = delete;
    ~lock_channels();

    /// Returns when something was said since the last time, or at `latest`.
    [[nodiscard]] boost::asio::awaitable<void> wait(lease_clock::time_point latest);

private:
    class listener;

    std::shared_ptr<listener> listener_;
};

}  // namespace holdfast::cli

#endif
