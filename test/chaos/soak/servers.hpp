#ifndef HOLDFAST_TEST_SOAK_SERVERS_HPP
#define HOLDFAST_TEST_SOAK_SERVERS_HPP

#include "soak/cell_options.hpp"
#include "soak/cluster_group.hpp"
#include "support/redis_server.hpp"
#include "support/sentinel_group.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::soak {

/// What keeps the locks of a cell. Not thread-safe.
class servers {
public:
    servers() = default;
    servers(servers const&) = delete;
    servers& operator=(servers const&) = delete;
    virtual ~servers() = default;

    /// What workers connect to: a path or a URL, or several paths with commas.
    [[nodiscard]] virtual std::string address() const = 0;
    /// Those that have the locks now: primaries.
    virtual std::vector<test::redis_server*> in_use() = 0;
    /// Those that no client may be connected to when nothing is under way: replicas.
    virtual std::vector<test::redis_server*> not_in_use() { return {}; }
    /// Before a cycle: whatever the one before has left behind, servers that are down or have not
    /// got all data yet, is mended. Throws `std::runtime_error` when it is not in time.
    virtual void mend(millis /*limit*/) {}
    /// When the load is over: waits until they agree who has the locks. Throws as above.
    virtual void settle(millis /*limit*/) {}
    /// Which of them have locks; they change their roles.
    virtual std::vector<std::size_t> primaries() { return {}; }
    /// How many requests they have sent on to another server; see `cluster_group`.
    virtual std::map<std::size_t, std::int64_t> redirections() { return {}; }
};

class single_server final : public servers {
public:
    single_server(cell_options const& options, std::filesystem::path const& folder);

    [[nodiscard]] std::string address() const override { return address_; }
    std::vector<test::redis_server*> in_use() override { return {&server_}; }

private:
    test::redis_server server_;
    std::string address_;
};

class quorum_servers final : public servers {
public:
    quorum_servers(cell_options const& options, std::filesystem::path const& folder);

    [[nodiscard]] std::string address() const override { return addresses_; }
    std::vector<test::redis_server*> in_use() override;
    void mend(millis limit) override;

    std::deque<test::redis_server> nodes;

private:
    std::string addresses_;
};

class sentinel_servers final : public servers {
public:
    explicit sentinel_servers(cell_options const& options);

    [[nodiscard]] std::string address() const override;
    std::vector<test::redis_server*> in_use() override { return {&group.primary_server()}; }
    void mend(millis limit) override;
    void settle(millis limit) override;

    test::sentinel_group group;
};

class cluster_servers final : public servers {
public:
    explicit cluster_servers(cell_options const& options) : group{options} {}

    [[nodiscard]] std::string address() const override { return group.url(); }
    std::vector<test::redis_server*> in_use() override;
    std::vector<test::redis_server*> not_in_use() override;
    void mend(millis limit) override;
    void settle(millis limit) override;
    std::vector<std::size_t> primaries() override { return group.primaries(); }
    std::map<std::size_t, std::int64_t> redirections() override { return group.redirections(); }

    cluster_group group;
};

/// Returns when they run. `folder` is the cell's.
std::unique_ptr<servers> make_servers(
    cell_options const& options,
    std::filesystem::path const& folder
);

}  // namespace holdfast::soak

#endif
