#ifndef HOLDFAST_TEST_SUPPORT_REDIS_CLUSTER_HPP
#define HOLDFAST_TEST_SUPPORT_REDIS_CLUSTER_HPP

#include "redis_probe.hpp"
#include "redis_server.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

struct cluster_options {
    std::size_t primaries = 3;
    std::size_t replicas = 0;          // the first of them is the first primary's, and so on
    std::vector<std::string> extra{};  // lines of each node's redis.conf
    std::vector<std::string> users{};  // of each node, as `server_options::users`
    std::string program{};             // as `server_options::program`
};

/// A private Redis Cluster on loopback: primaries that share the slots evenly, then their replicas.
/// Nodes are numbered from 0. Not thread-safe.
class redis_cluster {
public:
    /// Returns once each node says that the cluster is up; throws `std::runtime_error` otherwise.
    explicit redis_cluster(cluster_options options = {});

    /// Names all nodes, or one.
    std::string url() const { return url_as({}); }
    /// All of them, for a user of theirs: `user:password`.
    std::string url_as(std::string const& login) const;
    std::string url_of(std::size_t node) const;
    std::size_t size() const { return nodes_.size(); }
    redis_server& node(std::size_t number) { return *nodes_.at(number); }
    redis_probe probe(std::size_t number) const { return nodes_.at(number)->probe(); }

    static std::uint16_t slot_of(std::string_view key);
    /// The node that has a slot, by what `asked` knows.
    std::size_t owner_of(std::uint16_t slot, std::size_t asked = 0);
    std::size_t owner_of(std::string_view key) { return owner_of(slot_of(key)); }
    redis_probe probe_of(std::string_view key) { return probe(owner_of(key)); }
    /// A name that begins with this, whose slot the node has.
    std::string name_on(std::size_t node, std::string const& beginning);

    // What an operator does to move a slot to another primary.
    void begin_move(std::uint16_t slot, std::size_t from, std::size_t to);
    void move_keys(std::uint16_t slot, std::size_t from, std::size_t to);
    void end_move(std::uint16_t slot, std::size_t from, std::size_t to);
    void move(std::uint16_t slot, std::size_t to);

    /// How many requests the node has answered with an error of this code.
    std::int64_t errors(std::size_t node, std::string const& code);
    /// Of all nodes that are up.
    std::int64_t errors(std::string const& code);
    /// Removes all keys.
    void flush();

private:
    void form(cluster_options const& options);
    void wait_for(std::string const& what, std::function<bool()> const& holds);

    std::vector<std::unique_ptr<redis_server>> nodes_;
    std::vector<std::string> ids_;
    std::vector<bool> is_replica_;
};

}  // namespace holdfast::test

#endif
