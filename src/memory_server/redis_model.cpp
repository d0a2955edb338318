#include "memory_server/redis_model.hpp"

#include "memory_server/commands.hpp"
#include "protocol/derived_keys.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace holdfast::memory {

namespace {

constexpr std::string_view no_auth_text = "NOAUTH Authentication required.";

value unknown_command(redis_model::words words, bool container) {
    std::string text;
    if (container) {
        auto name = std::string{c_string(words[0])};
        text = "unknown subcommand '" + std::string{c_string(words[1]).substr(0, 128)} + "'. Try ";
        for (char& letter : name) {
            letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
        }
        text += name + " HELP.";
    } else {
        std::string args;
        for (std::size_t i = 1; i < words.size() && args.size() < 128; ++i) {
            args += "'" + std::string{c_string(words[i]).substr(0, 128 - args.size())} + "' ";
        }
        text = "unknown command '" + std::string{c_string(words[0]).substr(0, 128)} +
               "', with args beginning with: " + args;
    }
    std::ranges::replace(text, '\r', ' ');
    std::ranges::replace(text, '\n', ' ');
    return value::error("ERR " + text);
}

value denied(denial what, command_spec const& command) {
    constexpr std::string_view start = "NOPERM this user has no permissions to ";
    std::string text{start};
    switch (what) {
        case denial::command: text += "run the '" + std::string{command.name} + "' command"; break;
        case denial::key: text += "access one of the keys used as arguments"; break;
        default: text += "access one of the channels used as arguments"; break;
    }
    return value::error(text);
}

bool unsubscribes_from_nothing(session const& who, command_spec const& command) {
    return who.channels.empty() && who.shard_channels.empty() &&
           (command.name == "unsubscribe" || command.name == "sunsubscribe");
}

bool needs_log_in(server_state const& server, session const& who) {
    return server.refuses == refusal::noauth || !who.authenticated;
}

// What keeps the command from being run, in the order in which the server looks.
std::optional<value> objection(command_call const& of, command_spec const& command) {
    auto& server = of.server;
    if (!arity_fits(command, of.size())) {
        return wrong_arity(command.name);
    }
    if (needs_log_in(server, of.who) && (command.flags & no_auth) == 0) {
        return value::error(no_auth_text);
    }
    if (auto const what = judge_rights(server, of.who, command, of.words);
        what != denial::nothing) {
        return denied(what, command);
    }
    if (auto elsewhere = redirection_of(of, command)) {
        return elsewhere;
    }
    if (server.strict_unsubscribe && unsubscribes_from_nothing(of.who, command)) {
        return value::error(
            "NOSUB '" + std::string{command.name} + "' command executed not in subscribed mode"
        );
    }
    for (auto const name : {command.name, std::string_view{"*"}}) {
        if (auto const planned = planned_error(server, name)) {
            return value::error(*planned);
        }
    }
    if (auto const text = refusal_text(server, command.name, command.flags); !text.empty()) {
        return value::error(text);
    }
    return std::nullopt;
}

value answer(command_call& of) {
    bool container = false;
    auto const* const command = find_command(of.words, container);
    if (command == nullptr) {
        return unknown_command(of.words, container);
    }
    if (auto refused = objection(of, *command)) {
        return std::move(*refused);
    }
    arrivals const made{of, *command};
    return command->run(of);
}

}  // namespace

redis_model::redis_model() : state_{std::make_unique<server_state>()} {}
redis_model::redis_model(redis_model&&) noexcept = default;
redis_model& redis_model::operator=(redis_model&&) noexcept = default;
redis_model::~redis_model() = default;

redis_model::session_id redis_model::connect(std::function<void(value)> out) {
    auto const id = ++state_->last_session;
    auto& made = state_->sessions[id];
    made.id = id;
    made.out = std::move(out);
    auto const user = state_->users.find(made.user);
    made.authenticated =
        user != state_->users.end() && user->second.enabled && !user->second.password;
    return id;
}

void redis_model::disconnect(session_id session) {
    auto const at = state_->sessions.find(session);
    if (at != state_->sessions.end()) {
        state_->unsubscribe_all(at->second);
        state_->sessions.erase(at);
    }
}

std::optional<value> redis_model::execute(session_id session, words command) {
    auto const at = state_->sessions.find(session);
    if (at == state_->sessions.end() || command.empty()) {
        return std::nullopt;
    }
    auto& who = at->second;
    command_call made{*state_, who, command, who.resp};
    made.asking = std::exchange(who.asking, false);
    auto reply = answer(made);
    state_->sweep();  // a command may have set an end that is past
    if (made.answered) {
        return std::nullopt;
    }
    // HELLO changes the version for its own reply.
    return who.resp == 2 ? to_resp2(std::move(reply)) : std::move(reply);
}

std::optional<value> redis_model::execute(
    session_id session,
    std::initializer_list<std::string_view> command
) {
    return execute(session, words{command.begin(), command.size()});
}

void redis_model::set_time(std::int64_t us) {
    state_->now_us = us;
    state_->sweep();
}

std::int64_t redis_model::time() const {
    return state_->now_us;
}

bool redis_model::erase(std::string_view key, int database) {
    return state_->databases().at(static_cast<std::size_t>(database)).erase(key);
}

