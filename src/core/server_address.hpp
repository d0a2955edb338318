#ifndef HOLDFAST_CORE_SERVER_ADDRESS_HPP
#define HOLDFAST_CORE_SERVER_ADDRESS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::detail {

/// Where a server listens.
struct server_address {
    std::string host;
    std::uint16_t port = 0;

    friend bool operator==(server_address const&, server_address const&) = default;
};

/// `host:port`, `[host]:port` or a host alone, which has the default port. Nothing if it is not
/// one.
[[nodiscard]] std::optional<server_address> read_address(std::string_view text);

}  // namespace holdfast::detail

#endif
