#ifndef HOLDFAST_CLIENT_PLACE_HPP
#define HOLDFAST_CLIENT_PLACE_HPP

#include <holdfast/config.hpp>

#include <string>

namespace holdfast::detail {

/// Which servers a client of these settings has: equal for two clients of the same ones, as far as
/// settings tell, and ordered alike in all processes. `object` is the server where it is an object
/// of this program; then the addresses mean nothing.
[[nodiscard]] std::string place_of(config const& settings, void const* object);

}  // namespace holdfast::detail

#endif
