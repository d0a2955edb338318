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
#include <vector>

namespace holdfast {

/// How a connection is protected. With `enabled`, the server's certificate and its host name are
/// verified.
///
/// The files must be readable when the client is constructed, and at each attempt to connect.
struct tls_options {
    /// Whether TLS is used. It cannot be used with `config::unix_socket`.
    bool enabled = false;
    /// A PEM file with the authorities to trust. Empty means the authorities of the system.
    std::string ca_file = {};
    /// The name that the certificate must be for. Empty means `config::host`.
    std::string host_name = {};
    /// @{
    /// PEM files with the client's own certificate (followed by the chain up to its authority) and
    /// its key, for a server that asks for them (`tls-auth-clients`). Both or neither.
    std::string certificate_file = {};
    std::string private_key_file = {};
    /// @}
    /// The password of an encrypted `private_key_file`.
    std::string private_key_password = {};
    /// Accepts any certificate. Anybody between client and server can then read and grant locks:
    /// for experiments only.
    bool insecure_accept_any_certificate = false;
};

/// On which channels of a Redis Cluster it is told that a lock was released. All clients of a lock
/// need the same kind, Java clients too: Redisson's `ShardedSubscriptionMode`.
enum class cluster_channel_kind : std::uint8_t {
    /// Sharded, where the server has them: Redis 7 and newer, Valkey.
    automatic,
    /// Sharded: a message goes to the node that has the lock, and its replicas.
    sharded,
    /// Plain: each message goes to all nodes.
    plain,
};

/// Where the server is and how locks behave: everything that is the same for all locks of a client.
///
/// The constructor of `client` checks the settings. It throws `std::invalid_argument` that names
/// the wrong member. No duration may exceed 24 h, except `fence_ttl`.
struct config {
    /// The value of `fence_ttl` that keeps token counters for ever.
    static constexpr std::chrono::milliseconds never{0};

    /// Name or address of the server. A name is resolved at each attempt to connect.
    std::string host = "127.0.0.1";
    /// 1 … 65535.
    std::uint16_t port = 6379;
    /// The path of a UNIX socket. If it is not empty, `host` and `port` are not used.
    std::string unix_socket = {};
    /// Nodes of a Redis Cluster, as `host:port` or `[address]:port`; without a port it is 6379. The
    /// others are found through any of them. If it is not empty, `host` and `port` are not used,
    /// `unix_socket` must be empty, and `database` must be 0.
    std::vector<std::string> cluster_nodes = {};
    /// For `cluster_nodes` only.
    cluster_channel_kind cluster_channels = cluster_channel_kind::automatic;
    /// The user to log in as.
    ///
    /// Empty means the server's `default` user. Any other user needs a password.
    std::string username = {};
    /// The password to log in with. Empty means that the client does not log in.
    std::string password = {};
    /// The number of the server's database, from 0.
    int database = 0;
    /// The name that CLIENT LIST shows: printable ASCII without spaces. Empty means no name.
    std::string client_name = "holdfast";
    /// Off by default.
    tls_options tls = {};

