#include "cli/run/process_group.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace holdfast::cli {

namespace {

bool is_process(std::string const& name) {
    return !name.empty() && name.find_first_not_of("0123456789") == name.npos;
}

}  // namespace

process_stat read_process_stat(std::string_view text) noexcept {
    // "PID (NAME) STATE PARENT GROUP …"
    process_stat read;
    auto const name_ends = text.rfind(") ");
    if (name_ends == text.npos || text.size() < name_ends + 5) {
        return read;
    }
    auto const rest = text.substr(name_ends + 2);
    auto const parent_ends = rest.find(' ', 2);
    if (rest[1] != ' ' || parent_ends == rest.npos) {
        return read;
    }
    auto const group = rest.substr(parent_ends + 1);
    if (std::from_chars(group.data(), group.data() + group.size(), read.group).ec == std::errc{}) {
        read.state = rest[0];
    }
    return read;
}

bool is_alive(pid_t group) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    for (fs::directory_iterator entry{"/proc", ignored}, end; entry != end;
         entry.increment(ignored)) {
        if (!is_process(entry->path().filename().string())) {
            continue;
        }
        // It may be gone by now.
        std::ifstream file{entry->path() / "stat"};
        std::string line;
        std::getline(file, line);
        auto const read = read_process_stat(line);
        if (read.group == group && read.state != '?' && read.state != 'Z' && read.state != 'X') {
            return true;
        }
    }
    return false;
}

}  // namespace holdfast::cli
