#ifndef HOLDFAST_TEST_CHAOS_NETWORK_VIRTUAL_NETWORK_HPP
#define HOLDFAST_TEST_CHAOS_NETWORK_VIRTUAL_NETWORK_HPP

#include "support/redis_server.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {

/// A network namespace with one address, and a context whose only thread is in it: a client with
/// this context's executor opens its sockets there.
class virtual_host {
public:
    explicit virtual_host(std::size_t number);
    virtual_host(virtual_host const&) = delete;
    virtual_host& operator=(virtual_host const&) = delete;
    ~virtual_host();

    std::string const& address() const { return address_; }
    boost::asio::any_io_executor executor() { return context_.get_executor(); }
    /// For a server in this host. Its UNIX socket is reachable from everywhere.
    server_place place() const;

    /// Runs a shell script in the namespace.
    void run(std::string const& script) const;

private:
    std::string address_;
    std::string link_;
    std::string namespace_;
    boost::asio::io_context context_;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
    std::thread thread_;
};

/// Hosts on one bridge. What is cut off vanishes silently: neither side is told, and connections
/// stay open. Nothing comes from outside, and nothing gets there.
///
/// Needs the namespaces of `in_namespaces`. Not thread-safe, except for the executors.
class virtual_network {
public:
    explicit virtual_network(std::size_t hosts);
    virtual_network(virtual_network const&) = delete;
    virtual_network& operator=(virtual_network const&) = delete;
    ~virtual_network();

    virtual_host& operator[](std::size_t host) { return hosts_.at(host); }

    /// Nothing gets from a host of one side to a host of another side any more.
    void split(std::initializer_list<std::vector<std::size_t>> sides);
    /// Nothing gets through the connection that the client has from this port any more.
    void cut_connection(std::size_t client, std::uint16_t port, std::size_t server);
    /// Everything gets everywhere.
    void heal();

private:
    std::deque<virtual_host> hosts_;
};

}  // namespace holdfast::test

#endif
