#include "redis/probe.hpp"

#include <boost/container/static_vector.hpp>

#include <string_view>

namespace holdfast::detail {

probe::probe(config const& settings, bool for_commands, std::string nonce)
    : nonce_{std::move(nonce)} {
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
    request_.push_range("HELLO", hello);
    steps_.push_back(step::hello);
    if (settings.database != 0) {
        request_.push("SELECT", settings.database);
        steps_.push_back(step::select);
    }
    request_.push("PING", nonce_);
    steps_.push_back(step::ping);
    if (for_commands) {
        request_.push("TIME");
        request_.push("ROLE");
        request_.push("INFO", "memory");
        steps_.insert(steps_.end(), {step::time, step::role, step::info});
    }
}

void probe::on_event(reply_collector::event what, boost::redis::resp3::node_view const& node) {
    if (collector_.on_event(what, node)) {
        replies_.push_back(std::move(collector_.current()));
    }
}

probe::verdict probe::judge() const {
    verdict result;
    if (replies_.size() != steps_.size()) {
        result.error = errc::unreachable;
        return result;
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        auto const& reply = replies_[i];
        auto const what = steps_[i];
        if (reply.is_error) {
            auto const cause = classify(reply.error);
            // A user needs no right to look at the role or the policy; everybody else's answer
            // matters.
            if ((what == step::role || what == step::info) &&
                cause.what == server_error::effect::permanent) {
                result.remarks.emplace_back(
                    log_level::info,
                    "not allowed to look at the server's role or policy: not checked"
                );
                continue;
            }
            result.error = cause.error;
            result.permanent = cause.what == server_error::effect::permanent;
            // What a server that knows no HELLO says, is not to be taken for a lock's state.
            if (what == step::hello && result.error == errc::server_refused &&
                cause.what == server_error::effect::uncertain) {
                result.error = errc::unsupported_server;
                result.permanent = true;
            }
            result.remarks.emplace_back(
                log_level::error,
                "the server refused the connection: " + loggable(reply.error)
            );
            return result;
        }
        if (what == step::ping && reply.content.text(0) != nonce_) {
            result.error = errc::unreachable;
            return result;
        }
        if (what == step::role && reply.content.text(0) == "slave") {
            result.error = errc::server_refused;
            result.remarks.emplace_back(
                log_level::error,
                "the server is a replica and takes no writes"
            );
            return result;
        }
        if (what == step::info) {
            auto const info = reply.content.text(0);
            bool const limited = info.find("maxmemory:0\r") == std::string::npos &&
                                 info.find("maxmemory:") != std::string::npos;
            if (limited && info.find("maxmemory_policy:noeviction") == std::string::npos) {
                result.remarks.emplace_back(
                    log_level::warning,
                    "the server evicts keys when its memory is full, locks too: set "
                    "maxmemory-policy noeviction"
                );
            }
        }
    }
    return result;
}

}  // namespace holdfast::detail
