#include "redis_server.hpp"

#include "free_port.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace holdfast::test {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto start_limit = 20s;
constexpr int start_attempts = 5;

std::string default_program() {
    auto const* const named = std::getenv("HOLDFAST_TEST_SERVER");
    return named ? named : "redis-server";
}

std::filesystem::path make_folder() {
    auto name = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        throw std::system_error{errno, std::generic_category(), "mkdtemp " + name};
    }
    return name;
}

}  // namespace

bool server_speaks_tls() {
    static bool const speaks = [] {
        // One that nobody can reach ends at once. Without TLS it does not know the word.
        try {
            run_program({default_program(), "--port", "0", "--tls-port", "0"});
            return true;
        } catch (std::runtime_error const& ended) {
            std::string_view const output{ended.what()};
            return output.find("Bad directive") == std::string_view::npos;
        }
    }();
    return speaks;
}

int server_major() {
    static int const major = [] {
        auto const text = run_program({default_program(), "--version"});
        return std::stoi(text.substr(text.find(" v=") + 3));
    }();
    return major;
}

redis_server::redis_server(server_options options)
    : options_{std::move(options)},
      folder_{make_folder()} {
    if (options_.program.empty()) {
        options_.program = default_program();
    }
    try {
        if (options_.tls) {
            authority_.emplace(folder_ / "tls");
            certificate_ = authority_->issue(*options_.tls);
        }
        for (int attempt = 1;; ++attempt) {
            remove_data();
            tcp_port_ = options_.cluster ? free_cluster_port()
                        : options_.tcp   ? free_tcp_port()
                                         : std::uint16_t{0};
            tls_port_ = options_.tls ? free_tcp_port() : std::uint16_t{0};
            try {
                start();
                return;
            } catch (std::runtime_error const&) {
                // Between the choice of a port and the start somebody else may have taken it.
                bool const collision = log().find("Address already in use") != std::string::npos;
                if (!collision || attempt == start_attempts) {
                    throw;
                }
            }
        }
    } catch (...) {
        process_.reset();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
        throw;
    }
}

redis_server::~redis_server() {
    try {
        stop();
    } catch (std::exception const&) {
        process_.reset();  // kills
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

std::string redis_server::tcp_url() const {
    return "redis://" + address() + ":" + std::to_string(tcp_port_);
}

std::string redis_server::tls_url() const {
    return "rediss://localhost:" + std::to_string(tls_port_);
}

std::string redis_server::ca_file() const {
    return authority_ ? authority_->ca_file() : std::string{};
}

pid_t redis_server::pid() const {
    return process_ ? process_->pid() : -1;
}

std::string redis_server::log() const {
    std::ifstream in{folder_ / "log"};
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

redis_probe redis_server::probe() const {
    return redis_probe{unix_socket(), {.user = {}, .password = options_.password}};
}

certificate redis_server::issue_certificate(certificate_options const& options) {
    return authority_.value().issue(options);
}

void redis_server::pause() {
    process_.value().pause();
}

void redis_server::resume() {
    process_.value().resume();
}

void redis_server::kill() {
    if (process_) {
        process_->kill(SIGKILL);
        process_.reset();
    }
}

void redis_server::stop() {
    if (process_) {
        process_->resume();
        process_->kill(SIGTERM);
        process_.reset();
    }
}

void redis_server::restart(bool keep_data) {
    kill();
    if (!keep_data) {
        remove_data();
    }
    start();
}

void redis_server::remove_data() const {
    std::filesystem::remove_all(folder_ / "data");
    std::filesystem::remove(folder_ / "configuration");
}

std::vector<std::string> redis_server::command_line() const {
    auto words = options_.place.launcher;
    words.push_back(options_.program);
    words.push_back((folder_ / "configuration").string());
    if (options_.sentinel) {
        words.emplace_back("--sentinel");
    }
    return words;
}

void redis_server::write_configuration() const {
    std::ofstream out{folder_ / "configuration"};
    out << "bind " << address() << "\n"
        << "protected-mode no\n"
        << "port " << tcp_port_ << "\n"
        << "unixsocket " << unix_socket() << "\n"
        << "unixsocketperm 700\n"
        << "dir " << (folder_ / "data").string() << "\n"
        << "logfile " << (folder_ / "log").string() << "\n"
        << "loglevel notice\n"
        << "daemonize no\n"
        << "save \"\"\n";
    if (options_.appendonly) {
        out << "appendonly yes\nappendfsync always\n";
    }
    if (options_.cluster) {
        out << "cluster-enabled yes\n";
    }
    if (options_.tls) {
        out << "tls-port " << tls_port_ << "\n"
            << "tls-cert-file " << certificate_.certificate_file << "\n"
            << "tls-key-file " << certificate_.key_file << "\n"
            << "tls-ca-cert-file " << authority_->ca_file() << "\n"
            << "tls-auth-clients " << (options_.tls_auth_clients ? "yes" : "no") << "\n";
    }
    if (!options_.password.empty()) {
        out << "requirepass " << options_.password << "\n";
    }
    for (auto const& user : options_.users) {
        out << "user " << user << "\n";
    }
    for (auto const& line : options_.extra) {
        out << line << "\n";
    }
    if (!out.flush()) {
        throw std::runtime_error{"cannot write the server's configuration"};
    }
}

void redis_server::start() {
    std::filesystem::create_directories(folder_ / "data");
    std::filesystem::remove(folder_ / "log");
    std::filesystem::remove(unix_socket());  // a killed server leaves it behind
    // A Sentinel has written what it knows into it.
    if (!options_.sentinel || !std::filesystem::exists(folder_ / "configuration")) {
        write_configuration();
    }
    process_.emplace(
        command_line(),
        child_options{.standard_output = child_output::pipe, .standard_error = child_output::pipe}
    );
    if (!wait_until_ready()) {
        process_->kill();
        auto const text = log() + process_->read_all();  // complaints about the configuration
        process_.reset();
        auto const tail = text.size() > 2000 ? text.substr(text.size() - 2000) : text;
        throw std::runtime_error{options_.program + " does not answer; its log ends:\n" + tail};
    }
}

bool redis_server::wait_until_ready() {
    auto const deadline = steady_clock::now() + start_limit;
    while (process_->running() && steady_clock::now() < deadline) {
        try {
            redis_probe look{unix_socket()};
            auto const reply = look.cmd("PING");
            // A server that wants a password is up; one that loads its data is not yet.
            if (!reply.is_error() || reply.text.starts_with("NOAUTH")) {
                return true;
            }
        } catch (std::exception const&) {
            // not listening yet
        }
        std::this_thread::sleep_for(5ms);
    }
    return false;
}

}  // namespace holdfast::test
