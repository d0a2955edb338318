#ifndef HOLDFAST_TEST_SUPPORT_PROXY_FAULTS_HPP
#define HOLDFAST_TEST_SUPPORT_PROXY_FAULTS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::test {

enum class direction { to_server, to_client };

/// What becomes of the bytes that go one way.
struct proxy_mode {
    enum class kind {
        forward,
        drop,   // lost for good, with the end of the stream: a black hole
        stall,  // kept until the mode is another: a partition that heals
    };

    kind type = kind::forward;
    std::chrono::milliseconds later_by{0};

    static constexpr proxy_mode forward() { return {}; }
    static constexpr proxy_mode drop() { return {.type = kind::drop}; }
    static constexpr proxy_mode stall() { return {.type = kind::stall}; }
    static constexpr proxy_mode delay(std::chrono::milliseconds by) { return {.later_by = by}; }
};

enum class cut_kind {
    fin,  // the client reads an end of file
    rst,  // the client gets "connection reset"
};

/// How many bytes are sent at once.
struct fragments {
    std::size_t least = 0;
    std::size_t most = 0;  // 0: all there are; as many as are drawn, where it is not `least`
    unsigned seed = 1;

    /// Long enough for the peer to read one before the next one comes.
    std::chrono::microseconds pause{1000};
};

/// What happens once, at a point in the stream.
enum class stream_fault {
    cut,    // as `cut_kind::fin`
    reset,  // as `cut_kind::rst`
    drop,   // from here on this way is a black hole, for this connection
    stall,  // from here on this way is stalled, for this connection
};

/// What happens once, to one command of the client.
enum class command_fault {
    cut_before,          // the server never gets it; the connection is cut
    lose,                // the server never gets it; nothing else happens
    lose_reply,          // the server carries it out; nothing else happens
    lose_reply_and_cut,  // the server carries it out; the connection is cut instead of the reply
    drop_replies,        // the server carries it out; from its reply on, to_client is a black hole
    duplicate,           // the server carries it out twice; the second reply is lost
    unknown_script,      // an EVALSHA asks the server for a script that it does not have
};

/// What the proxy knows of a connection.
struct connection_record {
    std::size_t number = 0;           // in order of accept, from 1
    std::vector<std::string> sent{};  // the commands, each with its words separated by spaces
    std::uint64_t replies = 0;        // without pushes
};

/// A message of the server, on its way to the client.
struct server_message {
    connection_record const& connection;
    std::vector<std::string> const& command;  // that it answers; empty: a push that answers none
    std::string bytes;
};

/// What a message becomes: bytes, and what happens once those before it have been sent. A function
/// is called on the proxy's thread; nothing comes between it and a fault after it.
using message_part = std::variant<std::string, stream_fault, std::function<void()>>;
using message_parts = std::vector<message_part>;
using message_rewriter = std::function<message_parts(server_message)>;

/// Which connections something applies to; later ones too, and those that match later.
struct connection_selector {
    std::optional<std::size_t> number{};
    std::string text{};
    std::string absent{};

    bool matches(connection_record const& connection) const;
};

connection_selector all_connections();
connection_selector connection_number(std::size_t number);

/// Those whose client has sent a command with this text in it: "SUBSCRIBE", "SETNAME name".
connection_selector connections_that_sent(std::string text);

/// Those whose client has sent this one text, and never that other one.
connection_selector connections_that_sent(std::string text, std::string but_never);

}  // namespace holdfast::test

#endif
