// EVAL, EVALSHA and SCRIPT, and what a script may call.

#include "memory_server/commands.hpp"
#include "memory_server/lua_scripts.hpp"

#include <array>

namespace holdfast::memory {

namespace {

std::shared_ptr<script_text const> find_script(server_state const& server, std::string_view sha1) {
    auto const at = server.scripts.find(sha1);
    return at == server.scripts.end() ? nullptr : at->second;
}

std::string_view denial_text(denial what) {
    switch (what) {
        case denial::command: return "can't run this command or subcommand";
        case denial::key:
            return "can't access at least one of the keys mentioned in the command arguments";
        default: return "can't publish to the channel mentioned in the command";
    }
}

/// A running script's access to the server. What the server refuses while in some state, it refuses
/// until the script has written for the first time: half a script would be worse.
class running_script final : public script_host {
public:
    explicit running_script(command_call& of) : of_{of} {}

    answer execute(std::span<std::string_view const> words) override {
        bool container = false;
        auto const* const spec = find_command(words, container);
        if (auto text = objection(spec, words); !text.empty()) {
            return {value::error(text), true};
        }
        if (!of_.server.planned.empty()) {
            if (auto const planned = planned_error(of_.server, spec->name)) {
                return {value::error(*planned), false};
            }
        }
        has_written_ = has_written_ || (spec->flags & writes) != 0;
        command_call made{of_.server, of_.who, words};
        return {spec->run(made), false};
    }

private:
    // Why it is not even tried. A text without a hyphen is given the code ERR.
    std::string objection(command_spec const* spec, std::span<std::string_view const> words) const {
        if (spec == nullptr) {
            return "Unknown Redis command called from script";
        }
        if (!arity_fits(*spec, words.size())) {
            return "Wrong number of args calling Redis command from script";
        }
        if ((spec->flags & no_script) != 0) {
            return "This Redis command is not allowed from script";
        }
        if (of_.server.refuses == refusal::masterdown && (spec->flags & stale) == 0) {
            return "Can not execute the command on a stale replica";
        }
        if (auto const what = judge_rights(of_.server, of_.who, *spec, words);
            what != denial::nothing) {
            return "The user executing the script " + std::string{denial_text(what)};
        }
        if (!of_.who.obeyed && !are_local(of_.server, *spec, words)) {
            return "Script attempted to access a non local key in a cluster node";
        }
        if (has_written_) {
            return {};
        }
        // Other states are looked at where the script is called.
        auto const flags = spec->flags & (writes | deny_oom);
        if (flags == 0) {
            return {};
        }
        auto const text =
            refusal_text(of_.server, spec->name, flags | stale | loading | while_busy);
        return text.empty() ? std::string{} : "-" + std::string{text};
    }

    command_call& of_;
    bool has_written_ = false;
};

value run(command_call& of, script_text const& script, std::size_t keys) {
    if (of.server.refuses == refusal::masterdown) {
        return value::error(refusal_text(of.server, "eval", 0));
    }
    running_script host{of};
    auto const words = of.words.subspan(3);
    return run_script(script, words.first(keys), words.subspan(keys), host);
}

// The number of keys, or what is wrong with it.
std::variant<std::size_t, value> count_keys(command_call const& of) {
    auto const count = to_integer(of[2]);
    if (!count) {
        return not_an_integer();
    }
    if (*count > static_cast<std::int64_t>(of.size()) - 3) {
        return general_error("Number of keys can't be greater than number of args");
    }
    if (*count < 0) {
        return general_error("Number of keys can't be negative");
    }
    return static_cast<std::size_t>(*count);
}

value eval(command_call& of) {
    auto keys = count_keys(of);
    if (auto* const error = std::get_if<value>(&keys)) {
        return std::move(*error);
    }
    auto compiled = compile_script(of[1]);
    if (auto* const error = std::get_if<std::string>(&compiled)) {
        return general_error(*error);
    }
    auto const& script = std::get<std::shared_ptr<script_text const>>(compiled);
    of.server.scripts.try_emplace(script->sha1, script);
    return run(of, *script, std::get<std::size_t>(keys));
}

value eval_sha(command_call& of) {
    constexpr std::string_view unknown = "NOSCRIPT No matching script. Please use EVAL.";
    constexpr std::size_t digits = 40;
    if (of[1].size() != digits) {
        return value::error(unknown);
    }
    auto keys = count_keys(of);
    if (auto* const error = std::get_if<value>(&keys)) {
        return std::move(*error);
    }
    auto const script = find_script(of.server, lower_case(of[1]));
    if (!script) {
        return value::error(unknown);
    }
    return run(of, *script, std::get<std::size_t>(keys));
}

value script_load(command_call& of) {
    auto compiled = compile_script(of[2]);
    if (auto* const error = std::get_if<std::string>(&compiled)) {
        return general_error(*error);
    }
    auto const& script = std::get<std::shared_ptr<script_text const>>(compiled);
    of.server.scripts.try_emplace(script->sha1, script);
    return value::bulk(script->sha1);
}

value script_flush(command_call& of) {
    of.server.scripts.clear();
    return value::status("OK");
}

constexpr unsigned eval_flags = no_script | stale;

constexpr std::array commands{
    command_spec{"eval", -3, eval_flags, {}, eval},
    command_spec{"evalsha", -3, eval_flags, {}, eval_sha},
    command_spec{"script", -2, 0},
    command_spec{"script|load", 3, no_script | stale, {}, script_load},
    command_spec{"script|flush", 2, no_script, {}, script_flush},
};

}  // namespace

std::span<command_spec const> script_commands() {
    return commands;
}

}  // namespace holdfast::memory
