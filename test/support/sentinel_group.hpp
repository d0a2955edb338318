#ifndef HOLDFAST_TEST_SUPPORT_SENTINEL_GROUP_HPP
#define HOLDFAST_TEST_SUPPORT_SENTINEL_GROUP_HPP

#include "certificates.hpp"
#include "redis_server.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

struct group_options {
    std::size_t replicas = 2;
    std::size_t sentinels = 3;
    std::string password{};            // of the servers
    std::string sentinel_password{};   // of the Sentinels
    std::string program{};             // as `server_options::program`
    std::vector<std::string> users{};  // of the servers, as `server_options::users`

    // Of the Sentinels' TLS ports; none without it.
    std::optional<certificate_options> sentinel_tls{};

    // After so long without an answer a Sentinel takes the primary for dead; longer before Redis 7.
    std::chrono::milliseconds down_after{500};
    std::chrono::milliseconds failover_timeout{6'000};

    // Of each server, and of each Sentinel; on loopback without them.
    std::vector<server_place> server_places{};
    std::vector<server_place> sentinel_places{};
};

/// A primary, its replicas, and Sentinels that watch them: private servers.
///
/// They end with the test, however it ends (see `child_process`). Not thread-safe.
class sentinel_group {
public:
    static constexpr auto primary_name = "mymaster";
    // On a loaded machine a Sentinel may find itself too slow to be trusted, for 30 s at a time, or
    // no replica that answered lately, and begins anew after twice the failover timeout.
    static constexpr std::chrono::seconds usual_limit{60};

    /// Returns once the Sentinels know each other and the replicas, which have all data.
    explicit sentinel_group(group_options options = {});

    /// A URL with these Sentinels; with all of them.
    std::string url_of(std::vector<std::size_t> const& sentinels, std::string const& query = {})
        const;
    std::string url(std::string const& query = {}) const;
    /// With all, for a user of the servers: `user:password`.
    std::string url_as(std::string const& login) const;

    redis_server& server(std::size_t number) { return *servers_.at(number); }
    redis_server& sentinel(std::size_t number) { return *sentinels_.at(number); }
    std::size_t servers() const { return servers_.size(); }
    std::size_t sentinels() const { return sentinels_.size(); }

    /// The number of the server that this Sentinel takes for the primary.
    std::size_t primary(std::size_t asked = 0) const;
    redis_server& primary_server() { return server(primary()); }
    /// Has this Sentinel start a failover. Returns when it has begun.
    void fail_over(std::size_t asked = 0);
    /// Who has to name the new primary.
    enum class who { all, first };
    /// Waits until the Sentinels that run name another primary than this one, and it takes writes.
    /// Those that cannot agree on who begins are told to. The number of the new one; nothing if
    /// that does not happen within the limit, and the ends of the Sentinels' logs on standard
    /// error.
    std::optional<std::size_t> wait_for_switch(
        std::size_t from,
        std::chrono::milliseconds limit = usual_limit,
        who says_so = who::all
    ) const;
    /// Waits until all Sentinels that run name the same primary, and it takes writes; false if that
    /// does not happen within the limit.
    bool wait_until_agreed(std::chrono::milliseconds limit = usual_limit) const {
        return wait_for_switch(servers_.size(), limit).has_value();
    }
    /// Waits until every server and Sentinel runs, and all know of each other, as at the start.
    bool wait_until_whole(std::chrono::milliseconds limit = usual_limit);

private:
    void start_servers();
    void start_sentinels();
    // Sentinels look at the servers a few times a second and talk to each other twice a second,
    // where they can be told to (Redis 7): a failover takes a second or two then. If they talked
    // more often, one would take the promoted replica for one that has gone astray.
    bool set_pace();
    // Whether it can be told to.
    static bool hurry(redis_server& sentinel);
    bool knows_all(redis_server& sentinel) const;
    bool has_all_data(std::size_t number) const;
    bool replicates() const;
    void tell_logs() const;

    group_options options_;
    std::vector<std::unique_ptr<redis_server>> servers_;
    std::vector<std::unique_ptr<redis_server>> sentinels_;
};

}  // namespace holdfast::test

#endif