    /// Put before every name, so that programs can share a server. Shorter than 512 bytes.
    std::string key_prefix = {};
    /// The lease duration of an acquisition that does not ask for another: 1 s … 24 h.
    std::chrono::milliseconds lease{30'000};
    /// The shortest lease that `holdfast::learned` stands for: 1 s … `lease`, and long enough for
    /// the time-outs, as `lease` is. Zero means 5 s, or as much more as the time-outs need, or
    /// `lease` if that is shorter.
    std::chrono::milliseconds learned_lease_min{0};
    /// The part of a lease by which clocks may differ; 2 ms are added. 0 … 0.1.
    double drift = 0.01;
    /// How long before its deadline a lease that could not be renewed is reported as lost, as part
    /// of the lease. A lease that begins with less time, after a hand-over, has the same part of
    /// that time. 0.01 … 0.5.
    double loss_margin = 0.1;
    /// The longest time to wait for an answer. Zero means a sixth of the lease, at most 3 s.
    std::chrono::milliseconds request_timeout{0};
    /// The longest time for each step of making a connection. Zero means a sixth of `lease`, at
    /// most 3 s.
    std::chrono::milliseconds connect_timeout{0};
    /// A connection that is silent this long is checked. Zero means a tenth of `lease`, at most 2
    /// s.
    std::chrono::milliseconds health_check_interval{0};
    /// The waiting time before the first attempt to reconnect.
    ///
    /// It doubles up to `reconnect_max`, with full jitter. At least 1 ms.
    std::chrono::milliseconds reconnect_min{50};
    /// The longest waiting time between attempts to reconnect; not below `reconnect_min`.
    std::chrono::milliseconds reconnect_max{2'000};
    /// How often a waiter tries again while it cannot rely on a notification: the key has no
    /// expiry, or the subscription is not confirmed. At least 10 ms.
    std::chrono::milliseconds fallback_poll_interval{5'000};
    /// Whether a lock goes from its holder to the next waiter without being free in between.
    ///
    /// The server's user needs some more rights for that, see the README. A client whose user lacks
    /// them writes one line to the log and works as if this were off. If it is off, a release tells
    /// the waiters, and the first client that asks gets the lock.
    bool hand_over = true;
    /// Whether a client that is handed a lock asks the server before it believes so.
    ///
    /// A user who may publish on the clients' channels could forge such a message. The question
    /// costs one round trip for each lock that another client hands over.
    bool confirm_grants = false;
    /// How long a waiter that keeps its place in the server's queue by asking again may be silent:
    /// a waiter whose process has died delays those behind it by no more. 200 ms to 60 s. All
    /// clients of a lock need the same value, and more than the clocks of Java programs that share
    /// it differ from the server's. For all kinds but `lock`, whose waiters ask nothing.
    ///
    /// Each waiter of a `fair_lock` sends four commands in this time; one that is far behind sends
    /// fewer. Of the other kinds the waiters of one client send them together.
    std::chrono::milliseconds waiter_patience{2'000};
    /// How long the server keeps the token counter of a lock, from the first grant that made it.
    ///
    /// 24 h to 100 years, or `never` to keep counters for ever. A counter that is gone starts again
    /// at the server's time in microseconds, so that tokens still grow.
    ///
    /// Use `never` for locks that a Java program shares through `RFencedLock`. A counter
    /// that a grant from C++ made expires in the end, and then Java's own tokens start at 1 again,
    /// until the next grant from C++.
    std::chrono::milliseconds fence_ttl{std::chrono::hours{24 * 30}};
    /// The longest time that `client::shutdown` or the destructor takes to release what is held.
    std::chrono::milliseconds shutdown_timeout{5'000};
    /// The number of operations of this client that may wait for one lock, at least 1. More end
    /// with `errc::too_many_waiters`.
    std::size_t max_waiters = 100'000;
    /// Receives log messages. Off by default.
    log_sink log = {};
};

/// Reads a URL: `redis://user:password@host:port/database`, `rediss://…` for TLS,
/// `unix://user:password@/path?db=…`, or `redis-cluster://user:password@host:port,host:port` with
/// nodes of a Redis Cluster, and `rediss-cluster://…` for one with TLS.
///
/// What the URL does not name keeps its default. All URLs understand `?client_name=…`; those with
/// TLS also understand `ca_file`, `certificate_file` and `private_key_file`, those of a cluster
/// `channels` (`automatic`, `sharded` or `plain`). Special characters are percent-encoded.
///
/// @par Thread safety   Safe.
/// @throws std::invalid_argument naming the part that is wrong. The message never contains the
/// password.
[[nodiscard]] HOLDFAST_EXPORT config parse_url(std::string_view url);

}  // namespace holdfast

#endif
