#include "redis/handshake.hpp"

#include "protocol/scripts.hpp"

#include <boost/asio/error.hpp>
#include <boost/container/static_vector.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace holdfast::detail {

namespace {

// The value of `key` in the text of INFO.
std::string_view value_in(std::string_view info, std::string_view key) {
    for (std::size_t at = 0; at < info.size();) {
        auto const line = info.substr(at, info.find("\r\n", at) - at);
        if (line.starts_with(key) && line.substr(key.size()).starts_with(':')) {
            return line.substr(key.size() + 1);
        }
        at += line.size() + 2;
    }
    return {};
}

}  // namespace

std::string_view value_of(raw_reply const& map, std::string_view key) noexcept {
    for (std::size_t i = 0; i + 1 < map.values.size(); i += 2) {
        if (map.text(i) == key) {
            return map.text(i + 1);
        }
    }
    return {};
}

bool has_key(raw_reply const& map, std::string_view key) noexcept {
    for (std::size_t i = 0; i + 1 < map.values.size(); i += 2) {
        if (map.text(i) == key) {
            return true;
        }
    }
    return false;
}

bool is_closed_by_peer(error_code ec) noexcept {
    return ec == boost::asio::error::eof || ec == boost::asio::error::connection_reset ||
           ec == boost::asio::error::broken_pipe;
}

void push_hello(boost::redis::request& to, config const& settings) {
    // "3", AUTH with two words, SETNAME with one.
    boost::container::static_vector<std::string_view, 6> hello{"3"};
    if (!settings.password.empty()) {
        // Views of the settings: a conditional of a literal and a string would make a temporary.
        auto const user = settings.username.empty() ? std::string_view{"default"}
                                                    : std::string_view{settings.username};
        hello.push_back("AUTH");
        hello.push_back(user);
        hello.push_back(settings.password);
    }
    if (!settings.client_name.empty()) {
        hello.push_back("SETNAME");
        hello.push_back(settings.client_name);
    }
    to.push_range("HELLO", hello);
}

handshake::handshake(config const& settings, bool for_commands, std::string nonce, peer with)
    : nonce_{std::move(nonce)},
      with_{with} {
    push_hello(request_, settings);
    steps_.push_back(step::hello);
    if (settings.database != 0) {
        add(step::select, "SELECT", std::to_string(settings.database));
    }
    if (for_commands) {
        request_.push("TIME");
        steps_.push_back(step::time);
    }
    if (with != peer::sentinel) {
        add(step::server, "INFO", "server");
    }
    if (for_commands) {
        add(step::memory, "INFO", "memory");
    }
    if (for_commands && with == peer::cluster_node) {
        request_.push("EVAL", scripts::cluster_slots.text, "0", nonce_);
        steps_.push_back(step::slots);
    }
    // The nonce comes last: it proves that no reply before it is missing. A Sentinel gives only
    // one, and before Redis 7 takes no nonce.
    if (with != peer::sentinel) {
        add(step::ping, "PING", nonce_);
    }
}

void handshake::add(step what, std::string_view command, std::string_view argument) {
    request_.push(command, argument);
    steps_.push_back(what);
}

void handshake::on_event(reply_collector::event what, boost::redis::resp3::node_view const& node) {
    if (collector_.on_event(what, node)) {
        replies_.push_back(std::move(collector_.current()));
    }
}

void handshake::judge_error(step what, std::string const& text, verdict& out) {
    auto const cause = classify(text);
    bool const permanent = cause.what == server_error::effect::permanent;
    // A user needs no right to look at these; everybody else's answer matters.
    if ((what == step::server || what == step::memory) && permanent) {
        out.remarks.emplace_back(
            log_level::info,
            "not allowed to look at the server with INFO: its identity and memory policy are not "
            "checked"
        );
        return;
    }
    out.error = cause.error;
    out.permanent = permanent;
    // A server that knows no HELLO answers with an error that says nothing about a lock.
    if (what == step::hello && out.error == errc::server_refused &&
        cause.what == server_error::effect::uncertain) {
        out.error = errc::unsupported_server;
        out.permanent = true;
    }
    // A server that loads its data is ready soon. Any other refusal needs an operator.
    bool const loads = text.starts_with("LOADING");
    out.remarks.emplace_back(
        loads ? log_level::warning : log_level::error,
        "the server refused the connection: " + loggable(text)
    );
}

