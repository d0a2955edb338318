#include "child_process.hpp"

#include "fork_exec.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace holdfast::test {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

int open_null() {
    int const fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        throw std::system_error{errno, std::generic_category(), "opening /dev/null"};
    }
    return fd;
}

int outcome(int wait_status) {
    return WIFSIGNALED(wait_status) ? -WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int stream_for(child_output output, int inherited, int null, int pipe) {
    switch (output) {
        case child_output::pipe: return pipe;
        case child_output::discard: return null;
        case child_output::inherit: break;
    }
    return inherited;
}

}  // namespace

child_process::child_process(std::vector<std::string> argv, child_options options)
    : program_{argv.at(0)} {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        throw std::system_error{errno, std::generic_category(), "pipe2"};
    }
    output_ = ends[0];
    int const null = open_null();
    int inputs[2] = {-1, null};
    if (options.standard_input == child_input::pipe &&
        ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, inputs) != 0) {
        throw std::system_error{errno, std::generic_category(), "socketpair"};
    }
    input_ = inputs[0];
    standard_streams const streams{
        .input = inputs[1],
        .output = stream_for(options.standard_output, STDOUT_FILENO, null, ends[1]),
        .error = stream_for(options.standard_error, STDERR_FILENO, null, ends[1]),
    };
    int error = 0;
    pid_ = fork_exec(argv, streams, error);
    if (inputs[1] != null) {
        ::close(inputs[1]);
    }
    ::close(null);
    ::close(ends[1]);
    if (pid_ < 0) {
        close_input();
        ::close(output_);
        throw std::system_error{error, std::generic_category(), "starting " + program_};
    }
}

child_process::child_process(child_process&& other) noexcept
    : program_{std::move(other.program_)},
      pid_{std::exchange(other.pid_, -1)},
      input_{std::exchange(other.input_, -1)},
      output_{std::exchange(other.output_, -1)},
      unread_{std::move(other.unread_)},
      status_{std::exchange(other.status_, std::nullopt)} {}

child_process& child_process::operator=(child_process&& other) noexcept {
    if (this != &other) {
        dispose();
        program_ = std::move(other.program_);
        pid_ = std::exchange(other.pid_, -1);
        input_ = std::exchange(other.input_, -1);
        output_ = std::exchange(other.output_, -1);
        unread_ = std::move(other.unread_);
        status_ = std::exchange(other.status_, std::nullopt);
    }
    return *this;
}

child_process::~child_process() {
    dispose();
}

void child_process::dispose() noexcept {
    if (pid_ > 0 && !status_) {
        ::kill(pid_, SIGKILL);  // ends a stopped process too
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    close_input();
    if (output_ >= 0) {
        ::close(output_);
    }
    pid_ = -1;
    output_ = -1;
}

bool child_process::running() {
    if (!status_ && pid_ > 0) {
        int raw = 0;
        if (::waitpid(pid_, &raw, WNOHANG) == pid_) {
            status_ = outcome(raw);
        }
    }
    return pid_ > 0 && !status_;
}

bool child_process::fill(steady_clock::time_point deadline) {
    for (;;) {
        auto const left =
            std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now()).count();
        pollfd look{.fd = output_, .events = POLLIN, .revents = 0};
        int const ready = ::poll(&look, 1, static_cast<int>(std::max<long>(left, 0)));
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        if (ready <= 0) {
            throw std::runtime_error{program_ + " wrote nothing in time; unread: " + unread_};
        }
        char bytes[4096];
        auto const count = ::read(output_, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count > 0) {
            unread_.append(bytes, static_cast<std::size_t>(count));
        }
        return count > 0;
    }
}

std::optional<std::string> child_process::read_line(milliseconds limit) {
    auto const deadline = steady_clock::now() + limit;
    for (;;) {
        if (auto const end = unread_.find('\n'); end != std::string::npos) {
            auto line = unread_.substr(0, end);
            unread_.erase(0, end + 1);
            return line;
        }
        if (!fill(deadline)) {
            if (unread_.empty()) {
                return std::nullopt;
            }
            return std::exchange(unread_, {});
        }
    }
}

bool child_process::write_line(std::string const& line) {
    auto const text = line + "\n";
    for (std::size_t sent = 0; sent < text.size();) {
        // The input is a socket, so that a child that has ended raises no SIGPIPE.
        auto const count = ::send(input_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return false;
        }
        sent += static_cast<std::size_t>(count);
    }
    return true;
}

void child_process::close_input() {
    if (input_ >= 0) {
        ::close(std::exchange(input_, -1));
    }
}

std::string child_process::read_all(milliseconds limit) {
    auto const deadline = steady_clock::now() + limit;
    while (fill(deadline)) {
    }
    return std::exchange(unread_, {});
}

void child_process::signal(int number) {
    if (running() && ::kill(pid_, number) != 0) {
        throw std::system_error{errno, std::generic_category(), "kill " + program_};
    }
}

void child_process::pause() {
    signal(SIGSTOP);
    siginfo_t info{};
    // The signal takes effect after kill() returns; a test must not race with it.
    while (running() && ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG) == 0 &&
           info.si_pid == 0) {
        std::this_thread::sleep_for(milliseconds{1});
    }
}

int child_process::kill(int number) {
    signal(number);
    return wait();
}

int child_process::wait(milliseconds limit) {
    auto const deadline = steady_clock::now() + limit;
    while (running()) {
        if (steady_clock::now() >= deadline) {
            throw std::runtime_error{program_ + " did not end in time"};
        }
        std::this_thread::sleep_for(milliseconds{1});
    }
    return status_.value_or(0);
}

std::string run_program(std::vector<std::string> argv) {
    auto const name = argv.at(0);
    child_process child{std::move(argv), {.standard_error = child_output::pipe}};
    auto output = child.read_all();
    if (int const status = child.wait(); status != 0) {
        throw std::runtime_error{name + " ended with " + std::to_string(status) + ": " + output};
    }
    return output;
}

}  // namespace holdfast::test
