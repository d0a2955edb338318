#ifndef HOLDFAST_TEST_WIRE_FAULT_ROUTER_HPP
#define HOLDFAST_TEST_WIRE_FAULT_ROUTER_HPP

#include "support/tcp_proxy.hpp"

#include <holdfast/fencing_token.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::test {

/// The two connections of a client.
enum class link_kind { commands, notifications };

/// What a message is to the client that gets it. `error` is any error reply to a script, `check`
/// the answer to the PING that proves one.
enum class message_kind {
    hello,
    probe_ping,
    time,
    server,
    info,
    acquire,
    no_script,
    eval,
    error,
    check,
    renew,
    release,
    inspect,
    force_release,
    health,
    subscribe,
    message,
    unsubscribe,
    other
};

link_kind link_of(connection_record const& connection);

/// `key`: of the lock that the message is about; empty where it is about none.
struct message_subject {
    message_kind kind = message_kind::other;
    std::string key{};
};
message_subject subject_of(server_message const& message);

/// One proxy for all clients of a test, which are told apart by their `config::client_name`.
///
/// It keeps a book of what the server has granted, as the server said it and before any fault: the
/// truth that a client's belief is held against. Every function may be called from any thread.
class fault_router {
public:
    /// What becomes of a message; nothing: it passes. Runs on the proxy's thread.
    using edit = std::function<std::optional<message_parts>(server_message const&)>;

    explicit fault_router(std::string const& server_unix_socket);

    tcp_proxy& proxy() { return proxy_; }
    std::string url() const { return proxy_.url(); }

    /// Every message for that client goes through `what`; an empty function ends it.
    void set_edit(std::string const& client, edit what);

    /// The number of the newest connection of that kind; 0 before the first. It changes with the
    /// first answer of the server.
    std::size_t connection(std::string const& client, link_kind which) const;

    /// The holder id to which the server gave that token, if it is one of the last few of that key;
    /// otherwise empty.
    std::string holder(std::string const& key, fencing_token token) const;

private:
    struct client_line {
        edit what;
        std::map<link_kind, std::size_t> newest;
    };

    struct grant_entry {
        std::uint64_t token;
        std::string holder;
    };

    void note_grant(std::string const& key, grant_entry entry);
    message_parts pass(server_message message);
    edit note(server_message const& message);

    mutable std::mutex mutex_;
    std::map<std::string, client_line, std::less<>> lines_;
    std::map<std::string, std::deque<grant_entry>, std::less<>> book_;  // by key, the newest last
    tcp_proxy proxy_;
};

/// The name of the client at the other end of a connection.
std::string_view client_name(connection_record const& connection);

}  // namespace holdfast::test

#endif
