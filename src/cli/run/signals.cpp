#include "cli/run/signals.hpp"

#include <unistd.h>

#include <array>

namespace holdfast::cli {

namespace {

constexpr std::array requests{
    SIGHUP,
    SIGINT,
    SIGQUIT,
    SIGTERM,
    SIGUSR1,
    SIGUSR2,
    SIGALRM,
    SIGWINCH,
    SIGTSTP,
    SIGCONT,
};

bool is_ignored(int signal) {
    struct sigaction now{};
    return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

struct sigaction default_action() noexcept {
    struct sigaction action{};
    action.sa_handler = SIG_DFL;
    return action;
}

}  // namespace

inherited_signals::inherited_signals() {
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
    for (int const signal : requests) {
        if (!is_ignored(signal)) {
            passed_on_.push_back(signal);
        }
    }
}

void inherited_signals::restore() const noexcept {
    auto const action = default_action();
    for (int const signal : passed_on_) {
        ::sigaction(signal, &action, nullptr);
    }
    ::sigaction(SIGCHLD, &action, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
}

bool asks_to_end(int signal) noexcept {
    return signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM;
}

blocked_signals::blocked_signals() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}

blocked_signals::~blocked_signals() {
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void stop_own_group() noexcept {
    auto const action = default_action();
    struct sigaction before{};
    ::sigaction(SIGTSTP, &action, &before);
    ::kill(0, SIGTSTP);
    ::sigaction(SIGTSTP, &before, nullptr);
}

void end_by(int signal) noexcept {
    auto const action = default_action();
    ::sigaction(signal, &action, nullptr);
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, signal);
    ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
    ::raise(signal);
}

}  // namespace holdfast::cli
