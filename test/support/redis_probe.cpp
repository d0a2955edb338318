#include "redis_probe.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace holdfast::test {

namespace {

std::vector<std::string> sorted_strings(redis_value const& list) {
    std::vector<std::string> strings;
    for (auto const& element : list.as_array()) {
        strings.push_back(element.as_string());
    }
    std::sort(strings.begin(), strings.end());
    return strings;
}

// "a=1 b=2" with the given separators.
std::map<std::string, std::string> fields(std::string const& text, char between, char inside) {
    std::map<std::string, std::string> result;
    std::istringstream in{text};
    for (std::string field; std::getline(in, field, between);) {
        if (!field.empty() && field.back() == '\r') {
            field.pop_back();
        }
        if (auto const at = field.find(inside); at != std::string::npos) {
            result[field.substr(0, at)] = field.substr(at + 1);
        }
    }
    return result;
}

}  // namespace

redis_probe::redis_probe(std::string const& unix_socket, redis_credentials const& who)
    : socket_{unix_socket} {
    authenticate(who);
}

redis_probe::redis_probe(std::uint16_t tcp_port, redis_credentials const& who) : socket_{tcp_port} {
    authenticate(who);
}

void redis_probe::authenticate(redis_credentials const& who) {
    if (!who.password.empty()) {
        checked({"AUTH", who.user.empty() ? "default" : who.user, who.password});
    }
}

redis_value redis_probe::command(std::vector<std::string> const& words) {
    socket_.send(serialize_command(words));
    auto reply = socket_.receive(timeout_);
    if (!reply) {
        socket_.close();  // a late reply would be taken for that of the next command
        throw std::runtime_error{"no reply to " + words.at(0) + " in time"};
    }
    return *std::move(reply);
}

redis_value redis_probe::checked(std::vector<std::string> const& words) {
    auto reply = command(words);
    if (reply.is_error()) {
        throw std::runtime_error{words.at(0) + ": " + reply.text};
    }
    return reply;
}

std::vector<std::string> redis_probe::keys(std::string const& pattern) {
    return sorted_strings(checked({"KEYS", pattern}));
}

std::vector<std::string> redis_probe::lock_keys() {
    auto all = keys();
    std::erase_if(all, [](std::string const& key) {
        return key.starts_with("redisson_lock_token:") || key.starts_with("holdfast_hold:") ||
               key.starts_with("holdfast_read_hold:") || key.starts_with("holdfast_write_hold:") ||
               key.starts_with("holdfast_semaphore_token:") ||
               key.starts_with("holdfast_semaphore_hold:") || key.ends_with(":holdfast_limit");
    });
    return all;
}

bool redis_probe::exists(std::string const& key) {
    return checked({"EXISTS", key}).as_integer() == 1;
}

std::int64_t redis_probe::pttl(std::string const& key) {
    return checked({"PTTL", key}).as_integer();
}

std::optional<std::string> redis_probe::get(std::string const& key) {
    auto const reply = checked({"GET", key});
    return reply.is_nil() ? std::nullopt : std::optional{reply.as_string()};
}

std::map<std::string, std::string> redis_probe::hgetall(std::string const& key) {
    auto const reply = checked({"HGETALL", key});
    auto const& list = reply.as_array();
    std::map<std::string, std::string> result;
    for (std::size_t i = 0; i + 1 < list.size(); i += 2) {
        result[list[i].as_string()] = list[i + 1].as_string();
    }
    return result;
}

std::int64_t redis_probe::del(std::string const& key) {
    return checked({"DEL", key}).as_integer();
}

void redis_probe::set(std::string const& key, std::string const& value) {
    checked({"SET", key, value});
}

std::uint64_t redis_probe::time() {
    auto const now = cmd("TIME").as_array();
    return std::stoull(now[0].as_string()) * 1'000'000 + std::stoull(now[1].as_string());
}

void redis_probe::flushall() {
    checked({"FLUSHALL"});
}

std::int64_t redis_probe::publish(std::string const& channel, std::string const& payload) {
    return checked({"PUBLISH", channel, payload}).as_integer();
}

std::vector<std::string> redis_probe::pubsub_channels(std::string const& pattern) {
    return sorted_strings(checked({"PUBSUB", "CHANNELS", pattern}));
}

void redis_probe::add_slots(std::size_t first, std::size_t last) {
    // ADDSLOTSRANGE came with Redis 7.
    std::vector<std::string> words{"CLUSTER", "ADDSLOTS"};
    for (auto slot = first; slot <= last; ++slot) {
        words.push_back(std::to_string(slot));
    }
    checked(words);
}

std::int64_t redis_probe::pubsub_numsub(std::string const& channel) {
    return checked({"PUBSUB", "NUMSUB", channel}).as_array().at(1).as_integer();
}

void redis_probe::subscribe(std::string const& channel) {
    checked({"SUBSCRIBE", channel});
}

void redis_probe::psubscribe(std::string const& pattern) {
    checked({"PSUBSCRIBE", pattern});
}

std::optional<redis_probe::message> redis_probe::next_message(std::chrono::milliseconds limit) {
    auto const received = socket_.receive(limit);
    if (!received) {
        return std::nullopt;
    }
    auto const& parts = received->as_array();
    // A message for a pattern names the pattern first.
    std::size_t const at = parts.at(0).as_string() == "pmessage" ? 2 : 1;
    return message{.channel = parts.at(at).as_string(), .payload = parts.at(at + 1).as_string()};
}

std::vector<std::map<std::string, std::string>> redis_probe::client_list() {
    std::vector<std::map<std::string, std::string>> clients;
    std::istringstream lines{checked({"CLIENT", "LIST"}).as_string()};
    for (std::string line; std::getline(lines, line);) {
        clients.push_back(fields(line, ' ', '='));
    }
    return clients;
}

std::int64_t redis_probe::client_kill_type(std::string const& type) {
    return checked({"CLIENT", "KILL", "TYPE", type, "SKIPME", "yes"}).as_integer();
}

void redis_probe::script_flush() {
    checked({"SCRIPT", "FLUSH"});
}

std::map<std::string, std::string> redis_probe::info(std::string const& section) {
    return fields(checked({"INFO", section}).as_string(), '\n', ':');
}

std::map<std::string, std::int64_t> redis_probe::commandstats() {
    constexpr std::string_view prefix = "cmdstat_";
    std::map<std::string, std::int64_t> calls;
    for (auto const& [name, text] : info("commandstats")) {
        calls[name.substr(prefix.size())] = std::stoll(fields(text, ',', '=').at("calls"));
    }
    return calls;
}

std::int64_t redis_probe::lock_commands() {
    std::int64_t calls = 0;
    for (auto const& [name, count] : commandstats()) {
        bool const counts = name.starts_with("eval") || name.starts_with("script") ||
                            name.find("subscribe") != std::string::npos;
        calls += counts ? count : 0;
    }
    return calls;
}

}  // namespace holdfast::test
