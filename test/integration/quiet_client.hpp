#ifndef HOLDFAST_TEST_INTEGRATION_QUIET_CLIENT_HPP
#define HOLDFAST_TEST_INTEGRATION_QUIET_CLIENT_HPP

#include <holdfast/config.hpp>

#include <chrono>
#include <string>

namespace holdfast::test {

/// Of a client that asks again soon after an error, and by itself only when a lease may have ended:
/// a waiter that was not told is seen to wait.
inline config quiet(std::string const& url) {
    auto settings = parse_url(url);
    settings.request_timeout = std::chrono::milliseconds{500};
    settings.health_check_interval = std::chrono::seconds{60};
    settings.reconnect_max = std::chrono::milliseconds{200};
    settings.fallback_poll_interval = std::chrono::hours{1};
    return settings;
}

}  // namespace holdfast::test

#endif
