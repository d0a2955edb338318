#ifndef HOLDFAST_CLI_PROGRAM_HPP
#define HOLDFAST_CLI_PROGRAM_HPP

#include "cli/options.hpp"

#include <holdfast/config.hpp>

#include <iosfwd>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// The program `holdfast`: reads the command line and the environment, and runs a command. Results
/// go to `out`, messages to `err`. Returns the exit code. The URL's password disappears from
/// `arguments`, so that it is not shown to those who list processes.
[[nodiscard]] int program(int count, char** arguments, std::ostream& out, std::ostream& err);

/// Where the server is: what the options say, else the environment's HOLDFAST_URL (null: there is
/// none), else a server on this machine. The connections are called after machine and process,
/// unless the URL names them.
/// @throws std::invalid_argument  as `parse_url`.
[[nodiscard]] holdfast::config config_of(
    global_options const& options,
    char const* from_environment
);

/// Overwrites the password in an argument that is a URL, or `--url=` and a URL.
void hide_password(char* argument) noexcept;

}  // namespace holdfast::cli

#endif
