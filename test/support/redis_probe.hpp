#ifndef HOLDFAST_TEST_SUPPORT_REDIS_PROBE_HPP
#define HOLDFAST_TEST_SUPPORT_REDIS_PROBE_HPP

#include "redis_socket.hpp"
#include "resp.hpp"

#include <chrono>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// Empty means "do not authenticate"; a password without a user is for the default user.
struct redis_credentials {
    std::string user{};
    std::string password{};
};

/// A small blocking client with which a test looks at a server, or disturbs it, behind the back
/// of the library. Each call has a time limit. Not thread-safe.
class redis_probe {
public:
    struct message {
        std::string channel;
        std::string payload;
    };

    explicit redis_probe(std::string const& unix_socket, redis_credentials const& who = {});
    explicit redis_probe(std::uint16_t tcp_port, redis_credentials const& who = {});

    /// How long a call waits for its reply, 5 s at first; then it throws `std::runtime_error`.
    void set_timeout(std::chrono::milliseconds limit) { timeout_ = limit; }

    /// One command and its reply. An error reply is a value; the named helpers below throw it.
    redis_value command(std::vector<std::string> const& words);

    /// The same, with words that may be numbers: `cmd("SET", "a", 1)`.
    template <class... Words>
    redis_value cmd(Words const&... words) {
        return command({to_word(words)...});
    }

    // Keys.
    std::vector<std::string> keys(std::string const& pattern = "*");  // sorted
    std::vector<std::string> lock_keys();  // all but what outlives a lock
    bool exists(std::string const& key);
    std::int64_t pttl(std::string const& key);  // -1: does not expire; -2: no such key
    std::optional<std::string> get(std::string const& key);
    std::map<std::string, std::string> hgetall(std::string const& key);
    std::int64_t del(std::string const& key);
    void set(std::string const& key, std::string const& value);
    /// The time that it is there, in microseconds since 1970.
    std::uint64_t time();
    void flushall();

    /// Gives slots of a cluster to the node, from the first to the last.
    void add_slots(std::size_t first, std::size_t last);

    // Channels. After a subscription only `subscribe` and `next_message` may be called.
    std::int64_t publish(std::string const& channel, std::string const& payload);
    std::vector<std::string> pubsub_channels(std::string const& pattern = "*");  // sorted
    std::int64_t pubsub_numsub(std::string const& channel);
    void subscribe(std::string const& channel);
    void psubscribe(std::string const& pattern);
    std::optional<message> next_message(std::chrono::milliseconds limit);

    // Clients. A client is described by the fields of CLIENT LIST.
    std::vector<std::map<std::string, std::string>> client_list();
    std::int64_t client_kill_type(std::string const& type);  // spares this probe

    // Scripts and statistics. The probe's own commands are counted too.
    void script_flush();
    std::map<std::string, std::int64_t> commandstats();  // calls by command, in lower case
    std::int64_t lock_commands();  // scripts and subscriptions: no lock can do without them
    std::map<std::string, std::string> info(std::string const& section);

private:
    static std::string to_word(std::string_view word) { return std::string{word}; }
    static std::string to_word(std::integral auto number) { return std::to_string(number); }

    void authenticate(redis_credentials const& who);
    redis_value checked(std::vector<std::string> const& words);

    redis_socket socket_;
    std::chrono::milliseconds timeout_{5000};
};

}  // namespace holdfast::test

#endif
