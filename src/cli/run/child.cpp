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
    bool takes_terminal,
    pid_t parent,
    inherited_signals const& signals
) noexcept {
    ::setpgid(0, 0);
    if (takes_terminal) {
        terminal const controlling;
        set_foreground_group(controlling.descriptor(), ::getpid());
    }
    // Kept over execve(). The parent may have ended before.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
        return ESRCH;
    }
    signals.restore();
    ::execvp(command[0], command);
    return errno;
}

}  // namespace

pid_t start_child(
    std::vector<std::string> const& command,
    bool takes_terminal,
    inherited_signals const& signals
) {
    auto const arguments = pointers_to(command);
    // execve() closes it: the end of the file means success.
    std::array<int, 2> failure{};
    if (::pipe2(failure.data(), O_CLOEXEC) != 0) {
        fail(errno, "pipe");
    }
    auto const parent = ::getpid();
    pid_t pid = -1;
    {
        // A handler of this program must not run in the child.
        blocked_signals const none;
        pid = ::fork();
        if (pid == 0) {
            auto const error = execute(arguments.data(), takes_terminal, parent, signals);
            static_cast<void>(!::write(failure[1], &error, sizeof error));
            ::_exit(127);
        }
    }
    auto const fork_error = errno;
    ::close(failure[1]);
    int error = 0;
    ssize_t got = 0;
    if (pid > 0) {
        do {
            got = ::read(failure[0], &error, sizeof error);
        } while (got < 0 && errno == EINTR);
    }
    ::close(failure[0]);
    if (pid < 0) {
        fail(fork_error, "fork");
    }
    if (got == sizeof error) {
        ::waitpid(pid, nullptr, 0);
        fail(error, command.front().c_str());
    }
    return pid;
}

}  // namespace holdfast::cli
