#include "cli/run/process_tree.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <system_error>

namespace holdfast::cli {

namespace {

std::optional<process_stat> stat_of(std::string const& process) {
    // It may be gone by now.
    std::ifstream file{"/proc/" + process + "/stat"};
    std::string line;
    std::getline(file, line);
    return read_process_stat(line);
}

std::vector<process_tree::member> all_processes() {
    namespace fs = std::filesystem;
    std::vector<process_tree::member> all;
    std::error_code ignored;
    for (fs::directory_iterator entry{"/proc", ignored}, end; entry != end;
         entry.increment(ignored)) {
        auto const name = entry->path().filename().string();
        pid_t id = 0;
        auto const read = std::from_chars(name.data(), name.data() + name.size(), id);
        if (read.ec != std::errc{} || read.ptr != name.data() + name.size()) {
            continue;
        }
        if (auto const what = stat_of(name)) {
            all.push_back({id, *what});
        }
    }
    return all;
}

// The C library has these calls since version 2.36 only.
int open_process(pid_t id) noexcept {
    return static_cast<int>(::syscall(SYS_pidfd_open, id, 0U));
}

bool signal_process(int descriptor, int number) noexcept {
    return ::syscall(SYS_pidfd_send_signal, descriptor, number, nullptr, 0U) == 0;
}

// Between the look and now it may have ended, and its id may be another's.
void signal_same(process_tree::member const& to, int number) {
    int const descriptor = open_process(to.id);
    if (descriptor < 0 && errno == ESRCH) {
        return;
    }
    auto const now = stat_of(std::to_string(to.id));
    // The kernel may not have these calls, and a container may forbid them.
    if (now && now->started == to.what.started &&
        (descriptor < 0 || !signal_process(descriptor, number))) {
        ::kill(to.id, number);
    }
    if (descriptor >= 0) {
        ::close(descriptor);
    }
}

}  // namespace

std::optional<process_stat> read_process_stat(std::string_view text) {
    // "PID (NAME) STATE PARENT GROUP SESSION …", the start is the 22nd word.
    auto const name_ends = text.rfind(") ");
    if (name_ends == text.npos) {
        return std::nullopt;
    }
    std::istringstream rest{std::string{text.substr(name_ends + 2)}};
    process_stat read;
    rest >> read.state >> read.parent >> read.group >> read.session;
    std::string skipped;
    for (int word = 7; word < 22; ++word) {
        rest >> skipped;
    }
    rest >> read.started;
    return rest ? std::optional{read} : std::nullopt;
}

process_tree process_tree::below(pid_t root) {
    return {all_processes(), root};
}

process_tree::process_tree(std::vector<member> const& all, pid_t root) {
    // Ids say nothing of who came first: until nobody is added.
    std::set<pid_t> known{root};
    for (bool more = true; more;) {
        more = false;
        for (auto const& one : all) {
            if (known.contains(one.what.parent) && known.insert(one.id).second) {
                more = true;
                members_.push_back(one);
            }
        }
    }
}

void process_tree::keep_only_session(pid_t session) {
    std::erase_if(members_, [&](member const& one) { return one.what.session != session; });
}

bool process_tree::any_alive() const noexcept {
    return std::ranges::any_of(members_, [](member const& one) {
        return one.what.state != 'Z' && one.what.state != 'X';
    });
}

void process_tree::signal(int number) const {
    for (auto const& one : members_) {
        signal_same(one, number);
    }
}

}  // namespace holdfast::cli
