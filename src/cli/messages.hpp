#ifndef HOLDFAST_CLI_MESSAGES_HPP
#define HOLDFAST_CLI_MESSAGES_HPP

#include "cli/context.hpp"

#include <string>
#include <string_view>

namespace holdfast::cli {

/// Writes `holdfast: text` on a line of its own to the standard error.
void say(context const& to, std::string_view text);

/// A name as it may be shown on a terminal: in quotes, without control characters.
[[nodiscard]] std::string quoted_name(std::string_view name);

}  // namespace holdfast::cli

#endif
