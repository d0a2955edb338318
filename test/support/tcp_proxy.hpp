#ifndef HOLDFAST_TEST_SUPPORT_TCP_PROXY_HPP
#define HOLDFAST_TEST_SUPPORT_TCP_PROXY_HPP

#include "proxy_faults.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

/// What a server tells each client, unasked, before it hangs up: as Redis does in protected mode,
/// or with too many clients.
struct last_words {
    std::string text;
};

/// A proxy on 127.0.0.1 in front of a server, that disturbs what passes through it.
///
/// It has a thread of its own. Every function may be called from any thread and returns when its
/// order is in force. Orders apply to the connections selected, at first all of them.
///
/// Commands and replies are told apart, so that a fault hits one of them; what is not RESP, as
/// TLS, passes as plain bytes.
class tcp_proxy {
public:
    explicit tcp_proxy(std::uint16_t server_port);
    explicit tcp_proxy(std::string const& server_unix_socket);
    /// There is no server: it turns all away.
    explicit tcp_proxy(last_words says);
    tcp_proxy(tcp_proxy const&) = delete;
    tcp_proxy& operator=(tcp_proxy const&) = delete;
    ~tcp_proxy();

    std::uint16_t port() const;
    std::string url() const;      // redis://127.0.0.1:port
    std::string tls_url() const;  // rediss://localhost:port

    // Standing orders; the last one that matches a connection counts.
    void set_mode(direction way, proxy_mode mode, connection_selector which = {});
    void set_mode(proxy_mode mode, connection_selector which = {});  // both ways

    /// Sends at most `size` bytes at once; 0 ends it.
    void fragment(direction way, std::size_t size, connection_selector which = {});
    void fragment(direction way, fragments sizes, connection_selector which = {});

    /// Passes every message for the client through `rewriter`, on the proxy's thread; an empty
    /// function ends it.
    void rewrite_messages(message_rewriter rewriter, connection_selector which = {});

    /// The same for one that only changes the bytes.
    void edit_replies(
        std::function<std::string(std::string)> editor,
        connection_selector which = {}
    );

    /// Cuts the present connections. What was on its way is lost.
    void cut(cut_kind kind = cut_kind::rst, connection_selector which = {});

    /// Forgets the connections that are closed, with what they have sent and the orders for them.
    void forget_closed();

    // New connections.
    void refuse_new(bool refuse);     // accepts and closes
    void turn_away(last_words says);  // the same, and says this before it closes
    void lead_to(std::string const& server_unix_socket);  // as a name that moves to another server

    // Faults, each of which happens once, to the first connection that gets there.

    /// At a command that has `text` in its words, joined by spaces.
    void when_client_sends(std::string text, command_fault fault, connection_selector which = {});

    // Looks.
    std::size_t pending_faults() const;
    std::size_t active() const;
    std::size_t in_use() const;  // active ones that the client has not closed
    std::size_t refused() const;
    std::vector<std::string> commands(connection_selector which = {}) const;
    std::size_t commands_with(std::string const& text) const;

private:
    class engine;

    std::unique_ptr<engine> engine_;
};

}  // namespace holdfast::test

#endif
