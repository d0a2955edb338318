#ifndef HOLDFAST_CLI_RUN_ENVIRONMENT_HPP
#define HOLDFAST_CLI_RUN_ENVIRONMENT_HPP

#include <holdfast/fencing_token.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// The environment of a command that runs under a lock: that of this program, with HOLDFAST_NAME
/// and HOLDFAST_TOKEN. Those of an outer lock are replaced.
[[nodiscard]] std::vector<std::string> environment_for(
    char const* const* own,
    std::string_view name,
    fencing_token token
);

}  // namespace holdfast::cli

#endif
