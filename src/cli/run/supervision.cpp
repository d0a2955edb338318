#include "cli/run/supervision.hpp"

#include "cli/exit_code.hpp"
#include "cli/messages.hpp"
#include "cli/run/environment.hpp"
#include "cli/run/process_group.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <system_error>
#include <variant>

namespace holdfast::cli {

supervision::supervision(
    context const& on,
    run_options const& options,
    inherited const& from,
    holding& held,
    run_events& events
)
    : on_{on},
      options_{options},
      from_{from},
      held_{held},
      events_{events} {}

asio::awaitable<run_ending> supervision::run() {
    if (auto const failed = start()) {
        co_return *failed;
    }
    held_.watch();
    while (fsm_.now() != run_fsm::state::gone) {
        auto const event = co_await events_.next();
        std::visit([this](auto const& what) { on(what); }, event);
    }
    terminal_.take_back();
    auto const status = fsm_.status().value_or(0);
    child_.reset();
    if (WIFSIGNALED(status)) {
        co_return ended_by(WTERMSIG(status));
    }
    co_return run_ending{exit_code_of_child(status), 0};
}

std::optional<run_ending> supervision::start() {
    bool const takes_terminal = terminal_.for_command();
    try {
        child_.emplace(
            child_options{
                .command = options_.command,
                .environment = environment_for(environ, held_.name(), held_.lease().token()),
                .terminal = takes_terminal ? terminal_.descriptor() : -1,
            },
            from_
        );
    } catch (std::system_error const& failure) {
        if (takes_terminal) {
            terminal_.note_given();
            terminal_.take_back();
        }
        auto const& command = options_.command.front();
        say(on_, fmt::format("cannot run {}: {}", command, failure.code().message()));
        return run_ending{to_int(exit_code_of_exec(failure.code().value())), 0};
    }
    if (takes_terminal) {
        terminal_.note_given();
    }
    return std::nullopt;
}

void supervision::on(got_signal const& what) {
    if (what.number == SIGCHLD) {
        on_child();
    } else if (what.number == SIGCONT) {
        // A shell has given the terminal to this program again, or not: `fg` or `bg`.
        go_on(terminal_.for_command());
    } else {
        perform(fsm_.on_signal(what.number));
    }
}

void supervision::on(lease_lost const& what) {
    auto const time = grace();
    say(on_,
        fmt::format(
            "{} is lost ({}): ending the command",
            quoted_name(options_.name),
            to_string(what.why)
        ));
    perform(fsm_.on_lost(lease_clock::now(), time));
}

void supervision::on(look_due const&) {
    auto const next = fsm_.on_look(is_alive(child_->group()), lease_clock::now());
    if (next.signal == SIGKILL) {
        say(on_, "the command has not ended in time: killing it");
    }
    perform(next);
}

void supervision::on_child() {
    auto const change = child_->look();
    if (change.ended && !fsm_.status()) {
        auto const others = is_alive(child_->group());
        auto const next = fsm_.on_leader_ended(*change.ended, others, lease_clock::now(), grace());
        perform(next);
    } else if (change.stopped_by != 0) {
        on_stopped(change.stopped_by);
    }
}

void supervision::on_stopped(int signal) {
    if (!terminal_.there() || fsm_.now() != run_fsm::state::running) {
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
    if (with_terminal) {
        terminal_.give_to(child_->group());
    }
    child_->signal_group(SIGCONT);
}

void supervision::perform(run_fsm::step const& what) {
    if (what.signal != 0) {
        child_->signal_group(what.signal);
    }
    if (what.with_continue) {
        child_->signal_group(SIGCONT);
    }
    if (what.look_at) {
        events_.look_at(*what.look_at);
    }
}

std::chrono::nanoseconds supervision::grace() const {
    return grace_of(options_, held_.lease().remaining());
}

}  // namespace holdfast::cli
