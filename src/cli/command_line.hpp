#ifndef HOLDFAST_CLI_COMMAND_LINE_HPP
#define HOLDFAST_CLI_COMMAND_LINE_HPP

#include "cli/doctor.hpp"
#include "cli/list.hpp"
#include "cli/options.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

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
    watch_options watch;
    bench_options bench;
    list_options list;
    doctor_options doctor;
    /// Of `completion`.
    std::string shell;
};

/// The definition of the command line. Parsing writes to `into`, which must live as long.
[[nodiscard]] std::shared_ptr<CLI::App> define(command_line& into);

/// An option, as completion and the manual page need it.
struct option_model {
    /// With their dashes: `-v`, `--verbose`.
    std::vector<std::string> names;
    std::string description;
    bool takes_value = false;
    /// The values that there are; empty if any text may be one.
    std::vector<std::string> choices;
};

struct command_model {
    std::string name;
    std::string description;
    std::vector<option_model> options;
    /// The values that its first argument can have; empty if any text may be one.
    std::vector<std::string> arguments;
    /// Its arguments end with a command of its own.
    bool runs_a_command = false;
};

struct program_model {
    std::vector<option_model> options;
    std::vector<command_model> commands;
};

/// What the definition of the command line consists of.
[[nodiscard]] program_model describe(CLI::App const& app);

}  // namespace holdfast::cli

#endif
