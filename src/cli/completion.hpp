#ifndef HOLDFAST_CLI_COMPLETION_HPP
#define HOLDFAST_CLI_COMPLETION_HPP

#include "cli/command_line.hpp"

#include <string>
#include <string_view>

namespace holdfast::cli {

/// The completion script for a shell: `bash`, `zsh` or `fish`. Empty for any other.
[[nodiscard]] std::string completion_for(std::string_view shell, program_model const& program);

}  // namespace holdfast::cli

#endif
