#include "cli/run/terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

namespace holdfast::cli {

terminal::terminal() noexcept : descriptor_{::open("/dev/tty", O_RDWR | O_CLOEXEC)} {}

terminal::~terminal() {
    take_back();
    if (there()) {
        ::close(descriptor_);
    }
}

bool terminal::ours() const noexcept {
    return there() && ::tcgetpgrp(descriptor_) == ::getpgrp();
}

bool terminal::for_command() const noexcept {
    return ours() && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

void terminal::give_to(pid_t group) noexcept {
    if (there()) {
        set_foreground_group(descriptor_, group);
        given_ = true;
    }
}

void terminal::take_back() noexcept {
    if (given_) {
        set_foreground_group(descriptor_, ::getpgrp());
        given_ = false;
    }
}

void set_foreground_group(int terminal, pid_t group) noexcept {
    // A group that has not the terminal would be stopped for this.
    sigset_t stop;
    sigset_t before;
    ::sigemptyset(&stop);
    ::sigaddset(&stop, SIGTTOU);
    ::pthread_sigmask(SIG_BLOCK, &stop, &before);
    ::tcsetpgrp(terminal, group);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace holdfast::cli
