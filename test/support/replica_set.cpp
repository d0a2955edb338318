#include "support/replica_set.hpp"

#include <stdexcept>
#include <thread>
#include <utility>

namespace holdfast::test {

using namespace std::chrono_literals;

namespace {

constexpr auto longest_start = 20s;

}  // namespace

replica_set::replica_set(std::size_t replicas, server_options primary) {
    // Else the first replica would be kept waiting for others.
    primary.extra.insert(
        primary.extra.begin(),
        {"repl-diskless-sync yes", "repl-diskless-sync-delay 0"}
    );
    auto const program = primary.program;
    primary_ = std::make_unique<redis_server>(std::move(primary));
    for (std::size_t i = 0; i < replicas; ++i) {
        auto link = std::make_unique<tcp_proxy>(primary_->unix_socket());
        auto const address = "replicaof 127.0.0.1 " + std::to_string(link->port());
        auto server = std::make_unique<redis_server>(server_options{
            .extra = {address},
            .program = program,
        });
        members_.push_back({std::move(link), std::move(server)});
    }
    wait_until_in_step();
}

void replica_set::wait_until_in_step() {
    auto probe = primary_->probe();
    auto const deadline = std::chrono::steady_clock::now() + longest_start;
    auto const wanted = static_cast<std::int64_t>(members_.size());
    probe.set("in_step", "1");
    while (probe.cmd("WAIT", wanted, 100).as_integer() < wanted) {
        if (std::chrono::steady_clock::now() > deadline) {
            throw std::runtime_error{"the replicas do not get what the primary has"};
        }
        std::this_thread::sleep_for(5ms);
    }
    probe.del("in_step");
}

void replica_set::hold_back(bool held) {
    for (auto const& one : members_) {
        one.link->set_mode(
            direction::to_client,
            held ? proxy_mode::stall() : proxy_mode::forward()
        );
    }
}

void replica_set::delay(std::chrono::milliseconds by) {
    for (auto const& one : members_) {
        one.link->set_mode(direction::to_client, proxy_mode::delay(by));
    }
}

void replica_set::kill_primary() {
    // First, so that nothing more gets through.
    for (auto const& one : members_) {
        one.link->cut();
        one.link->refuse_new(true);
    }
    primary_->kill();
}

void replica_set::promote(std::size_t i) {
    auto const reply = replica(i).probe().cmd("REPLICAOF", "NO", "ONE");
    if (reply.is_error()) {
        throw std::runtime_error{"the replica is not promoted: " + reply.text};
    }
}

}  // namespace holdfast::test
