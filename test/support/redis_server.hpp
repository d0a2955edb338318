#ifndef HOLDFAST_TEST_SUPPORT_REDIS_SERVER_HPP
#define HOLDFAST_TEST_SUPPORT_REDIS_SERVER_HPP

#include "certificates.hpp"
#include "child_process.hpp"
#include "redis_probe.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

/// Where a server runs and listens for TCP.
struct server_place {
    std::string address = "127.0.0.1";
    std::vector<std::string> launcher{};  // stands before the program, and becomes it
};

struct server_options {
    bool tcp = false;

    // What the server's certificate says; no TLS port without it.
    std::optional<certificate_options> tls{};

    bool tls_auth_clients = false;     // clients must show a certificate of the same authority
    std::string password{};            // of the default user; empty: none
    std::vector<std::string> users{};  // after USER in redis.conf: "alice on >secret ~* &* +@all"
    bool appendonly = false;           // every write is on disk before its reply
    std::vector<std::string> extra{};  // lines of redis.conf, last, so that they win
    std::string program{};             // empty: as redis_server says
    bool cluster = false;              // a node of a cluster, with a TCP port
    bool sentinel = false;             // a Sentinel, which keeps what it knows in `restart(true)`
    server_place place{};
};

/// Whether the program that servers are started with was built with TLS.
bool server_speaks_tls();

/// The first number of that program's version: 6, 7, 8, …
int server_major();

/// A private server, in a folder of its own, reachable on loopback only, unless it has a place of
/// its own: `server_options::program`, else the program that the environment variable
/// HOLDFAST_TEST_SERVER names, else `redis-server`.
///
/// It dies with the test, however the test ends (see `child_process`). Not thread-safe.
class redis_server {
public:
    /// Returns once the server answers; throws `std::runtime_error` with the end of its log if it
    /// does not.
    explicit redis_server(server_options options = {});
    redis_server(redis_server const&) = delete;
    redis_server& operator=(redis_server const&) = delete;
    ~redis_server();

    std::string url() const { return "unix://" + unix_socket(); }
    std::string tcp_url() const;
    std::string tls_url() const;  // the host is "localhost"
    std::string const& address() const { return options_.place.address; }
    std::uint16_t tcp_port() const { return tcp_port_; }
    std::uint16_t tls_port() const { return tls_port_; }
    std::string unix_socket() const { return (folder_ / "socket").string(); }
    std::string ca_file() const;
    std::filesystem::path const& folder() const { return folder_; }
    pid_t pid() const;
    std::string log() const;

    /// A connection to the server, authenticated with `server_options::password`.
    redis_probe probe() const;

    /// Another certificate of the same authority; for one of another authority, make one with
    /// `certificate_authority` in a folder below `folder()`.
    certificate issue_certificate(certificate_options const& options);

    /// From the next `restart` on.
    void use_certificate(certificate const& chosen) { certificate_ = chosen; }

    void pause();  // answers nothing, but the kernel still accepts connections for it
    void resume();
    void kill();  // as a crash
    void stop();  // as an administrator would

    /// Kills the server unless it is down, and starts it at the same addresses. Data survive with
    /// `keep_data` and `server_options::appendonly`.
    void restart(bool keep_data);

private:
    void remove_data() const;
    std::vector<std::string> command_line() const;
    void write_configuration() const;
    void start();
    bool wait_until_ready();

    server_options options_;
    std::filesystem::path folder_;
    std::uint16_t tcp_port_ = 0;
    std::uint16_t tls_port_ = 0;
    std::optional<certificate_authority> authority_;
    certificate certificate_;
    std::optional<child_process> process_;
};

}  // namespace holdfast::test

#endif
