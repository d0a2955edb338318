#ifndef HOLDFAST_CONFIG_HPP
#define HOLDFAST_CONFIG_HPP

#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/logger.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast {

/// How a connection is protected. With `enabled`, the server's certificate and its host name are
/// verified.
struct tls_options {
    /// Whether TLS is used; not with `config::unix_socket`.
    bool enabled = false;
    /// A PEM file with the authorities to trust; empty means those of the system.
    std::string ca_file;
    /// The name that the certificate must be for; empty means `config::host`.
    std::string host_name;
    /// @{
    /// PEM files with this client's own certificate (the chain up to its authority after it) and
    /// its key, for a server that asks for them (`tls-auth-clients`). Both or neither.
    std::string certificate_file;
    std::string private_key_file;
    /// @}
    /// For a `private_key_file` that is encrypted.
    std::string private_key_password;
    /// Accepts any certificate. Then anybody on the way can read and grant locks; for experiments
    /// only.
    bool insecure_accept_any_certificate = false;
};

/// Where the server is and how locks behave; everything that is the same for all locks of a client.
///
/// `client`'s constructor checks it and throws `std::invalid_argument` that names the wrong member.
/// No time may exceed 24 h, but `fence_ttl`.
struct config {
    /// `fence_ttl` that lets token counters stay for ever.
    static constexpr std::chrono::milliseconds never{0};

    /// Name or address of the server; looked up again at each attempt to connect.
    std::string host = "127.0.0.1";
    /// 1 … 65535.
    std::uint16_t port = 6379;
    /// A path; when it is not empty, `host` and `port` are not used.
    std::string unix_socket;
    /// Empty means the server's `default` user. Another one needs a password.
    std::string username;
    /// Empty means that the client does not log in.
    std::string password;
    /// The number of the server's database, from 0.
    int database = 0;
    /// Shown by the server's CLIENT LIST: printable ASCII without spaces; empty for none.
    std::string client_name = "holdfast";
    /// Off by default.
    tls_options tls;

    /// Put before every name, for programs that want their own part of the key space. Shorter than
    /// 512 bytes.
    std::string key_prefix;
    /// The lease duration of an acquisition that does not ask for another: 1 s … 24 h.
    std::chrono::milliseconds lease{30'000};
    /// The part of a lease by which clocks may differ; 2 ms are added. 0 … 0.1.
    double drift = 0.01;
    /// How long before its deadline a lease that could not be renewed is reported as lost, as part
    /// of the lease. 0.01 … 0.5.
    double notice = 0.1;
    /// The longest time to wait for an answer; zero means a sixth of the lease in question, at most
    /// 3 s.
    std::chrono::milliseconds request_timeout{0};
    /// The longest time to make a connection, for each of its steps; zero means a sixth of `lease`,
    /// at most 3 s.
    std::chrono::milliseconds connect_timeout{0};
    /// A connection that is silent this long is checked; zero means a tenth of `lease`, at most 2
    /// s.
    std::chrono::milliseconds health_check_interval{0};
    /// Waiting time before the first new attempt to connect; doubles up to `reconnect_max`, with
    /// full jitter. At least 1 ms.
    std::chrono::milliseconds reconnect_min{50};
    /// The longest such waiting time; not below `reconnect_min`.
    std::chrono::milliseconds reconnect_max{2'000};
    /// How often a waiter looks again while it cannot count on a notice: the key has no expiry, or
    /// its channel is not confirmed. At least 10 ms.
    std::chrono::milliseconds fallback{5'000};
    /// How long a lock's token counter is kept after the last grant. A counter that is gone starts
    /// again at the server's time in microseconds, so that tokens still grow. 24 h to 100
    /// years; `never` keeps counters.
    std::chrono::milliseconds fence_ttl{std::chrono::hours{24 * 30}};
    /// The most time that `client::shutdown` or the destructor takes to release what is still held.
    std::chrono::milliseconds shutdown_timeout{5'000};
    /// Operations of this client that may wait for one lock, at least 1; more end with
    /// `errc::too_many_waiters`.
    std::size_t max_waiters = 100'000;
    /// Receives messages; off by default.
    log_sink log;
};

/// Reads a URL: `redis://user:password@host:port/database`, `rediss://…` for TLS, `unix:///path`;
/// what it does not name keeps its default. `?client_name=…` and, for `rediss`, `?ca_file=…`,
/// `?certificate_file=…` and `?private_key_file=…` are understood.
///
/// @par Thread safety   Safe.
/// @throws std::invalid_argument naming the part that is wrong; the message never contains the
/// password.
[[nodiscard]] HOLDFAST_EXPORT config parse_url(std::string_view url);

}  // namespace holdfast

#endif
