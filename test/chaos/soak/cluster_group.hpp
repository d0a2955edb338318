#ifndef HOLDFAST_TEST_SOAK_CLUSTER_GROUP_HPP
#define HOLDFAST_TEST_SOAK_CLUSTER_GROUP_HPP

#include "soak/cell_options.hpp"
#include "support/redis_cluster.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace holdfast::soak {

/// Three primaries with a replica each, whose roles change. Not thread-safe.
class cluster_group {
public:
    explicit cluster_group(cell_options const& options);

    [[nodiscard]] std::string url() const;
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    test::redis_server& node(std::size_t number) { return nodes_.node(number); }
    /// It runs, and is not stopped.
    [[nodiscard]] bool answers(std::size_t number) {
        return node(number).pid() > 0 && !stopped_.contains(number);
    }
    void kill(std::size_t number) { node(number).kill(); }
    void pause(std::size_t number);
    void resume(std::size_t number);
    /// Starts and resumes all that are down or stopped. They know what they knew of the cluster.
    void raise_all();

    /// The lock's slot. All keys of a lock are in it.
    [[nodiscard]] static std::uint16_t slot_of(std::int64_t lock);
    /// The primary that has the slot.
    /// The primary that has the lock's slot, by what a node that answers knows.
    std::size_t owner_of(std::int64_t lock);
    /// The locks whose slots this node has, as bits.
    std::int64_t locks_of(std::size_t primary);
    /// Those that have slots, by what a node that answers knows.
    std::vector<std::size_t> primaries();
    /// The one that copies this primary.
    std::size_t replica_of(std::size_t primary);

    /// Waits until another node says that it has what this one had. False if that does not happen
    /// within the limit.
    bool wait_for_takeover(std::size_t from, millis limit);
    /// Waits until it knows that it is a replica. False as above.
    bool wait_for_demotion(std::size_t of, millis limit);
    /// Waits until all nodes that answer know who has which slots. False as above.
    bool wait_until_agreed(millis limit);
    /// Waits until all nodes answer and agree, and each primary has a replica with all data. False
    /// as above.
    bool wait_until_whole(millis limit);

    // What an operator does to move a slot; see `test::redis_cluster`.
    void begin_move(std::uint16_t slot, std::size_t from, std::size_t to) {
        nodes_.begin_move(slot, from, to);
    }
    void move_keys(std::uint16_t slot, std::size_t from, std::size_t to) {
        nodes_.move_keys(slot, from, to);
    }
    void end_move(std::uint16_t slot, std::size_t from, std::size_t to) {
        nodes_.end_move(slot, from, to);
    }

    /// How many requests nodes have answered with MOVED since they were started, by node. One that
    /// is down is left out.
    std::map<std::size_t, std::int64_t> redirections();

private:
    /// Who has some slots.
    struct shard {
        std::uint16_t first = 0;
        std::uint16_t last = 0;
        std::size_t primary = 0;
        std::vector<std::size_t> replicas;

        bool operator==(shard const&) const = default;
    };

    test::redis_probe probe(std::size_t number);
    std::size_t number_of(std::int64_t port);
    std::vector<shard> shards(std::size_t asked);
    /// As the first one that answers knows them.
    std::vector<shard> shards();
    /// A key in a slot of this one, of no lock.
    std::string key_on(std::size_t primary);
    bool agree();
    bool is_whole();

    test::redis_cluster nodes_;
    std::set<std::size_t> stopped_;
};

}  // namespace holdfast::soak

#endif
