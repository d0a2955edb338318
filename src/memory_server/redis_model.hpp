#ifndef HOLDFAST_MEMORY_SERVER_REDIS_MODEL_HPP
#define HOLDFAST_MEMORY_SERVER_REDIS_MODEL_HPP

#include "memory_server/cluster_view.hpp"
#include "memory_server/value.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::memory {

class database;
struct server_state;

/// Why a server of Redis 7 refuses commands. Each is judged where the server judges it: a script by
/// its first command that the refusal is about, not before.
enum class refusal {
    none,
    oom,         // commands that may need memory, unless the script has written already
    read_only,   // it is a replica now: commands that write
    misconf,     // it cannot save its data: commands that write, and PING
    noreplicas,  // too few replicas: commands that write
    loading,     // nearly all
    busy,        // nearly all: a script runs for ever
    masterdown,  // nearly all: a replica that has lost its master
    noauth,      // all but HELLO, whoever the session was before
};

/// What a user may do. Patterns are those of the server (`*`, `?`, `[a-z]`); no list means all.
struct user_rules {
    bool enabled = true;
    std::optional<std::string> password{};    // none: every password is right
    std::set<std::string> denied_commands{};  // as the server names them: "publish", "script|load"
    std::optional<std::vector<std::string>> keys{};
    std::optional<std::vector<std::string>> channels{};
};

/// A server of Redis 7, with its data in memory and its clock in the hands of the caller. It runs
/// the scripts it is sent with a Lua interpreter, as the server does.
///
/// It holds no global state but the compiled scripts, of which each thread has its own. Not
/// thread-safe; models in several threads do not touch each other. `out` must not call the model.
///
/// It knows the commands and options that the library's scripts and connections use, and no others.
/// Scripts have Lua's own libraries, `redis.call` and `redis.pcall`.
///
/// The fields of a large hash, whose order in the server nobody can foretell, are kept in the order
/// of insertion.
class redis_model {
public:
    using session_id = std::uint64_t;
    using words = std::span<std::string_view const>;

    redis_model();
    redis_model(redis_model&&) noexcept;
    redis_model& operator=(redis_model&&) noexcept;
    ~redis_model();

    // --- connections

    /// A new connection, which speaks RESP2 until it sends HELLO 3. `out` gets what is not the
    /// reply of a command: messages, and the confirmations of subscriptions.
    session_id connect(std::function<void(value)> out);
    /// Ends the connection's subscriptions. An unknown session is ignored.
    void disconnect(session_id session);

    /// Executes one command, which has at least one word. Nothing is returned for the commands
    /// that are answered by way of `out`: SUBSCRIBE and the like. A session that is gone (see
    /// `restart`) gets nothing either, and the command is not executed.
    std::optional<value> execute(session_id session, words command);
    std::optional<value> execute(
        session_id session,
        std::initializer_list<std::string_view> command
    );

    /// The server's wall clock in µs since 1970; it may step back. Keys whose time has come are
    /// gone at once. Starts at 1'000'000'000 s.
    void set_time(std::int64_t us);
    std::int64_t time() const;

    // --- what an operator or an accident does; none of these is refused

    /// As if evicted or deleted by hand: gone without a notification. False if it was not there.
    bool erase(std::string_view key, int database = 0);
    bool del(std::string_view key, int database = 0) { return erase(key, database); }
    void flush_all();
    void flush_scripts();
    /// A crash and a new start: all sessions are gone (the caller closes their connections), the
    /// scripts too, and the data unless `keep_data`. Refusals and users stay.
    void restart(bool keep_data);

    /// In force until another one is set.
    void set_refusal(refusal what);
    refusal current_refusal() const;
    /// The next `count` commands of this name ("evalsha", in any case), called by a session or by
    /// a script, are not executed and get this error: code first, no hyphen. The name "*" stands
    /// for any command of a session.
    void refuse_next(std::string name, std::size_t count, std::string error);

    // --- replication, and those who watch over it

    /// All keys with their ends, as they are at one moment: what a replica has got by then.
    using data_copy = std::shared_ptr<std::vector<database> const>;
    data_copy copy_data() const;
    /// As a replica does that has been sent so much: what it had before is gone.
    void set_data(data_copy const& what);
    /// The same of some keys.
    void set_data_of(data_copy const& what, std::function<bool(std::string_view key)> const& these);
    /// A replica refuses commands that write. Not so at first.
    void set_replica(bool replica);
    bool is_replica() const;
    /// What INFO says of the process, which has begun at this time of the server's clock. It says
    /// nothing while `run_id` is empty, as at first.
    void set_process(std::string run_id, std::int64_t began_us = 0);
    std::string const& run_id() const;

    /// What a Sentinel says of a primary.
    struct watched_primary {
        std::string name;
        std::string host;
        std::uint16_t port = 0;
        std::uint64_t config_epoch = 0;
    };
    /// It is a Sentinel from now on. Another primary than before is announced to those who listen
    /// to `+switch-master`.
    void set_watched(watched_primary what);

    // --- a node of a cluster

    /// It is a node of a cluster from now on, and this is what it knows of that. Subscriptions to
    /// sharded channels end whose slot another primary has. A slot that has come, or gone, is not
    /// on its way any more.
    void set_cluster(cluster_view view);
    std::optional<cluster_view> cluster() const;
    /// All nodes of a cluster have their keys in one place, and the slots say which node has which.
    /// What this one had before is gone.
    void share_data(redis_model const& with);
    /// The slot is on its way from this node, or to it.
    void set_moving(std::shared_ptr<moving_slot> what);
    /// The keys of the slot that have not arrived, sorted.
    std::vector<std::string> keys_to_move(moving_slot const& what) const;
    /// From now on a session's commands are executed wherever their keys are, as those of a primary
    /// are by its replica.
    void obey(session_id session);
    /// Called for each message that is published here: what goes over the bus to the other nodes.
    using message_bus =
        std::function<void(bool sharded, std::string_view channel, std::string_view message)>;
    void set_bus(message_bus to);
    /// What has come over the bus.
    void deliver(bool sharded, std::string_view channel, std::string_view message);

    /// As Valkey has it: UNSUBSCRIBE is refused to a session that listens to nothing. Not so at
    /// first.
    void set_strict_unsubscribe(bool strict);

    /// Makes a user or changes one. The user of sessions that have not logged in is "default", who
    /// exists from the start, needs no password and may do everything.
    void set_user(std::string name, user_rules rules);

    // --- looking at it, without changing anything

    std::vector<std::string> keys(int database = 0) const;       // sorted
    std::vector<std::string> lock_keys(int database = 0) const;  // all but what outlives a lock
    bool exists(std::string_view key, int database = 0) const;
    std::string type(std::string_view key, int database = 0) const;   // "none": no such key
    std::int64_t pttl(std::string_view key, int database = 0) const;  // -1: no end, -2: no key
    std::optional<std::string> get(std::string_view key, int database = 0) const;
    /// In the server's order; empty if there is no such hash.
    std::vector<std::pair<std::string, std::string>> hgetall(std::string_view key, int database = 0)
        const;

    // Sharded channels, too.
    std::size_t subscribers(std::string_view channel) const;
    std::size_t subscriptions() const;  // of all sessions to all channels

    std::vector<std::string> channels() const;  // that have a subscriber, sorted; not sharded ones

private:
    std::unique_ptr<server_state> state_;
};

}  // namespace holdfast::memory

#endif
