#include "support/one_cpu.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace holdfast::bench {

namespace {

cpu_set_t allowed(pid_t thread) {
    cpu_set_t set;
    if (::sched_getaffinity(thread, sizeof set, &set) != 0) {
        throw std::system_error{errno, std::generic_category(), "sched_getaffinity"};
    }
    return set;
}

std::vector<pid_t> threads_of(pid_t process) {
    std::vector<pid_t> threads;
    auto const folder = fmt::format("/proc/{}/task", process);
    for (auto const& entry : std::filesystem::directory_iterator{folder}) {
        auto const name = entry.path().filename().string();
        pid_t id = 0;
        std::from_chars(name.data(), name.data() + name.size(), id);
        threads.push_back(id);
    }
    return threads;
}

}  // namespace

int one_cpu::chosen() {
    auto const set = allowed(0);
    int cpu = CPU_SETSIZE - 1;
    while (cpu > 0 && !CPU_ISSET(static_cast<std::size_t>(cpu), &set)) {
        --cpu;
    }
    return cpu;
}

one_cpu::one_cpu(pid_t other) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<std::size_t>(chosen()), &only);
    for (auto const process : {::getpid(), other}) {
        for (auto const thread : threads_of(process)) {
            before_.emplace_back(thread, allowed(thread));
            if (::sched_setaffinity(thread, sizeof only, &only) != 0) {
                throw std::system_error{errno, std::generic_category(), "sched_setaffinity"};
            }
        }
    }
}

// A thread may have ended in the meantime.
one_cpu::~one_cpu() {
    for (auto const& [thread, set] : before_) {
        ::sched_setaffinity(thread, sizeof set, &set);
    }
}

}  // namespace holdfast::bench
