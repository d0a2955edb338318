#include "simulation/script_commands.hpp"

#include "protocol/reply.hpp"
#include "protocol/scripts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

namespace holdfast::sim {

namespace {

// What follows the kind of the lock.
std::string_view deed_of(std::string_view script) {
    return script.substr(std::min(script.find('.') + 1, script.size()));
}

bool respects_queue(command_words const& command) {
    return std::any_of(command.begin() + 3, command.end(), [](std::string_view word) {
        return word.starts_with("holdfast_queue:");
    });
}

// A writer's field is its holder id, and more.
std::string_view holder_of(std::string_view field) {
    constexpr std::string_view more = ":write";
    return field.substr(0, field.size() - (field.ends_with(more) ? more.size() : 0));
}

std::string_view holder_in(command_words const& command, std::string_view script) {
    // After the keys' number come the keys and then the arguments.
    auto const keys = static_cast<std::size_t>(command[2][0] - '0');
    bool const comes_first = script.ends_with("lock.release") || script.ends_with("raise_token");
    std::size_t const at = 3 + keys + (comes_first ? 0 : 1);
    return at < command.size() ? holder_of(command[at]) : std::string_view{};
}

bool extends(command_words const& command, std::string_view script) {
    auto const keys = static_cast<std::size_t>(command[2][0] - '0');
    return script.ends_with("lock.renew") && command.at(3 + keys) != "0";
}

std::size_t keys_in(command_words const& command) {
    std::size_t keys = 0;
    std::from_chars(command[2].data(), command[2].data() + command[2].size(), keys);
    return keys;
}

std::vector<deed> renewals_in(
    command_words const& command,
    std::string_view script,
    value const& answer
) {
    bool const reads = script.starts_with("read");
    std::size_t const keys_of_each = reads ? 2 : 1;
    auto const keys = keys_in(command);
    detail::script_reply const said{answer.text};
    std::vector<deed> all;
    for (std::size_t i = 0; i < keys / keys_of_each; ++i) {
        auto reply = answer;
        if (!answer.is_error()) {
            auto const digit = said.text(0).at(i);
            auto const words = digit == '1' ? "1" : digit == '2' ? "0 1" : "0 0";
            reply = digit == '9' ? value::error("ERR it failed")
                                 : value::bulk(std::string{said.nonce()} + " " + words);
        }
        all.push_back({
            .script = reads ? "read_lock.renew" : "lock.renew",
            .does = "renew",
            .lock = command[3 + i * keys_of_each],
            .holder = holder_of(command[3 + keys + 2 * i + 1]),
            .reply = std::move(reply),
            .extends = true,
        });
    }
    return all;
}

// The locks of a request for all or none, and the arguments before their holder ids.
command_words locks_in(command_words const& command) {
    auto const keys = keys_in(command);
    auto const count = command.size() - 3 - keys - 3;
    command_words locks;
    for (std::size_t i = 0; i < count; ++i) {
        locks.push_back(command[3 + i * (keys / count)]);
    }
    return locks;
}

// A refusal is about one of them, a grant and an error about all.
std::vector<deed> attempts_in(command_words const& command, value const& answer) {
    auto const first_holder = 3 + keys_in(command) + 2;
    detail::script_reply const said{answer.text};
    bool const all_are_meant = answer.is_error() || said.integer(0) == 1;
    auto const locks = locks_in(command);
    std::vector<deed> all;
    for (std::size_t i = 0; i < locks.size(); ++i) {
        if (!all_are_meant && said.integer(1, -1) != static_cast<std::int64_t>(i)) {
            continue;
        }
        auto reply = answer;
        if (!answer.is_error()) {
            reply = value::bulk(std::string{said.nonce()} + " " + std::string{said.text(0)});
            reply.text += all_are_meant ? " " + std::string{said.text(i + 1)} : "";
        }
        all.push_back({
            .script = "lock.acquire",
            .does = "acquire",
            .lock = locks[i],
            .holder = command[first_holder + i],
            .reply = std::move(reply),
            .queues = respects_queue(command),
        });
    }
    return all;
}

}  // namespace

std::optional<std::vector<command_words>> commands_in(std::string_view bytes) {
    auto const number = [&bytes](char kind) -> std::optional<std::size_t> {
        auto const end = bytes.find("\r\n");
        std::size_t value = 0;
        if (bytes.empty() || bytes.front() != kind || end == std::string_view::npos) {
            return std::nullopt;
        }
        std::from_chars(bytes.data() + 1, bytes.data() + end, value);
        bytes.remove_prefix(end + 2);
        return value;
    };
    std::vector<command_words> commands;
    while (!bytes.empty()) {
        auto const words = number('*');
        auto& command = commands.emplace_back();
        for (std::size_t i = 0; words && i < *words; ++i) {
            auto const size = number('$');
            if (!size || *size + 2 > bytes.size()) {
                return std::nullopt;
            }
            command.push_back(bytes.substr(0, *size));
            bytes.remove_prefix(*size + 2);
        }
        if (command.empty()) {
            return std::nullopt;
        }
    }
    return commands;
}

std::string_view script_of(command_words const& command) {
    namespace scripts = detail::scripts;
    static std::array const known{
        &scripts::lock_acquire,
        &scripts::lock_take_over,
        &scripts::lock_release,
        &scripts::lock_renew,
        &scripts::lock_renew_many,
        &scripts::lock_inspect,
        &scripts::lock_force_release,
        &scripts::fair_lock_acquire,
        &scripts::fair_lock_release,
        &scripts::fair_lock_inspect,
        &scripts::fair_lock_force_release,
        &scripts::semaphore_acquire,
        &scripts::semaphore_release,
        &scripts::semaphore_renew,
        &scripts::semaphore_renew_many,
        &scripts::semaphore_inspect,
        &scripts::semaphore_set_permits,
        &scripts::semaphore_force_release,
        &scripts::counted_read,
        &scripts::counted_try_set,
        &scripts::latch_count_down,
        &scripts::counting_semaphore_acquire,
        &scripts::counting_semaphore_withdraw,
        &scripts::counting_semaphore_add,
        &scripts::counting_semaphore_drain,
        &scripts::multi_lock_acquire,
        &scripts::quorum_lock_acquire,
        &scripts::quorum_lock_raise_token,
        &scripts::read_lock_acquire,
        &scripts::read_lock_release,
        &scripts::read_lock_renew,
        &scripts::read_lock_renew_many,
        &scripts::write_lock_acquire,
        &scripts::write_lock_release,
        &scripts::read_write_lock_inspect,
        &scripts::read_write_lock_force_release,
    };
    if (command.size() > 2 && (command[0] == "EVALSHA" || command[0] == "EVAL")) {
        for (auto const* one : known) {
            for (auto const dialect :
                 {detail::script_dialect::single,
                  detail::script_dialect::cluster,
                  detail::script_dialect::sharded}) {
                auto const form = one->in(dialect);
                if (command[1] == (command[0] == "EVAL" ? form.text : form.sha1)) {
                    return one->name;
                }
            }
        }
    }
    return {};
}

bool is_counted(std::string_view script) {
    return script.starts_with("counted.") || script.starts_with("latch.") ||
           script.starts_with("counting_semaphore.");
}

command_words locks_given_by(command_words const& command, std::string_view script) {
    bool const may_give = script.ends_with(".acquire") || script.ends_with(".release") ||
                          script == "read_write_lock.force_release";
    if (!may_give) {
        return {};
    }
    return script == "multi_lock.acquire" ? locks_in(command) : command_words{command[3]};
}

std::vector<deed> deeds_of(
    command_words const& command,
    std::string_view script,
    value const& answer
) {
    if (script == "semaphore.renew_many") {
        return {{.script = script, .does = "renew", .reply = answer, .extends = true}};
    }
    if (script.ends_with("lock.renew_many")) {
        return renewals_in(command, script, answer);
    }
    if (script == "multi_lock.acquire") {
        return attempts_in(command, answer);
    }
    return {{
        .script = script,
        .does = deed_of(script),
        .lock = command[3],
        .holder = holder_in(command, script),
        .reply = answer,
        .queues = respects_queue(command),
        .extends = extends(command, script),
    }};
}

}  // namespace holdfast::sim
