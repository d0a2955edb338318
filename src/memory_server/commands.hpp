#ifndef HOLDFAST_MEMORY_SERVER_COMMANDS_HPP
#define HOLDFAST_MEMORY_SERVER_COMMANDS_HPP

#include "memory_server/server_state.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::memory {

/// One call of a command, by a session or by a script of that session.
struct command_call {
    server_state& server;
    session& who;
    redis_model::words words;
    int resp = 2;  // what the caller understands
    /// Set by commands that have answered by way of the session's `out`.
    bool answered = false;
    bool asking = false;  // behind ASKING

    database& data() const { return server.databases()[static_cast<std::size_t>(who.database)]; }
    std::int64_t now_ms() const { return server.now_ms(); }
    std::size_t size() const { return words.size(); }
    std::string_view operator[](std::size_t i) const { return words[i]; }
};

enum command_flag : unsigned {
    writes = 1,
    deny_oom = 2,     // may need memory
    no_script = 4,    // not for scripts
    loading = 8,      // allowed while the server loads its data
    stale = 16,       // allowed on a replica that has lost its master
    no_auth = 32,     // allowed before the log-in
    while_busy = 64,  // allowed while a script runs for ever
};

/// Which words are keys or channels: positions from `first` to `last` (negative: from the end).
struct word_range {
    int first = 0;  // 0: none
    int last = 0;
    int step = 1;
};

struct command_spec {
    std::string_view name;  // in lower case, "script|load" for a subcommand
    int arity = 0;          // words, the name included; negative: at least as many
    unsigned flags = 0;
    word_range keys{};
    value (*run)(command_call& of) = nullptr;
    word_range channels{};
};

std::span<command_spec const> connection_commands();
std::span<command_spec const> server_commands();
std::span<command_spec const> sentinel_commands();
std::span<command_spec const> cluster_commands();
std::span<command_spec const> channel_commands();
std::span<command_spec const> script_commands();
std::span<command_spec const> key_commands();
std::span<command_spec const> string_commands();
std::span<command_spec const> hash_commands();
std::span<command_spec const> list_commands();
std::span<command_spec const> sorted_set_commands();
std::span<command_spec const> sorted_set_range_commands();

/// Null if there is no such command. `container` tells that the first word alone is one.
command_spec const* find_command(redis_model::words words, bool& container);

bool arity_fits(command_spec const& command, std::size_t words);

/// Where its keys are: those of EVAL and its like follow their number.
word_range keys_of(command_spec const& command, redis_model::words words);

/// Calls a function with each word of a range, until it says false.
template <class F>
bool all_words_of(word_range where, redis_model::words words, F f) {
    auto const count = static_cast<int>(words.size());
    int const last = where.last < 0 ? count + where.last : where.last;
    for (int i = where.first; i != 0 && i <= last && i < count; i += where.step) {
        if (!f(words[static_cast<std::size_t>(i)])) {
            return false;
        }
    }
    return true;
}

/// Nothing if the user may run it, else what the denial is about.
enum class denial { nothing, command, key, channel };
denial judge_rights(
    server_state const& server,
    session const& who,
    command_spec const& command,
    redis_model::words words
);

/// What the state of the server has against a command with these flags; empty if nothing.
std::string_view refusal_text(server_state const& server, std::string_view command, unsigned flags);

/// Takes one from the refusals that were planned for a command of this name.
std::optional<std::string> planned_error(server_state& server, std::string_view name);

// --- what commands have in common

// As C sees a word: up to the first NUL.
std::string_view c_string(std::string_view word);
bool same_word(std::string_view word, std::string_view lower_case);  // ignores case
std::string lower_case(std::string_view word);
bool matches(std::string_view pattern, std::string_view text);  // `*`, `?`, `[...]`

std::optional<std::int64_t> to_integer(std::string_view word);
std::optional<double> to_double(std::string_view word);
std::string to_text(double number);  // as replies have it
/// False if it does not fit.
bool add_integers(std::int64_t& sum, std::int64_t addend);

// Errors. `general_error` puts ERR before the text, and makes one line of it.
value general_error(std::string_view text);
value wrong_arity(std::string_view command);
value wrong_type();
value syntax_error();
value not_an_integer();

/// The content of a key, if it is there and of this type. `wrong` tells of another type.
template <class Content>
Content* find_content(command_call& of, std::string_view key, bool& wrong) {
    auto* const found = of.data().find(key, of.now_ms());
    if (found == nullptr) {
        return nullptr;
    }
    auto* const content = std::get_if<Content>(&found->content);
    wrong = content == nullptr;
    return content;
}

template <class Content>
Content& make_content(command_call& of, std::string_view key) {
    return std::get<Content>(of.data().put(key, {Content{}, entry::never}).content);
}

}  // namespace holdfast::memory

#endif
