#include "cli/program.hpp"

#include "cli/command_line.hpp"
#include "cli/doctor.hpp"
#include "cli/exit_code.hpp"
#include "cli/force_release.hpp"
#include "cli/inspect.hpp"
#include "cli/list.hpp"
#include "cli/messages.hpp"
#include "cli/run/run.hpp"
#include "protocol/names.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <stdexcept>
#include <utility>

namespace holdfast::cli {

namespace {

constexpr char const* url_variable = "HOLDFAST_URL";
constexpr char const* default_url = "redis://127.0.0.1:6379";

// `holdfast@web1/4711`.
std::string name_of_process() {
    std::array<char, 256> host{};
    static_cast<void>(::gethostname(host.data(), host.size() - 1));
    std::string name = fmt::format("holdfast@{}/{}", host.data(), ::getpid());
    std::ranges::replace_if(name, [](char c) { return c < '!' || c > '~' || c == ':'; }, '-');
    return name;
}

// Runs a coroutine to its end. What it throws comes out of here.
template <class Result>
Result complete(std::function<asio::awaitable<Result>()> const& begin) {
    asio::io_context io{1};
    Result result{};
    std::exception_ptr failure;
    asio::co_spawn(io, begin(), [&](std::exception_ptr thrown, Result what) {
        failure = thrown;
        result = std::move(what);
        // What a client does in the background is no reason to stay.
        io.stop();
    });
    io.run();
    if (failure) {
        std::rethrow_exception(failure);
    }
    return result;
}

using command_body = std::function<asio::awaitable<int>()>;

// The command that was chosen; none: `run`.
command_body command_of(CLI::App const& app, command_line const& line, context const& on) {
    if (app.got_subcommand("inspect")) {
        return [&] { return inspect(on, line.inspect); };
    }
    if (app.got_subcommand("list")) {
        return [&] { return list(on, line.list_pattern); };
    }
    if (app.got_subcommand("force-release")) {
        return [&] { return force_release(on, line.force_release); };
    }
    if (app.got_subcommand("doctor")) {
        return [&] { return doctor(on, line.doctor); };
    }
    return {};
}

// An error code cannot say what is wrong with this name and what to write instead.
void check_name(CLI::App const& app, command_line const& line, config const& settings) {
    std::pair<char const*, std::string const&> const named[] = {
        {"run", line.run.name},
        {"inspect", line.inspect.name},
        {"force-release", line.force_release.name},
    };
    for (auto const& [command, name] : named) {
        if (!app.got_subcommand(command)) {
            continue;
        }
        if (auto const fault = detail::fault_of_name(settings, name); !fault.empty()) {
            throw std::invalid_argument{fault};
        }
    }
}

int run_to_its_end(
    context const& on,
    run_options const& options,
    inherited_signals const& signals
) {
    // Before there are threads, and connections that a command would get.
    guard const by{options, on.config.key_prefix + options.name, signals};
    auto const ending = complete<run_ending>([&] { return run(on, options, signals, by); });
    if (ending.signal != 0) {
        end_by(ending.signal);
    }
    return ending.code;
}

int execute(
    CLI::App const& app,
    command_line const& line,
    inherited_signals const& signals,
    std::ostream& out,
    std::ostream& err
) {
    context on{
        .config = config_of(line.global, std::getenv(url_variable)),
        .json = line.global.json,
        .colours = style::of(STDOUT_FILENO, line.global.colour),
        .out = out,
        .err = err,
    };
    if (line.global.verbose) {
        on.config.log = [&on](log_level, std::string_view message) { say(on, message); };
    }
    check_name(app, line, on.config);
    auto const chosen = command_of(app, line, on);
    return chosen ? complete<int>(chosen) : run_to_its_end(on, line.run, signals);
}

}  // namespace

void hide_password(char* argument) noexcept {
    auto* const scheme = std::strstr(argument, "://");
    if (scheme == nullptr) {
        return;
    }
    auto* const begin = scheme + 3;
    // The last @ before the path: an unescaped one belongs to the password.
    auto const length = std::strcspn(begin, "/?#");
    std::string_view const authority{begin, length};
    auto const at = authority.rfind('@');
    auto const colon = authority.find(':');
    if (at != authority.npos && colon < at) {
        std::fill(begin + colon + 1, begin + at, '*');
    }
    constexpr std::string_view secret = "password=";
    for (auto* from = std::strstr(begin, secret.data()); from != nullptr;
         from = std::strstr(from, secret.data())) {
        from += secret.size();
        std::fill(from, from + std::strcspn(from, "&#"), '*');
    }
}

config config_of(global_options const& options, char const* from_environment) {
    bool const has_environment = from_environment != nullptr && *from_environment != '\0';
    std::string const url = !options.url.empty() ? options.url
                            : has_environment    ? from_environment
                                                 : default_url;
    auto settings = parse_url(url);
    settings.key_prefix = options.key_prefix;
    // The program reports what went wrong itself.
    settings.log = nullptr;
    if (settings.client_name == config{}.client_name) {
        settings.client_name = name_of_process();
    }
    return settings;
}

int program(int count, char** arguments, std::ostream& out, std::ostream& err) {
    inherited_signals const signals;
    command_line line;
    auto const app = define(line);
    try {
        app->parse(count, arguments);
    } catch (CLI::ParseError const& failure) {
        bool const is_help = app->exit(failure, out, err) == 0;
        return to_int(is_help ? exit_code::success : exit_code::usage);
    }
    // Of this program's own arguments only: those of a command are the command's.
    auto** const own_end = std::find_if(arguments, arguments + count, [](char const* argument) {
        return std::string_view{argument} == "--";
    });
    std::for_each(arguments, own_end, &hide_password);
    try {
        return execute(*app, line, signals, out, err);
    } catch (std::invalid_argument const& wrong) {
        err << fmt::format("holdfast: {}\n", wrong.what());
        return to_int(exit_code::usage);
    } catch (std::exception const& failure) {
        err << fmt::format("holdfast: {}\n", failure.what());
        return to_int(exit_code::internal);
    }
}

}  // namespace holdfast::cli
