#ifndef HOLDFAST_MEMORY_SERVER_SERVER_STATE_HPP
#define HOLDFAST_MEMORY_SERVER_SERVER_STATE_HPP

#include "memory_server/cluster_state.hpp"
#include "memory_server/redis_model.hpp"
#include "memory_server/script_text.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::memory {

struct string_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
        return std::hash<std::string_view>{}(text);
    }
};

template <class Value>
using string_map = std::unordered_map<std::string, Value, string_hash, std::equal_to<>>;

/// A hash as a small one is kept: fields in the order in which they were made.
class hash_value {
public:
    using field = std::pair<std::string, std::string>;

    std::string* find(std::string_view name);
    bool set(std::string_view name, std::string_view content);  // true if the field is new
    bool erase(std::string_view name);
    std::vector<field> const& fields() const { return fields_; }
    bool empty() const { return fields_.empty(); }
    std::size_t size() const { return fields_.size(); }

private:
    std::vector<field> fields_;
};

/// Members by score, then by name.
class sorted_set_value {
public:
    using position = std::pair<double, std::string>;

    std::optional<double> score(std::string_view member) const;
    void set(std::string_view member, double score);
    bool erase(std::string_view member);
    std::set<position> const& by_score() const { return order_; }
    std::size_t size() const { return order_.size(); }

private:
    std::map<std::string, double, std::less<>> scores_;
    std::set<position> order_;
};

using list_value = std::vector<std::string>;

struct entry {
    static constexpr std::int64_t never = -1;

    std::variant<std::string, hash_value, list_value, sorted_set_value> content;
    std::int64_t end = never;  // ms since 1970; the key is there in this millisecond still

    bool ended(std::int64_t now_ms) const { return end != never && now_ms > end; }
};

char const* type_name(entry const& key);

class database {
public:
    /// Null if the key is not there at this time.
    entry* find(std::string_view key, std::int64_t now_ms);
    entry const* find(std::string_view key, std::int64_t now_ms) const;
    /// Makes the key, or replaces what is there.
    entry& put(std::string_view key, entry made);
    bool erase(std::string_view key);
    void clear();
    void set_end(entry& key, std::int64_t end);
    /// Drops what has ended.
    void sweep(std::int64_t now_ms);
    string_map<entry> const& entries() const { return entries_; }

private:
    static constexpr auto no_end = std::numeric_limits<std::int64_t>::max();

    void note_end(std::int64_t end);

    string_map<entry> entries_;
    std::int64_t first_end_ = no_end;  // no key ends before it
};

struct session {
    redis_model::session_id id = 0;
    std::function<void(value)> out;
    int resp = 2;
    int database = 0;
    bool authenticated = true;
    std::string user = "default";
    std::vector<std::string> channels;  // in the order of the subscriptions
    std::vector<std::string> shard_channels;
    bool asking = false;  // the next command may be about a slot that is on its way to the node
    bool obeyed = false;  // its commands are executed wherever their keys are
};

/// Who listens to which channel, in the order of the subscriptions.
using channel_map = std::map<std::string, std::vector<session*>, std::less<>>;

struct planned_refusal {
    std::string name;  // in lower case
    std::size_t count = 0;
    std::string error;
};

struct server_state {
    static constexpr int database_count = 16;

    std::int64_t now_us = 1'000'000'000'000'000;
    // The nodes of a cluster share it.
    std::shared_ptr<std::vector<database>> data =
        std::make_shared<std::vector<database>>(database_count);
    std::map<redis_model::session_id, session> sessions;
    redis_model::session_id last_session = 0;
    channel_map channels;
    channel_map shard_channels;
    std::map<std::string, std::shared_ptr<script_text const>, std::less<>> scripts;  // by SHA-1
    std::map<std::string, user_rules, std::less<>> users{{"default", {}}};
    refusal refuses = refusal::none;
    std::vector<planned_refusal> planned;
    bool strict_unsubscribe = false;
    bool replica = false;
    std::string run_id;
    std::int64_t began_us = 0;
    std::optional<redis_model::watched_primary> watched;  // by a Sentinel
    std::optional<cluster_state> cluster;                 // of a node of one
    redis_model::message_bus bus;

    std::int64_t now_ms() const { return now_us / 1000; }
    bool is_replica() const {
        return replica || refuses == refusal::read_only || refuses == refusal::masterdown;
    }
    std::string_view mode() const {
        return watched ? "sentinel" : cluster ? "cluster" : "standalone";
    }
    std::vector<database>& databases() const { return *data; }
    /// Tells all that listen to it, and how many they are.
    std::size_t deliver(bool sharded, std::string_view channel, std::string_view message) const;
    /// Ends the subscriptions to the sharded channels of these slots, and says so.
    void withdraw_channels(std::function<bool(std::uint16_t slot)> const& these);
    void sweep();
    void unsubscribe_all(session& who);
};

}  // namespace holdfast::memory

#endif
