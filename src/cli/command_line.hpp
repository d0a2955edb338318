#ifndef HOLDFAST_CLI_COMMAND_LINE_HPP
#define HOLDFAST_CLI_COMMAND_LINE_HPP

#include "cli/doctor.hpp"
#include "cli/options.hpp"

#include <memory>
#include <string>

namespace CLI {
class App;
}

namespace holdfast::cli {

/// What the command line says.
struct command_line {
    global_options global;
    run_options run;
    name_options inspect;
    name_options force_release;
    /// `list`: of names without the key prefix.
    std::string list_pattern = "*";
    doctor_options doctor;
};

/// The definition of the command line. Parsing writes to `into`, which must live as long.
[[nodiscard]] std::shared_ptr<CLI::App> define(command_line& into);

}  // namespace holdfast::cli

#endif