void handshake::judge_hello(raw_reply const& reply, verdict& out) const {
    auto const mode = value_of(reply, "mode");
    auto const role = value_of(reply, "role");
    auto const version = value_of(reply, "version");
    std::from_chars(version.data(), version.data() + version.size(), out.major_version);
    bool const is_node = mode == "cluster";
    bool const expects_node = with_ == peer::cluster_node;
    bool const is_hello = !mode.empty() || has_key(reply, "proto");
    if (!is_hello || (mode.empty() && with_ != peer::server)) {
        // Each of them says what it is: this is the reply to something else.
        out.error = errc::unreachable;
    } else if (with_ == peer::sentinel) {
        if (mode != "sentinel") {
            out.error = errc::unsupported_server;
            out.permanent = true;
            out.remarks.emplace_back(log_level::error, "the server is no Sentinel");
        }
    } else if (is_node != expects_node || mode == "sentinel") {
        out.error = errc::unsupported_server;
        out.permanent = true;
        out.remarks.emplace_back(
            log_level::error,
            is_node              ? "the server is a node of a Redis Cluster: use redis-cluster://"
            : mode == "sentinel" ? "the server is a Sentinel, which keeps no locks"
                                 : "the server is not a node of a Redis Cluster"
        );
    } else if (role == "replica" || role == "slave") {
        out.error = errc::server_refused;
        out.remarks.emplace_back(log_level::error, "the server is a replica and takes no writes");
    }
}

void handshake::judge_server(std::string_view info, verdict& out) {
    out.run_id = value_in(info, "run_id");
    auto const uptime = value_in(info, "uptime_in_seconds");
    std::int64_t seconds = 0;
    if (std::from_chars(uptime.data(), uptime.data() + uptime.size(), seconds).ec == std::errc{}) {
        out.uptime = std::chrono::seconds{seconds};
    }
}

void handshake::judge_memory(std::string_view info, verdict& out) {
    auto const limit = value_in(info, "maxmemory");
    if (!limit.empty() && limit != "0" && value_in(info, "maxmemory_policy") != "noeviction") {
        out.remarks.emplace_back(
            log_level::warning,
            "the server evicts keys when its memory is full, locks too: set maxmemory-policy "
            "noeviction"
        );
    }
}

// Otherwise a reply may stand in the place of another one.
bool handshake::is_whole() const {
    return replies_.size() == steps_.size() && replies_.back().text(0) == nonce_;
}

handshake::verdict handshake::judge() const {
    verdict result;
    auto const there = std::min(replies_.size(), steps_.size());
    for (std::size_t i = 0; i < there && !result.error; ++i) {
        auto const& reply = replies_[i];
        auto const what = steps_[i];
        if (reply.is_error) {
            judge_error(what, reply.error, result);
            continue;
        }
        switch (what) {
            case step::hello: judge_hello(reply, result); break;
            case step::ping:
                if (reply.text(0) != nonce_) {
                    result.error = errc::unreachable;
                }
                break;
            case step::select:
                if (reply.text(0) != "OK") {
                    result.error = errc::unreachable;
                }
                break;
            case step::server: judge_server(reply.text(0), result); break;
            case step::memory: judge_memory(reply.text(0), result); break;
            case step::time:
            case step::slots: break;
        }
    }
    if (!result.error && replies_.size() != steps_.size()) {
        result.error = errc::unreachable;
    }
    // A replica knows them, too.
    auto const slots = std::find(steps_.begin(), steps_.end(), step::slots);
    if (slots != steps_.end() && is_whole()) {
        result.slots = replies_[static_cast<std::size_t>(slots - steps_.begin())].text(0);
    }
    return result;
}

}  // namespace holdfast::detail
