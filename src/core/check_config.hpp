#ifndef HOLDFAST_CORE_CHECK_CONFIG_HPP
#define HOLDFAST_CORE_CHECK_CONFIG_HPP

#include <holdfast/config.hpp>

namespace holdfast::detail {

/// @throws std::invalid_argument naming the member that is wrong.
void check_config(config const& settings);

}  // namespace holdfast::detail

#endif
