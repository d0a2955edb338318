#include "support/environment.hpp"

#include "protocol/scripts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

namespace holdfast::bench {

environment::environment(bool quick, int fairness_seconds)
    : probe_{server_.probe()},
      quick_{quick},
      fairness_seconds_{fairness_seconds},
      terminal_{::isatty(STDERR_FILENO) == 1} {
    namespace scripts = detail::scripts;
    for (auto const* script :
         {&scripts::lock_acquire, &scripts::lock_renew, &scripts::lock_release}) {
        probe_.cmd("SCRIPT", "LOAD", std::string{script->text});
    }
}

std::int64_t environment::calls(std::vector<std::string_view> const& commands) {
    auto const all = probe_.commandstats();
    std::int64_t sum = 0;
    for (auto const name : commands) {
        if (auto const at = all.find(std::string{name}); at != all.end()) {
            sum += at->second;
        }
    }
    return sum;
}

std::int64_t environment::script_microseconds() {
    auto const text = probe_.info("commandstats").at("cmdstat_evalsha");
    constexpr std::string_view field = ",usec=";
    return std::stoll(text.substr(text.find(field) + field.size()));
}

test::child_process environment::start_child(
    std::vector<std::string> const& arguments,
    std::vector<std::string> under
) const {
    auto& words = under;
    words.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return test::child_process{std::move(words)};
}

void environment::begin(std::string_view question, std::size_t number, std::size_t of) {
    current_ = fmt::format("[{}/{}] {}", number, of, question);
    fmt::print(stderr, "{}{}", current_, terminal_ ? "" : "\n");
    std::fflush(stderr);
}

void environment::progress(int round, int of) const {
    if (terminal_) {
        fmt::print(stderr, "\r\033[K{}: round {} of {}", current_, round + 1, of);
        std::fflush(stderr);
    }
}

void environment::end() const {
    if (terminal_) {
        fmt::print(stderr, "\r\033[K");
        std::fflush(stderr);
    }
}

}  // namespace holdfast::bench
