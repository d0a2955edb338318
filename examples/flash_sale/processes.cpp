#include "processes.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace flash_sale {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto start_limit = 20s;
constexpr auto end_limit = 3s;

[[noreturn]] void fail(std::string const& what) {
    throw std::system_error{errno, std::generic_category(), what};
}

// Between fork and exec only calls that are safe in a signal handler are allowed: no allocation in
// here.
[[noreturn]] void become(char* const* argv, int output, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
        ::_exit(127);  // it died before the line above
    }
    // Control-C is for the demo alone, which then ends the others in order.
    ::setpgid(0, 0);
    ::dup2(output, STDOUT_FILENO);
    ::close_range(STDERR_FILENO + 1, ~0U, 0);
    // What the demo blocks or ignores would be inherited.
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    std::signal(SIGPIPE, SIG_DFL);
    ::execvp(argv[0], argv);
    ::_exit(127);
}

std::filesystem::path make_folder() {
    auto base = std::filesystem::temp_directory_path();
    // The path of a socket must fit into 107 bytes.
    if (base.native().size() > 70) {
        base = "/tmp";
    }
    auto name = (base / "flash-sale-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        fail("mkdtemp " + name);
    }
    return name;
}

}  // namespace

child_process::child_process(std::vector<std::string> argv) : name_{argv.at(0)} {
    std::vector<char*> pointers;
    for (auto& argument : argv) {
        pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);

    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
        fail("pipe");
    }
    auto const parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
        become(pointers.data(), pipe[1], parent);
    }
    ::close(pipe[1]);
    output_ = pipe[0];
    if (pid_ < 0) {
        ::close(output_);
        fail("fork");
    }
}

child_process::child_process(child_process&& other) noexcept
    : name_{std::move(other.name_)},
      pid_{std::exchange(other.pid_, -1)},
      output_{std::exchange(other.output_, -1)} {}

child_process::~child_process() {
    if (pid_ > 0) {
        ::kill(pid_, SIGCONT);
        end(SIGTERM);
    }
    if (output_ >= 0) {
        ::close(output_);
    }
}

std::string child_process::read_line() {
    auto const deadline = steady_clock::now() + start_limit;
    std::string line;
    while (steady_clock::now() < deadline) {
        pollfd readable{.fd = output_, .events = POLLIN, .revents = 0};
        if (::poll(&readable, 1, 100) <= 0) {
            continue;
        }
        char next = 0;
        if (::read(output_, &next, 1) <= 0) {
            throw std::runtime_error{name_ + " has ended too early"};
        }
        if (next == '\n') {
            return line;
        }
        line += next;
    }
    throw std::runtime_error{name_ + " does not get ready"};
}

bool child_process::running() {
    if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) {
        pid_ = -1;
    }
    return pid_ > 0;
}

void child_process::pause() {
    if (pid_ > 0 && ::kill(pid_, SIGSTOP) == 0) {
        int status = 0;
        if (::waitpid(pid_, &status, WUNTRACED) == pid_ && !WIFSTOPPED(status)) {
            pid_ = -1;
        }
    }
}

void child_process::resume() {
    if (pid_ > 0) {
        ::kill(pid_, SIGCONT);
    }
}

void child_process::kill() {
    if (pid_ > 0) {
        end(SIGKILL);
    }
}

void child_process::end(int signal) {
    ::kill(pid_, signal);
    auto const deadline = steady_clock::now() + end_limit;
    while (running()) {
        if (steady_clock::now() > deadline) {
            ::kill(pid_, SIGKILL);
        }
        std::this_thread::sleep_for(2ms);
    }
}

private_redis::private_redis() : folder_{make_folder()} {
    try {
        auto const folder = folder_.string();
        process_.emplace(std::vector<std::string>{
            "redis-server",
            "--port",
            "0",
            "--unixsocket",
            folder + "/redis",
            "--unixsocketperm",
            "700",
            "--dir",
            folder,
            "--logfile",
            folder + "/log",
            "--save",
            "",
            "--appendonly",
            "no",
            "--daemonize",
            "no",
        });
        wait_until_listening();
    } catch (...) {
        process_.reset();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
        throw;
    }
}

private_redis::~private_redis() {
    process_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

std::string private_redis::url() const {
    return "unix://" + (folder_ / "redis").string();
}

void private_redis::wait_until_listening() {
    boost::asio::io_context context;
    boost::asio::local::stream_protocol::endpoint const endpoint{(folder_ / "redis").string()};
    auto const deadline = steady_clock::now() + start_limit;
    while (process_->running() && steady_clock::now() < deadline) {
        boost::asio::local::stream_protocol::socket socket{context};
        boost::system::error_code error;
        if (!socket.connect(endpoint, error)) {
            return;
        }
        std::this_thread::sleep_for(5ms);
    }
    throw std::runtime_error{"redis-server could not be started: is it installed?"};
}

std::vector<server_process> start_servers(
    std::size_t count,
    std::string const& redis_url,
    std::string const& locks_url,
    bool locked,
    std::uint16_t metrics_port
) {
    auto const program =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "shop_server";
    if (!std::filesystem::exists(program)) {
        throw std::runtime_error{"shop_server is not beside flash_sale_demo"};
    }
    std::vector<server_process> result;
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<std::string> command{
            program.string(),
            "--redis",
            redis_url,
            "--locks",
            locks_url,
            locked ? "--lock" : "--no-lock"
        };
        if (metrics_port != 0) {
            command.insert(command.end(), {"--metrics", std::to_string(metrics_port + i)});
        }
        result.push_back({child_process{std::move(command)}});
    }
    for (auto& server : result) {
        server.port = static_cast<std::uint16_t>(std::stoul(server.process.read_line()));
    }
    return result;
}

}  // namespace flash_sale
