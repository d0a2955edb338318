#include "memory_server/commands.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <unordered_map>

namespace holdfast::memory {

namespace {

using command_map = std::unordered_map<std::string_view, command_spec const*>;

constexpr std::size_t longest_name = 48;

command_map all_commands() {
    command_map all;
    for (auto const part :
         {connection_commands(),
          server_commands(),
          sentinel_commands(),
          cluster_commands(),
          channel_commands(),
          script_commands(),
          key_commands(),
          string_commands(),
          hash_commands(),
          list_commands(),
          sorted_set_commands(),
          sorted_set_range_commands()}) {
        for (auto const& one : part) {
            all.emplace(one.name, &one);
        }
    }
    return all;
}

// Writes the words in lower case with a bar between them; empty if they are no command's name.
std::string_view write_name(
    redis_model::words words,
    std::size_t count,
    std::array<char, longest_name>& place
) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (size + words[i].size() + 1 > place.size()) {
            return {};
        }
        if (i > 0) {
            place[size++] = '|';
        }
        for (char const letter : words[i]) {
            place[size++] = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        }
    }
    return {place.data(), size};
}

}  // namespace

command_spec const* find_command(redis_model::words words, bool& container) {
    static command_map const commands = all_commands();
    container = false;
    std::array<char, longest_name> place;
    auto const at = commands.find(write_name(words, 1, place));
    if (at == commands.end()) {
        return nullptr;
    }
    // A command of subcommands does nothing by itself.
    if (at->second->run != nullptr || words.size() == 1) {
        return at->second;
    }
    auto const sub = commands.find(write_name(words, 2, place));
    container = sub == commands.end();
    return container ? nullptr : sub->second;
}

bool arity_fits(command_spec const& command, std::size_t words) {
    auto const count = static_cast<int>(words);
    return command.arity > 0 ? count == command.arity : count >= -command.arity;
}

std::optional<std::string> planned_error(server_state& server, std::string_view name) {
    auto& planned = server.planned;
    auto const at = std::ranges::find(planned, name, &planned_refusal::name);
    if (at == planned.end()) {
        return std::nullopt;
    }
    auto text = at->error;
    if (--at->count == 0) {
        planned.erase(at);
    }
    return text;
}

// --- rights

word_range keys_of(command_spec const& command, redis_model::words words) {
    if (!command.name.starts_with("eval")) {
        return command.keys;
    }
    auto const count = to_integer(words[2]);
    if (!count || *count <= 0 || *count > static_cast<std::int64_t>(words.size()) - 3) {
        return {};
    }
    return {3, static_cast<int>(*count) + 2};
}

namespace {

bool all_match(
    std::vector<std::string> const& patterns,
    word_range where,
    redis_model::words words
) {
    return all_words_of(where, words, [&](std::string_view word) {
        return std::ranges::any_of(patterns, [&](auto const& one) { return matches(one, word); });
    });
}

}  // namespace

denial judge_rights(
    server_state const& server,
    session const& who,
    command_spec const& command,
    redis_model::words words
) {
    auto const user = server.users.find(who.user);
    if (user == server.users.end()) {
        return denial::command;
    }
    auto const& rules = user->second;
    if ((command.flags & no_auth) == 0 && !rules.denied_commands.empty()) {
        std::string const name{command.name};
        if (rules.denied_commands.contains(name) ||
            rules.denied_commands.contains(name.substr(0, name.find('|')))) {
            return denial::command;
        }
    }
    if (rules.keys && !all_match(*rules.keys, keys_of(command, words), words)) {
        return denial::key;
    }
    if (rules.channels && !all_match(*rules.channels, command.channels, words)) {
        return denial::channel;
    }
    return denial::nothing;
}

// --- a server that refuses all or many of its commands

namespace {

constexpr std::string_view oom_text = "OOM command not allowed when used memory > 'maxmemory'.";
constexpr std::string_view misconf_text =
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to "
    "disk. Commands that may modify the data set are disabled, because this instance is configured "
    "to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error "
    "option). Please check the Redis logs for details about the RDB error.";
constexpr std::string_view no_replicas_text = "NOREPLICAS Not enough good replicas to write.";
constexpr std::string_view read_only_text = "READONLY You can't write against a read only replica.";
constexpr std::string_view master_down_text =
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
constexpr std::string_view loading_text = "LOADING Redis is loading the dataset in memory";
constexpr std::string_view busy_text =
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";

}  // namespace

