#include "soak/servers.hpp"

#include "soak/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace holdfast::soak {

namespace {

test::server_options options_of_server(cell_options const& options) {
    test::server_options made;
    made.appendonly = true;
    made.users = {fmt::format("{} {}", user_name, user_rules_for(options.shared))};
    made.extra = {"auto-aof-rewrite-min-size 1mb"};  // or a restart takes longer every time
    made.program = options.server_program;
    return made;
}

// With the right to see which server it is.
test::group_options options_of_group(cell_options const& options) {
    test::group_options made;
    made.program = options.server_program;
    made.users = {fmt::format("{} {} +info", user_name, user_rules)};
    return made;
}

}  // namespace

single_server::single_server(cell_options const& options, std::filesystem::path const& folder)
    : server_{options_of_server(options)},
      address_{(folder / "server").string()} {
    std::filesystem::create_symlink(server_.unix_socket(), address_);
}

quorum_servers::quorum_servers(cell_options const& options, std::filesystem::path const& folder) {
    constexpr int count = 5;
    for (int i = 0; i < count; ++i) {
        auto const& made = nodes.emplace_back(options_of_server(options));
        auto const path = (folder / fmt::format("server-{}", i)).string();
        std::filesystem::create_symlink(made.unix_socket(), path);
        addresses_ += (i == 0 ? "" : ",") + path;
    }
}

std::vector<test::redis_server*> quorum_servers::in_use() {
    std::vector<test::redis_server*> all;
    for (auto& each : nodes) {
        all.push_back(&each);
    }
    return all;
}

void quorum_servers::mend(millis /*limit*/) {
    for (auto& each : nodes) {
        if (each.pid() < 0) {
            each.restart(false);
        } else {
            each.resume();
        }
    }
}

sentinel_servers::sentinel_servers(cell_options const& options)
    : group{options_of_group(options)} {}

std::string sentinel_servers::address() const {
    return group.url_as(fmt::format("{}:{}", user_name, user_password));
}

void sentinel_servers::mend(millis limit) {
    for (std::size_t i = 0; i < group.servers(); ++i) {
        auto& server = group.server(i);
        if (server.pid() < 0) {
            server.restart(false);
        } else {
            server.resume();
        }
    }
    if (!group.wait_until_whole(limit)) {
        throw std::runtime_error{"the servers do not find together after a failover"};
    }
}

void sentinel_servers::settle(millis limit) {
    if (!group.wait_until_agreed(limit)) {
        throw std::runtime_error{"the Sentinels do not agree after a failover"};
    }
}

std::vector<test::redis_server*> cluster_servers::in_use() {
    std::vector<test::redis_server*> found;
    for (auto const each : group.primaries()) {
        found.push_back(&group.node(each));
    }
    return found;
}

std::vector<test::redis_server*> cluster_servers::not_in_use() {
    auto const used = in_use();
    std::vector<test::redis_server*> found;
    for (std::size_t i = 0; i < group.size(); ++i) {
        auto* const one = &group.node(i);
        if (group.answers(i) && std::find(used.begin(), used.end(), one) == used.end()) {
            found.push_back(one);
        }
    }
    return found;
}

void cluster_servers::mend(millis limit) {
    group.raise_all();
    if (!group.wait_until_whole(limit)) {
        throw std::runtime_error{"the nodes of the cluster do not find together"};
    }
}

void cluster_servers::settle(millis limit) {
    if (!group.wait_until_agreed(limit)) {
        throw std::runtime_error{"the nodes of the cluster do not agree"};
    }
}

std::unique_ptr<servers> make_servers(
    cell_options const& options,
    std::filesystem::path const& folder
) {
    switch (options.kept_by) {
        case deployment::sentinels: return std::make_unique<sentinel_servers>(options);
        case deployment::cluster: return std::make_unique<cluster_servers>(options);
        case deployment::nodes: return std::make_unique<quorum_servers>(options, folder);
        case deployment::single: break;
    }
    return std::make_unique<single_server>(options, folder);
}

}  // namespace holdfast::soak
