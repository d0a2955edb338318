#ifndef HOLDFAST_HOST_LIST_HPP
#define HOLDFAST_HOST_LIST_HPP

#include <holdfast/config.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace holdfast::detail {

/// Reads the addresses in a URL: `host:port,host:port`. One without a port has the usual one. An
/// IPv6 address stands in brackets, which are left out of the result.
///
/// @throws std::invalid_argument that says what is wrong, and never repeats the text: it may hold a
/// password.
[[nodiscard]] std::vector<config::address> read_host_list(
    std::string_view text,
    std::uint16_t usual_port
);

}  // namespace holdfast::detail

#endif
