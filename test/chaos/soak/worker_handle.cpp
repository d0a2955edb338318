#include "soak/worker_handle.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace holdfast::soak {

namespace {

std::vector<std::string> worker_command(
    cell_options const& options,
    std::int64_t number,
    bool hands_over,
    std::filesystem::path const& folder
) {
    return {this_program(), "worker",
            "--server",     options.address,
            "--resource",   (folder / "resource").string(),
            "--history",    (folder / fmt::format("worker-{}", number)).string(),
            "--number",     std::to_string(number),
            "--share",      std::to_string(static_cast<int>(options.shared)),
            "--coroutines", std::to_string(options.coroutines),
            "--threads",    std::to_string(number % 3 == 1 ? 1 : 2),
            "--seed",       std::to_string(options.seed),
            "--hand-over",  hands_over ? "1" : "0"};
}

}  // namespace

std::string this_program() {
    return std::filesystem::read_symlink("/proc/self/exe").string();
}

worker_handle::worker_handle(
    cell_options const& options,
    std::int64_t number,
    bool hands_over,
    std::filesystem::path folder
)
    : number_{number},
      hands_over_{hands_over},
      history_{folder / fmt::format("worker-{}", number)},
      child_{worker_command(options, number, hands_over, folder)} {}

std::string worker_handle::read_line(millis limit) {
    auto line = child_.read_line(limit);
    if (!line) {
        throw std::runtime_error{fmt::format("it ended with {}", child_.wait())};
    }
    return *std::move(line);
}

void worker_handle::await_ready(millis limit) {
    constexpr std::string_view word = "ready ";
    auto const line = read_line(limit);
    if (!line.starts_with(word)) {
        throw std::runtime_error{fmt::format("it said \"{}\" instead of \"ready\"", line)};
    }
    client_id_ = line.substr(word.size());
}

void worker_handle::go(millis limit) {
    child_.signal(SIGUSR1);
    if (auto const line = read_line(limit); line != "going") {
        throw std::runtime_error{fmt::format("it said \"{}\" instead of \"going\"", line)};
    }
}

std::optional<levels> worker_handle::await_drained(millis limit) {
    std::optional<std::string> line;
    try {
        line = child_.read_line(limit);
    } catch (std::runtime_error const&) {
        return std::nullopt;
    }
    if (!line) {
        throw std::runtime_error{fmt::format("it ended with {}", child_.wait())};
    }
    std::istringstream in{*line};
    std::string word;
    levels left;
    in >> word >> left.waiters >> left.leases >> left.subscriptions;
    if (!in || word != "drained") {
        throw std::runtime_error{fmt::format("it said \"{}\" instead of \"drained\"", *line)};
    }
    return left;
}

footprint worker_handle::measure() const {
    auto const process = std::filesystem::path{"/proc"} / std::to_string(child_.pid());
    footprint now;
    auto const open = std::distance(
        std::filesystem::directory_iterator{process / "fd"},
        std::filesystem::directory_iterator{}
    );
    now.descriptors = open - connections;
    std::ifstream in{process / "statm"};
    std::int64_t all_pages = 0;
    std::int64_t resident_pages = 0;
    in >> all_pages >> resident_pages;
    now.memory = resident_pages * ::sysconf(_SC_PAGESIZE);
    return now;
}

}  // namespace holdfast::soak
