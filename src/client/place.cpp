#include "client/place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace holdfast::detail {

namespace {

// Each process may name them in another order.
std::string listed(std::vector<config::address> const& addresses) {
    std::vector<std::string> all;
    for (auto const& one : addresses) {
        all.push_back(fmt::format("{}:{:05}", one.host, one.port));
    }
    std::sort(all.begin(), all.end());
    return fmt::format("{}", fmt::join(all, ","));
}

}  // namespace

std::string place_of(config const& settings, void const* object) {
    if (object != nullptr) {
        return fmt::format("memory {}", object);
    }
    if (!settings.cluster_nodes.empty()) {
        return "cluster " + listed(settings.cluster_nodes);
    }
    if (!settings.sentinels.empty()) {
        return fmt::format("sentinels {} {}", listed(settings.sentinels), settings.primary_name);
    }
    if (!settings.unix_socket.empty()) {
        return "unix " + settings.unix_socket;
    }
    return fmt::format("tcp {}:{:05}", settings.host, settings.port);
}

}  // namespace holdfast::detail
