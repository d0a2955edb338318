#ifndef HOLDFAST_TEST_SUPPORT_CHILD_PROCESS_HPP
#define HOLDFAST_TEST_SUPPORT_CHILD_PROCESS_HPP

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

enum class child_output { inherit, pipe, discard };
enum class child_input { none, pipe };

struct child_options {
    child_output standard_output = child_output::pipe;
    child_output standard_error = child_output::inherit;
    child_input standard_input = child_input::none;
};

/// Another program, run by a test and ended with it.
///
/// The child is killed when this process dies, however it dies. Linux ties that promise to the
/// thread that forked, so all children are forked from one thread that lives as long as the
/// process; a child may therefore be started from any thread.
///
/// The child inherits no descriptor but its standard streams: a socket that a child held open
/// would not be closed for its peer when the test closes it.
///
/// Not thread-safe, except that one thread may read while another one does everything else.
class child_process {
public:
    /// Starts `argv[0]`, looked up in PATH. Throws `std::system_error` if it cannot be started.
    explicit child_process(std::vector<std::string> argv, child_options options = {});
    child_process(child_process&& other) noexcept;
    child_process& operator=(child_process&& other) noexcept;

    /// Kills the child if it still runs, and reaps it.
    ~child_process();

    pid_t pid() const { return pid_; }
    bool running();

    /// The next line without its end; nothing at the end of the output.
    /// Throws `std::runtime_error` when the line does not come in time.
    std::optional<std::string> read_line(
        std::chrono::milliseconds limit = std::chrono::seconds{10}
    );

    /// Writes a line to the child, which needs `child_input::pipe`. False if the child has ended.
    bool write_line(std::string const& line);

    /// The child finds the end of its input.
    void close_input();

    /// All that is left of the output.
    std::string read_all(std::chrono::milliseconds limit = std::chrono::seconds{10});

    /// Sends a signal; does nothing if the child has been reaped.
    void signal(int number);

    /// Sends SIGSTOP and returns once the child has stopped.
    void pause();
    void resume() { signal(SIGCONT); }

    /// Sends the signal and waits for the end; returns as `wait`.
    int kill(int number = SIGKILL);

    /// The exit code, or minus the signal that ended the child.
    /// Throws `std::runtime_error` when the child does not end in time.
    int wait(std::chrono::milliseconds limit = std::chrono::seconds{10});

private:
    bool fill(std::chrono::steady_clock::time_point deadline);
    void dispose() noexcept;

    std::string program_;
    pid_t pid_ = -1;
    int input_ = -1;
    int output_ = -1;
    std::string unread_;
    std::optional<int> status_;
};

/// Runs a program to its end and returns its output, both streams in one.
/// Throws `std::runtime_error`, with that output, when it fails.
std::string run_program(std::vector<std::string> argv);

}  // namespace holdfast::test

#endif
