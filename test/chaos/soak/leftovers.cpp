#include "soak/leftovers.hpp"

#include "soak/account.hpp"
#include "soak/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace holdfast::soak {

using namespace std::chrono_literals;

namespace {

// The semaphore: how many permits are free, and which are taken until when.
constexpr char const* pool_key = "soak:0";
constexpr char const* taken_key = "{soak:0}:timeout";

using clients = std::vector<std::map<std::string, std::string>>;

// Of locks. The Sentinels have one of their own. An older server knows no sharded ones.
std::vector<std::string> channels_on(test::redis_probe& probe) {
    auto all = probe.pubsub_channels();
    std::erase(all, "__sentinel__:hello");
    if (auto const sharded = probe.cmd("PUBSUB", "SHARDCHANNELS"); !sharded.is_error()) {
        for (auto const& channel : sharded.as_array()) {
            all.push_back(channel.as_string());
        }
    }
    return all;
}

// How many permits of the semaphore can be had, with those that dead holders had. Less than all of
// them means that some are lost.
std::int64_t free_permits(test::redis_probe& probe) {
    auto const counted = probe.get(pool_key).value_or("0");
    auto const time = std::chrono::system_clock::now().time_since_epoch();
    auto const ms = std::chrono::duration_cast<millis>(time).count();
    auto const over = probe.cmd("ZCOUNT", taken_key, 0, ms).as_integer();
    return std::stoll(counted) + over;
}

// What stays for as long as the semaphore or the election is known.
bool stays(std::string const& key, workload shared) {
    switch (shared) {
        case workload::permits: return key == pool_key || key == taken_key;
        case workload::leaders: return key.starts_with("holdfast_leader:");
        case workload::locks:
        case workload::quorum:
        case workload::pairs: break;
    }
    return false;
}

// The place of a client that was killed, or may not use queues any more, stays until somebody
// releases that lock, or it expires. So does the turn of those who do not queue: if one of them has
// the lock last, he leaves the queue alone.
bool is_nobodys_place(test::redis_probe& probe, std::string const& key, leftover_rules const& by) {
    bool const is_place = key.starts_with("holdfast_queue:") ||
                          key.starts_with("holdfast_semaphore_queue:") ||
                          key.starts_with("holdfast_semaphore_heard:");
    if (!is_place || probe.pttl(key) < 0) {
        return false;
    }
    constexpr nanos longest = lease_time + 60s;
    auto const members = probe.cmd("ZRANGE", key, 0, 1).as_array();
    bool const is_turn = members.size() == 1 && members[0].text == "turn";
    return (by.place_left != 0 && now() - by.place_left < longest.count()) ||
           (by.two_versions && is_turn);
}

std::int64_t count(clients const& all, std::string const& field, std::string const& value) {
    return std::count_if(all.begin(), all.end(), [&](auto const& each) {
        auto const found = each.find(field);
        return found != each.end() && found->second == value;
    });
}

// The name of a connection ends with the id of its client.
std::int64_t count_named(clients const& all, std::string const& client_name) {
    return std::count_if(all.begin(), all.end(), [&](auto const& each) {
        return each.at("name").starts_with(client_name + ":");
    });
}

/// Counts the connections of workers, server by server.
class connection_count {
public:
    explicit connection_count(std::vector<worker_handle>& workers) : workers_{workers} {
        for (auto& w : workers_) {
            w.connections = 0;
        }
    }

    /// A worker must have so many, or none at all if it need not be connected.
    void take(test::redis_server& on, std::string const& role, std::int64_t expected, bool needed) {
        auto const all = on.probe().client_list();
        std::int64_t known = 0;
        for (auto& w : workers_) {
            auto const open = count_named(all, w.name());
            known += open;
            w.connections += open;
            if (open != expected && (needed || open != 0)) {
                left.push_back(
                    fmt::format("{}_connections_of_worker_{}_to_a_{}", open, w.number(), role)
                );
            }
        }
        if (auto const ours = count(all, "user", user_name); ours != known) {
            left.push_back(fmt::format("{}_connections_of_nobody", ours - known));
        }
    }

    std::vector<std::string> left;

private:
    std::vector<worker_handle>& workers_;
};

}  // namespace

std::vector<std::string> what_is_there(servers& on) {
    std::vector<std::string> found;
    for (auto* const each : on.in_use()) {
        auto probe = each->probe();
        for (auto const& key : probe.keys()) {
            found.push_back("key:" + key);
        }
        for (auto const& channel : channels_on(probe)) {
            found.push_back("channel:" + channel);
        }
    }
    return found;
}

std::vector<std::string> what_is_left(
    servers& on,
    std::vector<worker_handle>& workers,
    leftover_rules const& by
) {
    // One for commands and one for notifications. A client connects to a node of a cluster when it
    // needs it, and never to a replica.
    connection_count connections{workers};
    auto const in_use = on.in_use();
    for (auto* const each : in_use) {
        connections.take(*each, "primary", 2, in_use.size() == 1);
    }
    for (auto* const each : on.not_in_use()) {
        connections.take(*each, "replica", 0, true);
    }
    auto left = std::move(connections.left);
    for (auto* const each : in_use) {
        auto probe = each->probe();
        for (auto const& key : probe.lock_keys()) {
            if (!is_nobodys_place(probe, key, by) && !stays(key, by.shared)) {
                left.push_back("key:" + key);
            }
        }
        if (by.shared == workload::permits && free_permits(probe) != permits_limit) {
            left.push_back(fmt::format("{}_free_permits", free_permits(probe)));
        }
        for (auto const& channel : channels_on(probe)) {
            left.push_back("channel:" + channel);
        }
    }
    for (auto const& w : workers) {
        auto const open = w.measure().descriptors;
        if (w.at_first && open > w.at_first->descriptors) {
            left.push_back(fmt::format(
                "{}_descriptors_of_worker_{},_not_{}",
                open,
                w.number(),
                w.at_first->descriptors
            ));
        }
    }
    return left;
}

}  // namespace holdfast::soak