void redis_model::flush_all() {
    for (auto& one : state_->databases()) {
        one.clear();
    }
}

void redis_model::flush_scripts() {
    state_->scripts.clear();
}

void redis_model::restart(bool keep_data) {
    state_->sessions.clear();
    state_->channels.clear();
    state_->shard_channels.clear();
    flush_scripts();
    if (!keep_data) {
        flush_all();
    }
}

void redis_model::set_refusal(refusal what) {
    state_->refuses = what;
}

refusal redis_model::current_refusal() const {
    return state_->refuses;
}

redis_model::data_copy redis_model::copy_data() const {
    return std::make_shared<std::vector<database> const>(state_->databases());
}

void redis_model::set_data(data_copy const& what) {
    state_->databases() = *what;
    state_->sweep();
}

void redis_model::set_replica(bool replica) {
    state_->replica = replica;
}

bool redis_model::is_replica() const {
    return state_->is_replica();
}

void redis_model::set_process(std::string run_id, std::int64_t began_us) {
    state_->run_id = std::move(run_id);
    state_->began_us = began_us;
}

std::string const& redis_model::run_id() const {
    return state_->run_id;
}

void redis_model::set_watched(watched_primary what) {
    auto const before = std::exchange(state_->watched, std::move(what));
    auto const& now = *state_->watched;
    if (!before || (before->host == now.host && before->port == now.port)) {
        return;
    }
    auto const text = now.name + " " + before->host + " " + std::to_string(before->port) + " " +
                      now.host + " " + std::to_string(now.port);
    auto const listeners = state_->channels.find("+switch-master");
    if (listeners != state_->channels.end()) {
        for (auto* const one : listeners->second) {
            one->out(value::push(
                {value::bulk("message"), value::bulk("+switch-master"), value::bulk(text)}
            ));
        }
    }
}

void redis_model::set_strict_unsubscribe(bool strict) {
    state_->strict_unsubscribe = strict;
}

void redis_model::refuse_next(std::string name, std::size_t count, std::string error) {
    if (count > 0) {
        state_->planned.push_back({lower_case(name), count, std::move(error)});
    }
}

void redis_model::set_user(std::string name, user_rules rules) {
    state_->users.insert_or_assign(std::move(name), std::move(rules));
}

namespace {

database const& database_of(server_state const& server, int number) {
    return server.databases().at(static_cast<std::size_t>(number));
}

}  // namespace

std::vector<std::string> redis_model::keys(int database) const {
    std::vector<std::string> names;
    for (auto const& [name, content] : database_of(*state_, database).entries()) {
        names.push_back(name);
    }
    std::ranges::sort(names);
    return names;
}

std::vector<std::string> redis_model::lock_keys(int database) const {
    auto names = keys(database);
    std::erase_if(names, [](auto const& name) {
        constexpr std::string_view outlive[] = {
            detail::beginning::token,
            detail::server_word,
            detail::beginning::leader,
            detail::beginning::hold,
            detail::beginning::read_hold,
            detail::beginning::write_hold,
            detail::beginning::semaphore_token,
            detail::beginning::semaphore_hold,
        };
        return name.ends_with(detail::ending::limit) ||
               std::ranges::any_of(outlive, [&](auto one) { return name.starts_with(one); });
    });
    return names;
}

bool redis_model::exists(std::string_view key, int database) const {
    return database_of(*state_, database).find(key, state_->now_ms()) != nullptr;
}

std::string redis_model::type(std::string_view key, int database) const {
    auto const* const found = database_of(*state_, database).find(key, state_->now_ms());
    return found ? type_name(*found) : "none";
}

std::int64_t redis_model::pttl(std::string_view key, int database) const {
    auto const* const found = database_of(*state_, database).find(key, state_->now_ms());
    if (found == nullptr) {
        return -2;
    }
    return found->end == entry::never ? -1 : found->end - state_->now_ms();
}

std::optional<std::string> redis_model::get(std::string_view key, int database) const {
    auto const* const found = database_of(*state_, database).find(key, state_->now_ms());
    auto const* const text = found ? std::get_if<std::string>(&found->content) : nullptr;
    return text ? std::optional{*text} : std::nullopt;
}

std::vector<std::pair<std::string, std::string>> redis_model::hgetall(
    std::string_view key,
    int database
) const {
    auto const* const found = database_of(*state_, database).find(key, state_->now_ms());
    auto const* const hash = found ? std::get_if<hash_value>(&found->content) : nullptr;
    return hash ? hash->fields() : std::vector<hash_value::field>{};
}

std::size_t redis_model::subscribers(std::string_view channel) const {
    std::size_t sum = 0;
    for (auto const* map : {&state_->channels, &state_->shard_channels}) {
        auto const at = map->find(channel);
        sum += at == map->end() ? 0 : at->second.size();
    }
    return sum;
}

std::size_t redis_model::subscriptions() const {
    std::size_t sum = 0;
    for (auto const* map : {&state_->channels, &state_->shard_channels}) {
        for (auto const& [name, listeners] : *map) {
            sum += listeners.size();
        }
    }
    return sum;
}

std::vector<std::string> redis_model::channels() const {
    std::vector<std::string> names;
    for (auto const& [name, listeners] : state_->channels) {
        names.push_back(name);
    }
    return names;
}

}  // namespace holdfast::memory
