#ifndef HOLDFAST_TEST_SUPPORT_REPLICA_SET_HPP
#define HOLDFAST_TEST_SUPPORT_REPLICA_SET_HPP

#include "support/redis_server.hpp"
#include "support/tcp_proxy.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

/// A private server and replicas of it. Between it and each replica is a proxy: what is replicated
/// can come late, be held back and be lost.
class replica_set {
public:
    /// Returns once each replica has what the primary has.
    explicit replica_set(std::size_t replicas, server_options primary = {});

    redis_server& primary() { return *primary_; }
    redis_server& replica(std::size_t i = 0) { return *members_.at(i).server; }
    tcp_proxy& link(std::size_t i = 0) { return *members_.at(i).link; }

    /// Nothing gets to any replica, until it is false.
    void hold_back(bool held);
    /// What gets to the replicas comes so much later.
    void delay(std::chrono::milliseconds by);
    /// The primary is killed, and what was on its way to the replicas is lost.
    void kill_primary();
    /// From now on it takes writes.
    void promote(std::size_t i = 0);

private:
    struct member {
        std::unique_ptr<tcp_proxy> link;
        std::unique_ptr<redis_server> server;
    };

    void wait_until_in_step();

    std::unique_ptr<redis_server> primary_;
    std::vector<member> members_;
};

}  // namespace holdfast::test

#endif
