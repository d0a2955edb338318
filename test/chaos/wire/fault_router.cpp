#include "fault_router.hpp"

#include "protocol/hand_over_message.hpp"
#include "protocol/reply.hpp"
#include "protocol/scripts.hpp"
#include "support/resp.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace holdfast::test {

namespace {

namespace scripts = holdfast::detail::scripts;

constexpr std::string_view channel_prefix = "redisson_lock__channel:{";

// EVALSHA, script, number of keys, first key.
constexpr std::size_t script_at = 1;
constexpr std::size_t key_at = 3;

// Of one key, in the book of grants.
constexpr std::size_t most_entries = 16;

struct known_script {
    holdfast::detail::script const* what;
    message_kind kind;
};

std::array<known_script, 7> const& known_scripts() {
    static std::array<known_script, 7> const all{{
        {&scripts::lock_acquire, message_kind::acquire},
        {&scripts::lock_take_over, message_kind::acquire},
        {&scripts::lock_renew, message_kind::renew},
        {&scripts::lock_renew_many, message_kind::renew},
        {&scripts::lock_release, message_kind::release},
        {&scripts::lock_inspect, message_kind::inspect},
        {&scripts::lock_force_release, message_kind::force_release},
    }};
    return all;
}

message_kind script_kind(std::string_view sha_or_text) {
    for (auto const& known : known_scripts()) {
        if (sha_or_text == known.what->sha1 || sha_or_text == known.what->text) {
            return known.kind;
        }
    }
    return message_kind::other;
}

message_subject script_subject(server_message const& message) {
    auto const& words = message.command;
    message_subject subject{script_kind(words.at(script_at)), words.at(key_at)};
    if (message.bytes.starts_with("-NOSCRIPT")) {
        subject.kind = message_kind::no_script;
    } else if (message.bytes.starts_with('-')) {
        subject.kind = message_kind::error;
    } else if (words.front() == "EVAL" && subject.kind == message_kind::acquire) {
        subject.kind = message_kind::eval;
    }
    return subject;
}

message_kind ping_kind(server_message const& message) {
    // The handshake's last reply.
    std::uint64_t const probe_ping_reply =
        link_of(message.connection) == link_kind::commands ? 5 : 3;
    if (message.command.size() > 1 && message.command[1] == "holdfast") {
        return message_kind::health;
    }
    return message.connection.replies == probe_ping_reply ? message_kind::probe_ping
                                                          : message_kind::check;
}

// The key of the lock with this channel; our names have no braces.
std::string key_of_channel(std::string_view channel) {
    if (!channel.starts_with(channel_prefix)) {
        return {};
    }
    channel.remove_prefix(channel_prefix.size());
    return std::string{channel.substr(0, channel.find('}'))};
}

// What a push tells a client that was handed a lock.
std::optional<detail::hand_over_message> grant_in(std::string_view bytes) {
    auto const at = bytes.find("grant lock ");
    auto const end = bytes.rfind("\r\n");
    if (at == std::string_view::npos || end < at) {
        return std::nullopt;
    }
    return detail::read_hand_over_message(bytes.substr(at, end - at));
}

// Of a push that answers no command: the channel stands in it.
message_subject push_subject(server_message const& message) {
    if (auto const granted = grant_in(message.bytes)) {
        return {message_kind::message, std::string{granted->lock}};
    }
    auto const at = message.bytes.find(channel_prefix);
    if (at == std::string::npos) {
        return {};
    }
    return {message_kind::message, key_of_channel(std::string_view{message.bytes}.substr(at))};
}

}  // namespace

link_kind link_of(connection_record const& connection) {
    // HELLO, TIME: they come in one segment.
    bool const asks_time = connection.sent.size() > 1 && connection.sent[1] == "TIME";
    return asks_time ? link_kind::commands : link_kind::notifications;
}

std::string_view client_name(connection_record const& connection) {
    std::string_view const hello =
        connection.sent.empty() ? std::string_view{} : std::string_view{connection.sent.front()};
    auto const name = hello.substr(hello.rfind(' ') + 1);
    return name.substr(0, name.find(':'));
}

message_subject subject_of(server_message const& message) {
    auto const& words = message.command;
    if (words.empty()) {
        return push_subject(message);
    }
    auto const& name = words.front();
    if (name == "EVALSHA" || name == "EVAL") {
        return script_subject(message);
    }
    if (name == "SUBSCRIBE" || name == "UNSUBSCRIBE") {
        auto const kind = name == "SUBSCRIBE" ? message_kind::subscribe : message_kind::unsubscribe;
        return {kind, key_of_channel(words.at(1))};
    }
    return {
        name == "HELLO"  ? message_kind::hello
        : name == "PING" ? ping_kind(message)
        : name == "TIME" ? message_kind::time
        : name == "INFO" ? (words.at(1) == "server" ? message_kind::server : message_kind::info)
                         : message_kind::other
    };
}

fault_router::fault_router(std::string const& server_unix_socket) : proxy_{server_unix_socket} {
    proxy_.rewrite_messages([this](server_message message) { return pass(std::move(message)); });
}

void fault_router::set_edit(std::string const& client, edit what) {
    std::lock_guard const hold{mutex_};
    lines_[client].what = std::move(what);
}

std::size_t fault_router::connection(std::string const& client, link_kind which) const {
    std::lock_guard const hold{mutex_};
    auto const line = lines_.find(client);
    if (line == lines_.end()) {
        return 0;
    }
    auto const newest = line->second.newest.find(which);
    return newest == line->second.newest.end() ? 0 : newest->second;
}

std::string fault_router::holder(std::string const& key, fencing_token token) const {
    std::lock_guard const hold{mutex_};
    auto const entries = book_.find(key);
    if (entries == book_.end()) {
        return {};
    }
    auto const& all = entries->second;
    // The tokens that follow belong to the same holder, until the next grant.
    auto const entry = std::find_if(all.rbegin(), all.rend(), [token](auto const& one) {
        return one.token <= token.value;
    });
    return entry == all.rend() ? std::string{} : entry->holder;
}

message_parts fault_router::pass(server_message message) {
    if (auto const change = note(message)) {
        if (auto parts = change(message)) {
            return std::move(*parts);
        }
    }
    return {std::move(message.bytes)};
}

void fault_router::note_grant(std::string const& key, grant_entry entry) {
    auto& entries = book_[key];
    entries.push_back(std::move(entry));
    if (entries.size() > most_entries) {
        entries.pop_front();
    }
}

fault_router::edit fault_router::note(server_message const& message) {
    auto const subject = subject_of(message);
    std::lock_guard const hold{mutex_};
    auto& line = lines_[std::string{client_name(message.connection)}];
    if (subject.kind == message_kind::hello) {
        line.newest[link_of(message.connection)] = message.connection.number;
    }
    if (subject.kind == message_kind::acquire || subject.kind == message_kind::eval) {
        std::string_view rest = message.bytes;
        holdfast::detail::script_reply const reply{parse_message(rest).as_string()};
        if (reply.integer(0) == 1) {
            auto const token = static_cast<std::uint64_t>(reply.integer(1));
            // EVALSHA, the script, the number of keys, the keys, the lease, the holder.
            auto const& words = message.command;
            auto const keys = static_cast<std::size_t>(std::stoul(std::string{words.at(2)}));
            note_grant(subject.key, {token, std::string{words.at(keys + 4)}});
        }
    } else if (message.command.empty()) {
        if (auto const granted = grant_in(message.bytes)) {
            note_grant(
                std::string{granted->lock},
                {granted->token.value, std::string{granted->holder}}
            );
        }
    }
    return line.what;
}

}  // namespace holdfast::test
