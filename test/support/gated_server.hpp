#ifndef HOLDFAST_TEST_SUPPORT_GATED_SERVER_HPP
#define HOLDFAST_TEST_SUPPORT_GATED_SERVER_HPP

#include "support/one_server.hpp"
#include "support/tcp_proxy.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// Settings with which no timer of the library helps a test along, but for a quick reconnection.
config patient_config();

/// Leases of two seconds.
config short_config();

/// A server behind a proxy with gates. What waits behind a gate goes on in its order when the gate
/// is opened. Not thread-safe.
class gated_server {
public:
    /// A server of its own.
    gated_server();
    /// A part of the key space of a server that several share.
    gated_server(redis_server& shared, std::string prefix);

    client make_client(asio::any_io_executor executor, config settings = patient_config());

    // What is on the server.
    bool exists(std::string const& name) { return probe_.exists(prefix_ + name); }
    std::int64_t pttl(std::string const& name) { return probe_.pttl(prefix_ + name); }
    std::vector<std::string> lock_keys();  // sorted
    std::size_t subscriptions();           // channels that somebody listens to

    // What somebody else does to it.
    void del(std::string const& name) { probe_.del(prefix_ + name); }
    /// Another holder's lock: taken, and given back with a notification.
    void lock_as_other(std::string const& name, std::chrono::milliseconds lease);
    void unlock_as_other(std::string const& name);

    /// Scripts that have come as far as the gate: all, or those of one name ("lock.acquire").
    std::size_t arrived(std::string_view script = {}) const;

    // The gates.
    /// Nothing is executed.
    void hold_requests(bool hold);
    /// What is executed is not answered.
    void hold_replies(bool hold);
    /// Subscriptions are not confirmed.
    void hold_confirmations(bool hold);
    /// Both connections break, or can be made again.
    void set_up(bool up);

private:
    std::optional<redis_server> own_;
    redis_server& server_;
    std::string prefix_;
    tcp_proxy proxy_;
    redis_probe probe_;
};

/// Runs a coroutine with such a server and a client that is connected, of which it knows the
/// scripts.
using gated_body = std::function<task(gated_server&, client&)>;
void with_gates(gated_body const& body, config settings = patient_config());

/// Lets a server know the scripts: each is sent once, not twice, from now on.
task teach_scripts(redis_server& server, asio::any_io_executor executor);

}  // namespace holdfast::test

#endif
