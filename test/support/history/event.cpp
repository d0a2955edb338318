#include "support/history/event.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

namespace holdfast::history {

namespace {

// In their order.
constexpr std::string_view names[] = {
    "invoke",      "granted",     "no_lease",   "failed",   "moved",   "looked",      "renew",
    "renewed",     "lost",        "releasing",  "released", "stalled", "observes",    "observed",
    "read",        "written",     "fault",      "healed",   "calm",    "data_lost",   "failed_over",
    "switched",    "no_majority", "redirected", "paused",   "killed",  "clock_moved", "unclean",
    "left_behind", "stuck",       "died"
};
static_assert(std::size(names) == static_cast<std::size_t>(happening::died) + 1);

constexpr std::array members{
    std::pair{"process", &event::process},
    std::pair{"op", &event::op},
    std::pair{"lock", &event::lock},
    std::pair{"token", &event::token},
    std::pair{"deadline", &event::deadline},
    std::pair{"since", &event::since},
    std::pair{"limit", &event::limit},
    std::pair{"owner", &event::owner},
    std::pair{"flags", &event::flags},
    std::pair{"locks", &event::locks},
    std::pair{"permits", &event::permits},
};

[[noreturn]] void refuse(std::string_view line) {
    throw unreadable{fmt::format("not an event: \"{}\"", line)};
}

std::int64_t to_number(std::string_view text, std::string_view line) {
    std::int64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
        refuse(line);
    }
    return value;
}

happening to_happening(std::string_view text, std::string_view line) {
    auto const* const found = std::find(std::begin(names), std::end(names), text);
    if (found == std::end(names)) {
        refuse(line);
    }
    return static_cast<happening>(found - names);
}

std::string_view next_word(std::string_view& rest) {
    auto const end = rest.find(' ');
    auto const word = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return word;
}

void set_member(event& e, std::string_view field, std::string_view line) {
    auto const at = field.find('=');
    if (at == std::string_view::npos) {
        refuse(line);
    }
    auto const name = field.substr(0, at);
    auto const value = field.substr(at + 1);
    if (name == "word") {
        e.word = value;
        return;
    }
    for (auto const& [known, member] : members) {
        if (name == known) {
            e.*member = to_number(value, line);
            return;
        }
    }
    refuse(line);
}

}  // namespace

std::string_view name_of(happening what) {
    return names[static_cast<std::size_t>(what)];
}

std::string to_line(event const& e) {
    static event const defaults;
    auto line = fmt::format("{} {}", e.at, name_of(e.what));
    for (auto const& [name, member] : members) {
        if (e.*member != defaults.*member) {
            line += fmt::format(" {}={}", name, e.*member);
        }
    }
    if (!e.word.empty()) {
        line += " word=" + e.word;
    }
    return line;
}

event parse_line(std::string_view line) {
    auto rest = line;
    event e;
    e.at = to_number(next_word(rest), line);
    e.what = to_happening(next_word(rest), line);
    while (!rest.empty()) {
        set_member(e, next_word(rest), line);
    }
    return e;
}

history_file::history_file(std::filesystem::path const& path)
    : descriptor_{::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)} {
    if (descriptor_ < 0) {
        throw std::system_error{errno, std::generic_category(), "opening " + path.string()};
    }
}

history_file::~history_file() {
    ::close(descriptor_);
}

void history_file::add(event const& e) {
    auto const line = to_line(e) + "\n";
    std::lock_guard const hold{mutex_};
    if (::write(descriptor_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        throw std::system_error{errno, std::generic_category(), "writing the history"};
    }
}

namespace {

// Only so that a long run does not fill the disk: where that cannot be done, it may.
void forget_beginning(std::filesystem::path const& path, std::uintmax_t size) {
    if (int const descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC); descriptor >= 0) {
        [[maybe_unused]] auto const done = ::fallocate(
            descriptor,
            FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            0,
            static_cast<off_t>(size)
        );
        ::close(descriptor);
    }
}

}  // namespace

std::vector<event> history_reader::read() {
    std::ifstream in{path_, std::ios::binary};
    if (!in && !std::filesystem::exists(path_)) {
        return {};
    }
    if (!in || !in.seekg(static_cast<std::streamoff>(read_))) {
        throw unreadable{"cannot read " + path_.string()};
    }
    std::ostringstream text;
    text << in.rdbuf();
    auto const added = std::move(text).str();
    std::vector<event> events;
    std::size_t from = 0;
    for (auto end = added.find('\n'); end != std::string::npos; end = added.find('\n', from)) {
        events.push_back(parse_line(std::string_view{added}.substr(from, end - from)));
        from = end + 1;
    }
    read_ += from;
    forget_beginning(path_, read_);
    return events;
}

}  // namespace holdfast::history
