#ifndef HOLDFAST_CONFIG_HPP
#define HOLDFAST_CONFIG_HPP

#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/logger.hpp>
#include <holdfast/observer.hpp>

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

/// How many replicas must have a grant before it is given out.
struct replica_options {
    /// Zero means that replicas are not waited for.
    unsigned count = 0;
    /// How long they are waited for. Zero means as long as for an answer:
    /// `config::request_timeout`.
    std::chrono::milliseconds timeout{0};
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

    /// Where one of several servers is.
    ///
    /// @par Thread safety   Distinct objects: safe. Shared objects: unsafe.
    struct address {
        /// Name or address. A name is resolved at each attempt to connect.
        std::string host = {};
        /// 1 … 65535.
        std::uint16_t port = 0;

        /// The same host and port.
        ///
        /// @par Errors   None.
        friend bool operator==(address const&, address const&) = default;
        /// By host, then by port.
        ///
        /// @par Errors   None.
        friend std::strong_ordering operator<=>(address const&, address const&) = default;
    };

    /// Name or address of the server. A name is resolved at each attempt to connect.
    std::string host = "127.0.0.1";
    /// 1 … 65535.
    std::uint16_t port = 6379;
    /// The path of a UNIX socket. If it is not empty, `host` and `port` are not used.
    std::string unix_socket = {};
    /// Nodes of a Redis Cluster. The others are found through any of them. If it is not empty,
    /// `host` and `port` are not used, `unix_socket` must be empty, and `database` must be 0.
    std::vector<address> cluster_nodes = {};
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
    ///
    /// A colon and the client's id follow it there: `lock_info::holder` begins with that id, so
    /// that a holder leads to its address and program.
    std::string client_name = "holdfast";
    /// Off by default.
    tls_options tls = {};

    /// The Sentinels that know which server is the primary. If there are any, `host`, `port` and
    /// `unix_socket` are not used: the Sentinels are asked before each attempt to connect. No
    /// address may be named twice. No other Sentinels are looked for: name all of them.
    std::vector<address> sentinels = {};
    /// The name under which the Sentinels know the primary, as in their `sentinel monitor`.
    std::string primary_name = {};
    /// @{
    /// To log in with at the Sentinels. Empty, as `username` and `password`.
    std::string sentinel_username = {};
    std::string sentinel_password = {};
    /// @}
    /// Of the connections to the Sentinels; `tls` is for the servers. An empty `host_name` means
    /// the host of each.
    tls_options sentinel_tls = {};

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
    /// The server's user needs some more rights for that, see the page "The Redis user". A client
    /// whose user lacks them writes one line to the log and works as if this were off. If it is
    /// off, a release tells the waiters, and the first client that asks gets the lock.
    bool hand_over = true;
    /// Whether a client that is handed a lock asks the server before it believes so.
    ///
    /// A user who may publish on the clients' channels could forge such a message. The question
    /// costs one round trip for each lock that another client hands over.
    bool confirm_grants = false;
    /// Whether a grant is given out only when so many replicas of the server have it. Off by
    /// default.
    ///
    /// Then a lock that was granted survives a failover to a replica that had confirmed it, and a
    /// renewal counts only when it was confirmed, too. A grant that too few replicas confirmed in
    /// time is withdrawn: `try_acquire` ends with `errc::not_replicated`, and `acquire` tries
    /// again. A failover to a replica that did not confirm loses the lock all the same: see the
    /// page "Grants that replicas have".
    ///
    /// It costs one more round trip and the replicas' own for each grant, and the server's user
    /// needs the right to use WAIT.
    replica_options replicas = {};
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
    /// For how long after a failover this client is granted no lock. The time begins when a client
    /// first meets the new server. Set it to the longest lease or more: every holder on the former
    /// server has then learned of the loss. Zero means off: grants begin at once. On a
    /// Redis Cluster each node counts by itself: the others grant locks meanwhile.
    ///
    /// It holds back attempts, and neither renewals, releases nor what is handed over. All clients
    /// of a lock need it. Another start of the same server counts as another server, and so does a
    /// server that no client has met: it may have lost its data. If the server's user may not use
    /// INFO, each connection counts as one to another server. The server's clock measures the time
    /// for those that come later: it is shorter for them if that clock is set forward meanwhile.
    std::chrono::milliseconds lock_delay{0};
    /// For how long a server is left out of quorums after its process began; see `quorum_lock`.
    /// None means `lease`.
    ///
    /// Set it to the longest lease that any client asks of the same nodes, or more. Zero is safe
    /// only if the server loses no data in a restart: it has `appendonly yes` and
    /// `appendfsync always`, and its disk comes back with it.
    std::optional<std::chrono::milliseconds> restart_delay = std::nullopt;
    /// The longest time that `client::shutdown` or the destructor takes to release what is held.
    std::chrono::milliseconds shutdown_timeout{5'000};
    /// The number of operations of this client that may wait for one lock, at least 1. More end
    /// with `errc::too_many_waiters`. Of single attempts (`try_acquire()`, and what a multi-lock
    /// or a quorum lock asks for its members) so many may be unanswered, for all locks together.
    std::size_t max_waiters = 100'000;
    /// Receives log messages. By default, warnings and errors go to standard error. `nullptr` turns
    /// the log off.
    log_sink log = log_to_stderr;
    /// The observer is told of acquisitions, leases and connections as they happen. There is none
    /// by default. The clients that are made with this configuration share it.
    std::shared_ptr<holdfast::observer> observer = {};
};

/// Reads a URL: `redis://user:password@host:port/database`, `rediss://…` for TLS,
/// `unix://user:password@/path?db=…`, `redis-sentinel://user:password@host:port,host:port/name` for
/// the primary that the Sentinels at these addresses know by that name (`/database` may follow), or
/// `redis-cluster://user:password@host:port,host:port` with nodes of a Redis Cluster, and
/// `rediss-cluster://…` for one with TLS.
///
/// What the URL does not name keeps its default; the port of a Sentinel is 26379. All URLs
/// understand `?client_name=…`; those with TLS also understand `ca_file`, `certificate_file`,
/// `private_key_file` and `tls_host_name`, those of a cluster `channels` (`automatic`, `sharded` or
/// `plain`). Special characters are percent-encoded.
///
/// Of a URL with Sentinels, user and password are the servers'. `sentinel_username` and
/// `sentinel_password` are for the Sentinels. `rediss-sentinel` means TLS for servers and
/// Sentinels, and `sentinel_tls=on` or `off` says otherwise for the Sentinels. The files are for
/// both, unless `sentinel_ca_file`, `sentinel_certificate_file` or `sentinel_private_key_file` name
/// others; `tls_host_name` is for the servers, and `sentinel_tls_host_name` for the Sentinels. Each
/// is one name without spaces, and stands in the URL at most once.
///
/// @par Thread safety   Safe.
/// @throws std::invalid_argument naming the part that is wrong. The message never contains the
/// password.
[[nodiscard]] HOLDFAST_EXPORT config parse_url(std::string_view url);

}  // namespace holdfast

#endif
