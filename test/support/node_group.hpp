#ifndef HOLDFAST_TEST_SUPPORT_NODE_GROUP_HPP
#define HOLDFAST_TEST_SUPPORT_NODE_GROUP_HPP

#include "support/one_server.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

/// The clients that one process has of the nodes of a quorum.
class node_clients {
public:
    template <class Servers>
    node_clients(asio::any_io_executor executor, Servers const& servers, config const& settings) {
        for (auto const& each : servers) {
            auto own = settings;
            own.unix_socket = each.unix_socket();
            clients_.emplace_back(executor, std::move(own));
        }
    }

    quorum_lock lock(std::string const& name = "a") const {
        std::vector<holdfast::lock> nodes;
        for (auto const& each : clients_) {
            nodes.push_back(each.lock(name));
        }
        return quorum_lock{nodes};
    }
    task ready() {
        for (auto& each : clients_) {
            co_await each.ready();
        }
    }
    task shutdown() {
        for (auto& each : clients_) {
            co_await each.shutdown();
        }
    }
    client& operator[](std::size_t i) { return clients_.at(i); }
    std::uint64_t attempts() const {
        std::uint64_t sum = 0;
        for (auto const& each : clients_) {
            sum += each.stats().attempts;
        }
        return sum;
    }

private:
    std::deque<client> clients_;
};

/// Private servers that know nothing of each other.
class node_group {
public:
    explicit node_group(std::size_t count, server_options const& options = {}) {
        for (std::size_t i = 0; i < count; ++i) {
            servers_.emplace_back(options);
        }
    }

    /// New servers count at once, unless `settings` say otherwise.
    static config settings() {
        config made;
        made.lease = std::chrono::seconds{10};
        made.restart_delay = std::chrono::milliseconds{0};
        return made;
    }
    node_clients clients(asio::any_io_executor executor, config const& how = settings()) const {
        return {std::move(executor), servers_, how};
    }

    std::size_t size() const { return servers_.size(); }
    redis_server& operator[](std::size_t i) { return servers_.at(i); }
    /// On how many of these nodes the key is; those that are down do not count.
    std::size_t holding(std::string const& key = "a", std::vector<std::size_t> which = {}) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < servers_.size(); ++i) {
            if (which.empty() || std::find(which.begin(), which.end(), i) != which.end()) {
                count += servers_[i].probe().exists(key) ? 1U : 0U;
            }
        }
        return count;
    }
    /// The token counter of a node; zero if there is none.
    std::uint64_t counter(std::size_t i, std::string const& name = "a") {
        auto const found = servers_.at(i).probe().get("redisson_lock_token:{" + name + "}");
        return found ? std::stoull(*found) : 0;
    }

private:
    std::deque<redis_server> servers_;
};

using nodes_body = std::function<task(node_group&, asio::any_io_executor)>;

/// Runs a coroutine with so many nodes, as `run_with_deadline`.
inline void with_nodes(
    std::size_t count,
    nodes_body const& body,
    std::chrono::milliseconds deadline = std::chrono::seconds{30}
) {
    node_group nodes{count};
    run_with_deadline(
        [&](asio::any_io_executor executor) { return body(nodes, std::move(executor)); },
        deadline
    );
}

}  // namespace holdfast::test

#endif
