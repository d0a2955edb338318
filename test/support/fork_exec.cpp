#include "fork_exec.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

namespace holdfast::test {

namespace {

// PR_SET_PDEATHSIG fires when the forking thread ends, not the process. This thread never ends.
class lasting_thread {
public:
    lasting_thread() {
        std::thread{[this] { work(); }}.detach();
    }

    template <class F>
    void run(F&& job) {
        std::packaged_task<void()> task{std::forward<F>(job)};
        auto done = task.get_future();
        {
            std::lock_guard const hold{mutex_};
            jobs_.push_back(std::move(task));
        }
        wake_.notify_one();
        done.get();
    }

private:
    [[noreturn]] void work() {
        for (;;) {
            std::unique_lock hold{mutex_};
            wake_.wait(hold, [this] { return !jobs_.empty(); });
            auto job = std::move(jobs_.front());
            jobs_.pop_front();
            hold.unlock();
            job();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::packaged_task<void()>> jobs_;
};

// Never destroyed: its thread may still wait on it while the process exits.
lasting_thread& forking_thread() {
    static auto& instance = *new lasting_thread;
    return instance;
}

void close_on_exec_from(int first) {
#if defined(CLOSE_RANGE_CLOEXEC)
    if (::close_range(static_cast<unsigned>(first), ~0U, CLOSE_RANGE_CLOEXEC) == 0) {
        return;
    }
#endif
    for (int fd = first; fd < 4096; ++fd) {
        ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
}

// Between fork and exec only async-signal-safe calls are allowed: no allocation in here.
[[noreturn]] void become(char** argv, standard_streams streams, pid_t parent, int report) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
        ::_exit(127);  // the parent died before the line above
    }
    ::dup2(streams.input, STDIN_FILENO);
    ::dup2(streams.output, STDOUT_FILENO);
    ::dup2(streams.error, STDERR_FILENO);
    close_on_exec_from(STDERR_FILENO + 1);

    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    std::signal(SIGPIPE, SIG_DFL);

    ::execvp(argv[0], argv);
    int const error = errno;
    [[maybe_unused]] auto const written = ::write(report, &error, sizeof error);
    ::_exit(127);
}

pid_t fork_and_become(char** argv, standard_streams streams, int& error) {
    int report[2];
    if (::pipe2(report, O_CLOEXEC) != 0) {
        error = errno;
        return -1;
    }
    pid_t const parent = ::getpid();
    pid_t pid = ::fork();
    if (pid == 0) {
        become(argv, streams, parent, report[1]);
    }
    error = pid < 0 ? errno : 0;
    ::close(report[1]);
    // The other end closes on exec; bytes come only if exec failed.
    if (pid > 0 && ::read(report[0], &error, sizeof error) > 0) {
        ::waitpid(pid, nullptr, 0);
        pid = -1;
    }
    ::close(report[0]);
    return pid;
}

}  // namespace

pid_t fork_exec(std::vector<std::string> const& argv, standard_streams streams, int& error) {
    std::vector<char*> pointers;
    for (auto const& argument : argv) {
        pointers.push_back(const_cast<char*>(argument.c_str()));  // execvp does not write to it
    }
    pointers.push_back(nullptr);

    pid_t pid = -1;
    forking_thread().run([&] { pid = fork_and_become(pointers.data(), streams, error); });
    return pid;
}

}  // namespace holdfast::test
