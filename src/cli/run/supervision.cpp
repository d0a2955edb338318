#include "cli/run/supervision.hpp"

#include "cli/exit_code.hpp"
#include "cli/messages.hpp"
#include "cli/run/process_tree.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <system_error>
#include <variant>

namespace holdfast::cli {

using namespace std::chrono_literals;

supervision::supervision(
    context const& on,
    run_options const& options,
    guard const& by,
    asio::any_io_executor const& executor,
    holding& held,
    run_events& events
)
    : on_{on},
      options_{options},
      guard_{by},
      held_{held},
      events_{events},
      reports_{executor, by, events} {}

asio::awaitable<run_ending> supervision::run() {
    bool const takes_terminal = terminal_.for_command();
    if (takes_terminal) {
        terminal_.note_given();
    }
    on(lease_renewed{});
    guard_.start(held_.lease().token(), takes_terminal);
    held_.watch();
    while (!gone_) {
        auto const event = co_await events_.next();
        std::visit([this](auto const& what) { on(what); }, event);
    }
    terminal_.take_back();
    co_return ending_.value_or(run_ending{to_int(exit_code::system), 0});
}

void supervision::on(got_signal const& what) {
    if (what.number == SIGCONT) {
        // A shell has given the terminal to this program again, or not: `fg` or `bg`.
        go_on(terminal_.for_command());
    } else {
        guard_.pass_on(what.number);
    }
}

void supervision::on(lease_renewed const&) {
    guard_.renewed(held_.lease().deadline());
}

void supervision::on(lease_lost const& what) {
    lost_ = true;
    guard_.end(grace());
    say(on_,
        fmt::format(
            "{} is lost ({}): ending the command",
            quoted_name(options_.name),
            to_string(what.why)
        ));
}

void supervision::on(guard_report const& what) {
    using kind = guard_report::kind;
    switch (what.what) {
        case kind::started: group_ = what.number; break;
        case kind::not_started: on_not_started(what.number); break;
        case kind::stopped: on_stopped(what.number); break;
        case kind::ended:
            group_.reset();
            ending_ = WIFSIGNALED(what.number) ? ended_by(WTERMSIG(what.number))
                                               : run_ending{exit_code_of_child(what.number), 0};
            // What it has left behind ends with it.
            guard_.end(grace());
            break;
        case kind::killing: say(on_, "the command has not ended in time: killing it"); break;
        case kind::gone: gone_ = true; break;
    }
}

// What was below the guard is below this program now, and nobody else would end it.
void supervision::on(guard_ended const&) {
    if (gone_) {
        return;
    }
    say(on_, "the process that guards the command was killed: killing the command");
    if (group_) {
        ending_ = ended_by(SIGKILL);
        group_.reset();
    }
    on(look_due{});
}

void supervision::on(look_due const&) {
    auto all = process_tree::below(::getpid());
    if (options_.leave_daemons) {
        all.keep_only_session(::getsid(0));
    }
    if (!ending_ && all.any_alive()) {
        // The guard was killed before it could tell of the start.
        ending_ = ended_by(SIGKILL);
    }
    all.signal(SIGKILL);
    gone_ = !all.any_alive();
    if (!gone_) {
        events_.look_at(lease_clock::now() + 20ms);
    }
}

void supervision::on_not_started(int error) {
    std::error_code const why{error, std::generic_category()};
    say(on_, fmt::format("cannot run {}: {}", options_.command.front(), why.message()));
    ending_ = {to_int(exit_code_of_exec(error)), 0};
    gone_ = true;
}

void supervision::on_stopped(int signal) {
    if (!terminal_.there() || lost_) {
        return;
    }
    // It wants the terminal, and this program can give it.
    if ((signal == SIGTTIN || signal == SIGTTOU) && terminal_.ours()) {
        go_on(true);
        return;
    }
    // The shell sees this program stopped, and takes the terminal. No lease is renewed meanwhile.
    bool const had_terminal = terminal_.given();
    terminal_.take_back();
    stop_own_group();
    go_on(had_terminal && terminal_.ours());
}

void supervision::go_on(bool with_terminal) {
    if (with_terminal && group_) {
        terminal_.give_to(*group_);
    }
    guard_.go_on();
}

std::chrono::nanoseconds supervision::grace() const {
    return grace_of(options_, held_.lease().remaining());
}

}  // namespace holdfast::cli
