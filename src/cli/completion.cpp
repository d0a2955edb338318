#include "cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace holdfast::cli {

namespace {

std::vector<std::string> names_of(std::vector<option_model> const& options) {
    std::vector<std::string> all;
    for (auto const& option : options) {
        all.insert(all.end(), option.names.begin(), option.names.end());
    }
    return all;
}

std::vector<std::string> names_of(std::vector<command_model> const& commands) {
    std::vector<std::string> all;
    for (auto const& command : commands) {
        all.push_back(command.name);
    }
    return all;
}

// Text between single quotes, in each of the shells.
std::string in_quotes(std::string_view text, std::string_view escaped_quote) {
    std::string result{"'"};
    for (char const c : text) {
        if (c == '\'') {
            result += escaped_quote;
        } else {
            result += c;
        }
    }
    return result + "'";
}

// bash

// What follows an option that takes a value.
std::string bash_values(std::vector<option_model> const& options) {
    std::string cases;
    for (auto const& option : options) {
        if (option.takes_value) {
            cases += fmt::format(
                "        {}) COMPREPLY=($(compgen -W '{}' -- \"$current\")); return ;;\n",
                fmt::join(option.names, " | "),
                fmt::join(option.choices, " ")
            );
        }
    }
    return cases;
}

// The options whose value is the next word, so that it is not taken for a command.
std::string bash_with_values(program_model const& program) {
    std::vector<std::string> all;
    for (auto const& option : program.options) {
        if (option.takes_value) {
            all.insert(all.end(), option.names.begin(), option.names.end());
        }
    }
    return fmt::format("{}", fmt::join(all, " | "));
}

std::string bash_completion(program_model const& program) {
    auto const globals = names_of(program.options);
    std::string commands;
    std::string values = bash_values(program.options);
    for (auto const& command : program.commands) {
        values += bash_values(command.options);
        commands += fmt::format(
            "        {}) words='{} {} {}' ;;\n",
            command.name,
            fmt::join(names_of(command.options), " "),
            fmt::join(globals, " "),
            fmt::join(command.arguments, " ")
        );
    }
    return fmt::format(
        R"sh(# bash completion for holdfast
_holdfast() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
    local command= words='{} {}' i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case ${{COMP_WORDS[i]}} in
            --)
                # The command that is run has completion of its own.
                if declare -F _command_offset >/dev/null; then
                    _command_offset "$((i + 1))"
                else
                    COMPREPLY=($(compgen -c -f -- "$current"))
                fi
                return ;;
            {}) i=$((i + 1)) ;;
            -*) ;;
            *) [[ -n $command ]] || command=${{COMP_WORDS[i]}} ;;
        esac
    done
    case $previous in
{}    esac
    case $command in
{}    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -F _holdfast holdfast
)sh",
        fmt::join(names_of(program.commands), " "),
        fmt::join(globals, " "),
        bash_with_values(program),
        values,
        commands
    );
}

// zsh

std::string zsh_text(std::string_view text) {
    std::string plain;
    for (char const c : text) {
        if (c == '[' || c == ']' || c == ':') {
            plain += '\\';
        }
        plain += c;
    }
    return plain;
}

std::string zsh_options(std::vector<option_model> const& options, std::string_view indent) {
    std::string lines;
    for (auto const& option : options) {
        for (auto const& name : option.names) {
            auto specification = fmt::format("{}[{}]", name, zsh_text(option.description));
            if (option.takes_value) {
                specification += option.choices.empty()
                                     ? ":value:"
                                     : fmt::format(":value:({})", fmt::join(option.choices, " "));
            }
            lines += fmt::format("{}{} \\\n", indent, in_quotes(specification, R"('\'')"));
        }
    }
    return lines;
}

std::string zsh_completion(program_model const& program) {
    std::string described;
    std::string cases;
    for (auto const& command : program.commands) {
        auto const text = fmt::format("{}:{}", command.name, zsh_text(command.description));
        described += fmt::format("        {}\n", in_quotes(text, R"('\'')"));
        auto const argument = command.arguments.empty()
                                  ? std::string{"':name:'"}
                                  : fmt::format("':name:({})'", fmt::join(command.arguments, " "));
        cases += fmt::format(
            "        {})\n            _arguments -s \\\n{}{}                {} ;;\n",
            command.name,
            zsh_options(command.options, "                "),
            zsh_options(program.options, "                "),
            argument
        );
    }
    return fmt::format(
        R"sh(#compdef holdfast
_holdfast() {{
    local curcontext=$curcontext state line
    local -a commands
    commands=(
{}    )
    _arguments -C \
{}        '1:command:->command' '*::argument:->argument' && return
    case $state in
        command) _describe command commands ;;
        argument)
            # The command behind -- has completion of its own.
            local -i dashes=${{words[(i)--]}}
            if (( dashes < CURRENT )); then
                shift $dashes words
                (( CURRENT -= dashes ))
                _normal
                return
            fi
            case $line[1] in
{}            esac ;;
    esac
}}
_holdfast "$@"
)sh",
        described,
        zsh_options(program.options, "        "),
        cases
    );
}

// fish

std::string fish_options(std::vector<option_model> const& options, std::string_view condition) {
    std::string lines;
    for (auto const& option : options) {
        lines += fmt::format("complete -c holdfast -n {}", in_quotes(condition, R"(\')"));
        for (auto const& name : option.names) {
            bool const is_long = name.starts_with("--");
            lines += is_long ? " -l " + name.substr(2) : " -s " + name.substr(1);
        }
        if (option.takes_value) {
            lines += " -x";
            if (!option.choices.empty()) {
                lines += fmt::format(" -a '{}'", fmt::join(option.choices, " "));
            }
        }
        lines += " -d " + in_quotes(option.description, R"(\')") + "\n";
    }
    return lines;
}

std::string fish_completion(program_model const& program) {
    auto const commands = fmt::format("{}", fmt::join(names_of(program.commands), " "));
    auto const none_yet = "not __fish_seen_subcommand_from " + commands;
    std::string script = "# fish completion for holdfast\ncomplete -c holdfast -f\n";
    script += fish_options(program.options, "true");
    for (auto const& command : program.commands) {
        script += fmt::format(
            "complete -c holdfast -n '{}' -a {} -d {}\n",
            none_yet,
            command.name,
            in_quotes(command.description, R"(\')")
        );
        auto const here = "__fish_seen_subcommand_from " + command.name;
        script += fish_options(command.options, here);
        if (!command.arguments.empty()) {
            script += fmt::format(
                "complete -c holdfast -n '{}' -a '{}'\n",
                here,
                fmt::join(command.arguments, " ")
            );
        }
        if (command.runs_a_command) {
            script += fmt::format(
                "complete -c holdfast -n '{}; and contains -- -- (commandline -opc)' -F "
                "-a '(__fish_complete_subcommand --fcs-skip=3)'\n",
                here
            );
        }
    }
    return script;
}

}  // namespace

std::string completion_for(std::string_view shell, program_model const& program) {
    if (shell == "bash") {
        return bash_completion(program);
    }
    if (shell == "zsh") {
        return zsh_completion(program);
    }
    return shell == "fish" ? fish_completion(program) : std::string{};
}

}  // namespace holdfast::cli
