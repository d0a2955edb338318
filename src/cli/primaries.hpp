#ifndef HOLDFAST_CLI_PRIMARIES_HPP
#define HOLDFAST_CLI_PRIMARIES_HPP

#include "cli/server_session.hpp"
#include "redis/deployment/slot_map.hpp"

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// A server that keeps locks, or should.
struct primary {
    /// With its own host and port; of a cluster's node, no other nodes.
    std::shared_ptr<config const> settings;
    /// For people; never with a password.
    std::string address;
    /// Null if it cannot be used. Then the others say why.
    std::shared_ptr<server_session> session = {};
    error_code cause = {};
    std::string why = {};
    /// Of a cluster's node: its number in `primaries::slots`.
    std::uint32_t number = 0;
};

/// The servers of a deployment.
struct primaries {
    /// One, or each of a cluster that has slots.
    std::vector<primary> all;
    /// Of a cluster.
    std::shared_ptr<detail::slot_map> slots = {};
    /// Why they are not known, if there are none.
    error_code cause = {};
    std::string why = {};

    /// The server that has the keys of this name; null if that is not known or cannot be used.
    [[nodiscard]] primary const* of_name(std::string_view name) const noexcept;
};

/// Finds the servers and logs in to each. Sentinels are asked for the primary, and nodes of a
/// cluster, one after the other, for the slots until one answers. Never throws for what a server
/// does.
[[nodiscard]] boost::asio::awaitable<primaries> open_primaries(config const& settings);

}  // namespace holdfast::cli

#endif
