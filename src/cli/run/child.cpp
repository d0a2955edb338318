#include "cli/run/child.hpp"

#include "cli/run/terminal.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace holdfast::cli {

namespace {

std::vector<char*> pointers_to(std::vector<std::string> const& texts) {
    std::vector<char*> pointers;
    for (auto const& text : texts) {
        // execve() changes nothing.
        pointers.push_back(const_cast<char*>(text.c_str()));
    }
    pointers.push_back(nullptr);
    return pointers;
}

[[noreturn]] void fail(int error, char const* what) {
    throw std::system_error{error, std::generic_category(), what};
}

// In the child, after fork(). Returns the `errno` of what failed.
int execute(
    char* const* command,
    char* const* environment,
    int terminal,
    pid_t parent,
    inherited const& from
) noexcept {
    ::setpgid(0, 0);
    if (terminal >= 0) {
        set_foreground_group(terminal, ::getpid());
    }
    // Kept over execve(). The parent may have ended before.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) {
        return ESRCH;
    }
    from.signals.restore();
    ::execvpe(command[0], command, environment);
    return errno;
}

}  // namespace

child::child(child_options const& options, inherited const& from) {
    auto const command = pointers_to(options.command);
    auto const environment = pointers_to(options.environment);
    // execve() closes it: the end of the file means success.
    std::array<int, 2> failure{};
    if (::pipe2(failure.data(), O_CLOEXEC) != 0) {
        fail(errno, "pipe");
    }
    from.descriptors.keep_the_others();
    auto const parent = ::getpid();
    {
        // A handler of this program must not run in the child.
        blocked_signals const none;
        pid_ = ::fork();
        if (pid_ == 0) {
            auto const error =
                execute(command.data(), environment.data(), options.terminal, parent, from);
            static_cast<void>(!::write(failure[1], &error, sizeof error));
            ::_exit(127);
        }
    }
    auto const fork_error = errno;
    ::close(failure[1]);
    int error = 0;
    ssize_t got = 0;
    if (pid_ > 0) {
        do {
            got = ::read(failure[0], &error, sizeof error);
        } while (got < 0 && errno == EINTR);
    }
    ::close(failure[0]);
    if (pid_ < 0) {
        fail(fork_error, "fork");
    }
    if (got == sizeof error) {
        ::waitpid(pid_, nullptr, 0);
        fail(error, options.command.front().c_str());
    }
}

child::~child() {
    // Its id may be given away now. One that still lives is nobody's to wait for.
    ::waitpid(pid_, nullptr, WNOHANG);
}

void child::signal_group(int signal) const noexcept {
    ::kill(-pid_, signal);
}

child::change child::look() const noexcept {
    auto const id = static_cast<id_t>(pid_);
    change found;
    siginfo_t info{};
    if (::waitid(P_PID, id, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid == pid_) {
        found.stopped_by = info.si_status;
    }
    info = {};
    if (::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_) {
        // As waitpid() encodes it.
        found.ended = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
    }
    return found;
}

}  // namespace holdfast::cli
