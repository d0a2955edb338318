#include "cli/run/guarding.hpp"

#include "cli/run/child.hpp"
#include "cli/run/process_tree.hpp"
#include "cli/run/run.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace holdfast::cli {

using namespace std::chrono_literals;

namespace {

// As long as "holdfast", so that it replaces that in the arguments, and without that word:
// `pkill holdfast` looks for a part of a name.
constexpr char const* process_name = "hf-guard";

// A daemon leaves the session after its parent has ended: daemon(3). Until then nothing tells it
// from what the command has left behind.
constexpr std::chrono::milliseconds time_to_leave_session = 200ms;

// The guard may get the processor late, and the processes need time to end.
constexpr std::chrono::milliseconds kill_before_lease_ends = 200ms;

void set_variable(char const* name, std::string const& value) {
    if (::setenv(name, value.c_str(), 1) != 0) {
        throw std::system_error{errno, std::generic_category(), name};
    }
}

}  // namespace

guarding::guarding(
    run_options const& options,
    std::string const& name,
    inherited_signals const& signals,
    int descriptor
)
    : options_{options},
      name_{name},
      signals_{signals},
      descriptor_{descriptor} {}

void guarding::run() {
    prepare();
    while (!done_) {
        wait();
        read_orders();
        look_at_children();
        look();
    }
    ::_exit(0);
}

void guarding::prepare() const {
    // Not what the terminal or a `kill` sends to this program's group: the guard has to outlive it.
    ::setpgid(0, 0);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    // Nor what `pkill holdfast` and `kill $(pidof holdfast)` send. glibc and musl have argv[0]
    // here.
    ::prctl(PR_SET_NAME, process_name);
    auto* const first_argument = program_invocation_name;
    std::strncpy(first_argument, process_name, std::strlen(first_argument));
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    // A handler, so that it ends a wait.
    struct sigaction nothing{};
    nothing.sa_handler = [](int) {};
    ::sigaction(SIGCHLD, &nothing, nullptr);
}

// For an order, a child, or the time to look.
void guarding::wait() {
    pollfd orders{owned_ ? descriptor_ : -1, POLLIN, 0};
    timespec limit{};
    if (look_at_) {
        auto const left = std::max<std::chrono::nanoseconds>(*look_at_ - lease_clock::now(), 0ns);
        limit.tv_sec = left / 1s;
        limit.tv_nsec = (left % 1s).count();
    }
    sigset_t meanwhile;
    ::sigfillset(&meanwhile);
    ::sigdelset(&meanwhile, SIGCHLD);
    ::ppoll(&orders, 1, look_at_ ? &limit : nullptr, &meanwhile);
}

void guarding::read_orders() {
    while (owned_) {
        guard_order what;
        auto const got = ::recv(descriptor_, &what, sizeof what, MSG_DONTWAIT);
        if (got == sizeof what) {
            follow(what);
            continue;
        }
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        // The program has ended, without waiting for the end of the command.
        owned_ = false;
        done_ = leader_ < 0;
        auto const now = lease_clock::now();
        auto const lease_ends = std::max(now, lease_ends_);
        auto const grace = grace_of(options_, lease_ends - now);
        perform(fsm_.on_end(now, grace, lease_ends - kill_before_lease_ends));
    }
}

void guarding::follow(guard_order const& what) {
    switch (what.what) {
        case guard_order::kind::start: start(what); break;
        case guard_order::kind::renewed:
            lease_ends_ = lease_clock::time_point{std::chrono::nanoseconds{what.value}};
            break;
        case guard_order::kind::pass_on: perform(fsm_.on_signal(what.number)); break;
        case guard_order::kind::go_on:
            perform(run_fsm::step{.signal = SIGCONT, .to_all = fsm_.status().has_value()});
            break;
        case guard_order::kind::end:
            perform(fsm_.on_end(lease_clock::now(), std::chrono::nanoseconds{what.value}));
            break;
    }
}

void guarding::start(guard_order const& what) {
    fencing_token const token{static_cast<std::uint64_t>(what.value)};
    try {
        // The command finds its own lock there, and not an outer one.
        set_variable("HOLDFAST_NAME", name_);
        set_variable("HOLDFAST_TOKEN", to_string(token));
        leader_ = start_child(options_.command, what.number != 0, signals_);
        tell(guard_report::kind::started, leader_);
    } catch (std::system_error const& failure) {
        tell(guard_report::kind::not_started, failure.code().value());
        done_ = true;
    }
}

void guarding::look_at_children() {
    int status = 0;
    pid_t child = 0;
    while ((child = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (child != leader_ || fsm_.status()) {
            continue;
        }
        if (WIFSTOPPED(status)) {
            tell(guard_report::kind::stopped, WSTOPSIG(status));
        } else {
            fsm_.on_leader_ended(
                status,
                options_.leave_daemons ? lease_clock::now() + time_to_leave_session
                                       : lease_clock::time_point::min()
            );
            tell(guard_report::kind::ended, status);
        }
    }
    has_children_ = child == 0;
}

void guarding::look() {
    if (leader_ < 0 || done_) {
        return;
    }
    bool const was_killed = fsm_.now() == run_fsm::state::killed;
    perform(fsm_.on_look(is_alive(), lease_clock::now()));
    if (fsm_.now() == run_fsm::state::killed && !was_killed) {
        tell(guard_report::kind::killing);
    } else if (fsm_.now() == run_fsm::state::gone) {
        tell(guard_report::kind::gone);
        done_ = true;
    }
}

// All that was started is below this process, or below one that is. So nothing is left if it has
// no child.
bool guarding::is_alive() const {
    return !fsm_.status() || (options_.leave_daemons ? job().any_alive() : has_children_);
}

process_tree guarding::job() const {
    auto all = process_tree::below(::getpid());
    if (options_.leave_daemons) {
        all.keep_only_session(::getsid(0));
    }
    return all;
}

void guarding::perform(run_fsm::step const& what) {
    look_at_ = what.look_at;
    if (what.signal == 0 || leader_ < 0) {
        return;
    }
    if (!what.to_all) {
        ::kill(-leader_, what.signal);
        return;
    }
    auto const all = job();
    all.signal(what.signal);
    if (all.members().empty() && !fsm_.status()) {
        // There is no /proc.
        ::kill(-leader_, what.signal);
    }
    if (what.signal != SIGKILL) {
        all.signal(SIGCONT);
    }
}

void guarding::tell(guard_report::kind what, int number) const noexcept {
    guard_report const report{what, number};
    static_cast<void>(::send(descriptor_, &report, sizeof report, MSG_NOSIGNAL) == 0);
}

}  // namespace holdfast::cli