// In the order in which the server looks.
std::string_view refusal_text(
    server_state const& server,
    std::string_view command,
    unsigned flags
) {
    bool const does_write = (flags & writes) != 0;
    if (server.replica && does_write) {
        return read_only_text;
    }
    switch (server.refuses) {
        case refusal::none:
        case refusal::noauth: break;
        case refusal::oom: return (flags & deny_oom) != 0 ? oom_text : "";
        case refusal::misconf: return does_write || command == "ping" ? misconf_text : "";
        case refusal::noreplicas: return does_write ? no_replicas_text : "";
        case refusal::read_only: return does_write ? read_only_text : "";
        case refusal::masterdown:
            if (does_write) {
                return read_only_text;
            }
            return (flags & stale) != 0 ? "" : master_down_text;
        case refusal::loading: return (flags & loading) != 0 ? "" : loading_text;
        case refusal::busy: return (flags & while_busy) != 0 ? "" : busy_text;
    }
    return "";
}

// --- words

std::string_view c_string(std::string_view word) {
    return word.substr(0, word.find('\0'));
}

bool same_word(std::string_view word, std::string_view lower_case) {
    return std::ranges::equal(c_string(word), lower_case, {}, [](char letter) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    });
}

std::string lower_case(std::string_view word) {
    std::string text{word};
    for (char& letter : text) {
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    return text;
}

namespace {

// One set of characters at the start of a pattern, which begins after its bracket; the rest of the
// pattern is left.
bool matches_set(std::string_view& pattern, char letter) {
    bool const except = pattern.starts_with('^');
    pattern.remove_prefix(except ? 1 : 0);
    bool found = false;
    while (!pattern.empty() && pattern.front() != ']') {
        if (pattern.front() == '\\' && pattern.size() >= 2) {
            pattern.remove_prefix(1);
            found = found || pattern.front() == letter;
        } else if (pattern.size() >= 3 && pattern[1] == '-') {
            auto const [least, most] = std::minmax(pattern[0], pattern[2]);
            found = found || (letter >= least && letter <= most);
            pattern.remove_prefix(2);
        } else {
            found = found || pattern.front() == letter;
        }
        pattern.remove_prefix(1);
    }
    if (!pattern.empty()) {
        pattern.remove_prefix(1);
    }
    return found != except;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
    while (!pattern.empty()) {
        char const first = pattern.front();
        pattern.remove_prefix(1);
        if (first == '*') {
            for (std::size_t skipped = 0; skipped <= text.size(); ++skipped) {
                if (matches(pattern, text.substr(skipped))) {
                    return true;
                }
            }
            return false;
        }
        if (text.empty()) {
            return false;
        }
        char const letter = text.front();
        text.remove_prefix(1);
        if (first == '[') {
            if (!matches_set(pattern, letter)) {
                return false;
            }
        } else if (first == '\\' && !pattern.empty()) {
            if (pattern.front() != letter) {
                return false;
            }
            pattern.remove_prefix(1);
        } else if (first != '?' && first != letter) {
            return false;
        }
    }
    return text.empty();
}

// Only the form in which the server itself writes a number.
std::optional<std::int64_t> to_integer(std::string_view word) {
    auto const digits = word.substr(word.starts_with('-') ? 1 : 0);
    bool const canonical = word == "0" || (!digits.empty() && digits[0] >= '1' && digits[0] <= '9');
    std::int64_t number = 0;
    auto const* const end = word.data() + word.size();
    if (!canonical) {
        return std::nullopt;
    }
    auto const [stopped, error] = std::from_chars(word.data(), end, number);
    if (error != std::errc{} || stopped != end) {
        return std::nullopt;
    }
    return number;
}

std::optional<double> to_double(std::string_view word) {
    std::string const text{word};
    if (text.empty() || std::isspace(static_cast<unsigned char>(text[0]))) {
        return std::nullopt;
    }
    errno = 0;
    char* stopped = nullptr;
    double const number = std::strtod(text.c_str(), &stopped);
    bool const lost = errno == ERANGE && (std::isinf(number) || number == 0);
    if (stopped != text.c_str() + text.size() || lost || std::isnan(number)) {
        return std::nullopt;
    }
    return number;
}

std::string to_text(double number) {
    if (std::isinf(number)) {
        return number > 0 ? "inf" : "-inf";
    }
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", number);
    return text;
}

bool add_integers(std::int64_t& sum, std::int64_t addend) {
    std::int64_t result = 0;
    if (__builtin_add_overflow(sum, addend, &result)) {
        return false;
    }
    sum = result;
    return true;
}

// --- errors

value general_error(std::string_view text) {
    auto const first = std::min(text.find_first_not_of("\r\n"), text.size());
    std::string line{text.substr(first, text.find_last_not_of("\r\n") + 1 - first)};
    std::ranges::replace(line, '\r', ' ');
    std::ranges::replace(line, '\n', ' ');
    return value::error("ERR " + line);
}

value wrong_arity(std::string_view command) {
    return value::error("ERR wrong number of arguments for '" + std::string{command} + "' command");
}

value wrong_type() {
    return value::error("WRONGTYPE Operation against a key holding the wrong kind of value");
}

value syntax_error() {
    return value::error("ERR syntax error");
}

value not_an_integer() {
    return value::error("ERR value is not an integer or out of range");
}

}  // namespace holdfast::memory
