#include "cli/doctor_probes.hpp"

#include "cli/rights.hpp"
#include "protocol/slot.hpp"
#include "runtime/wall_clock.hpp"

#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace holdfast::cli {

namespace asio = boost::asio;
using boost::redis::request;
using detail::raw_reply;

namespace {

// Older servers take one pattern a command, and do not know all of these.
constexpr std::array wanted_settings{
    "appendfsync",
    "bind",
    "busy-reply-threshold",
    "client-output-buffer-limit",
    "lua-time-limit",
    "maxclients",
    "min-replicas-to-write",
    "port",
    "protected-mode",
    "save",
    "stop-writes-on-bgsave-error",
    "timeout",
};

asio::awaitable<void> ask_for_settings(server_session& from, server_facts& to) {
    request ask;
    for (auto const* const name : wanted_settings) {
        ask.push("CONFIG", "GET", name);
    }
    auto asking = from.ask(ask);
    auto const replies = co_await std::move(asking);
    for (auto const& reply : replies) {
        if (reply.is_error) {
            to.settings_refusal = detail::loggable(reply.error);
        } else {
            to.settings.merge(read_pairs(reply));
        }
    }
}

asio::awaitable<void> measure(server_session& from, server_facts& to) {
    constexpr std::size_t rounds = 9;
    std::array<std::chrono::nanoseconds, rounds> took{};
    std::optional<std::chrono::nanoseconds> best;
    request ask;
    ask.push("TIME");
    for (auto& one : took) {
        auto const sent_at = lease_clock::now();
        auto const before = detail::wall_clock_now();
        auto asking = from.ask(ask);
        auto const replies = co_await std::move(asking);
        one = lease_clock::now() - sent_at;
        auto const& reply = replies.front();
        auto const seconds = whole_number<std::int64_t>(reply.text(0));
        auto const micros = whole_number<std::int64_t>(reply.text(1));
        // The quickest answer tells most exactly.
        if (!reply.is_error && seconds && micros && (!best || one < *best)) {
            best = one;
            auto const there = std::chrono::seconds{*seconds} + std::chrono::microseconds{*micros};
            auto const half = std::chrono::duration_cast<std::chrono::microseconds>(one / 2);
            to.clock_ahead = there - (before.time_since_epoch() + half);
        }
    }
    std::nth_element(took.begin(), took.begin() + rounds / 2, took.end());
    to.round_trip = took[rounds / 2];
}

void push(request& to, std::vector<std::string> const& words) {
    // A range without elements is not sent.
    if (words.size() == 1) {
        to.push(words.front());
    } else {
        to.push_range(words.front(), words.begin() + 1, words.end());
    }
}

/// Tries whose replies say whether the user has a right.
class tries {
public:
    void add(right& of) {
        for (auto const& words : of.tries) {
            all_.push_back(&of);
            push(request_, words);
        }
    }

    asio::awaitable<void> run(server_session& with, std::vector<raw_reply>& replies) {
        auto asking = with.ask(request_);
        auto got = co_await std::move(asking);
        for (std::size_t i = 0; i < std::min(got.size(), all_.size()); ++i) {
            all_[i]->refused = all_[i]->refused || is_refused(all_[i]->what, got[i]);
        }
        std::move(got.begin(), got.end(), std::back_inserter(replies));
    }

private:
    std::vector<right*> all_;
    request request_;
};

// A subscriber's connection is of no more use. A refusal comes in the place of the reply to PING.
asio::awaitable<bool> is_subscription_refused(server_session& like, right const& of) {
    auto const executor = co_await asio::this_coro::executor;
    auto const settings = std::make_shared<config const>(like.settings());
    auto const trust = std::make_shared<detail::tls_trust>(settings->tls);
    auto opening = server_session::open(executor, settings, trust);
    auto const opened = co_await std::move(opening);
    if (!opened.session) {
        co_return false;
    }
    request ask;
    push(ask, of.tries.front());
    ask.push("PING");
    auto asking = opened.session->ask(ask);
    auto const replies = co_await std::move(asking);
    co_return is_refused(of.what, replies.front());
}

}  // namespace

asio::awaitable<server_facts> gather_facts(server_session& from) {
    server_facts facts;
    facts.hello = from.server();
    request ask;
    ask.push("INFO");
    ask.push("EVAL", "return 1", "0");
    bool const in_cluster = facts.hello.mode == "cluster";
    if (in_cluster) {
        ask.push("CLUSTER", "INFO");
    }
    auto asking = from.ask(ask);
    auto const replies = co_await std::move(asking);
    if (replies[0].is_error) {
        facts.info_refusal = detail::loggable(replies[0].error);
    } else {
        facts.info = read_info(replies[0].text(0));
    }
    if (replies[1].is_error) {
        facts.script_refusal = detail::loggable(replies[1].error);
    }
    if (in_cluster && !replies[2].is_error) {
        facts.cluster = read_info(replies[2].text(0));
    }
    auto settings = ask_for_settings(from, facts);
    co_await std::move(settings);
    auto measuring = measure(from, facts);
    co_await std::move(measuring);
    co_return facts;
}

asio::awaitable<std::vector<finding>> try_rights(server_session& with, std::string name) {
    auto const& settings = with.settings();
    auto groups = rights_for(settings, name, with.dialect());
    tries harmless;
    tries writing;
    for (auto& group : groups) {
        for (auto& one : group.rights) {
            if (one.subscribes) {
                auto asking = is_subscription_refused(with, one);
                one.refused = co_await std::move(asking);
            } else {
                (one.writes ? writing : harmless).add(one);
            }
        }
    }
    std::vector<raw_reply> replies;
    auto running = harmless.run(with, replies);
    co_await std::move(running);

    // What is written has to be removed again.
    bool may_delete = true;
    for (auto const& group : groups) {
        for (auto const& one : group.rights) {
            bool const of_name = one.rule == "+del" ||
                                 (one.what == right::kind::key && one.tries.front().back() == name);
            may_delete = may_delete && !(of_name && one.refused);
        }
    }
    if (may_delete) {
        auto written = writing.run(with, replies);
        co_await std::move(written);
        request clean;
        clean.push("DEL", name);
        auto cleaning = with.ask(clean);
        co_await std::move(cleaning);
    }
    auto found = check_rights(groups, settings.username.empty() ? "default" : settings.username);
    found.push_back(check_writes(replies));
    co_return found;
}

std::string name_for_tries(primaries const& all, primary const& on) {
    for (;;) {
        auto name = fmt::format("holdfast-doctor-{:016x}", detail::random_from_system());
        auto const slot = detail::slot_of(on.settings->key_prefix + name);
        // With a hash tag in the prefix all names have one slot.
        bool const fixed = on.settings->key_prefix.find('{') != std::string::npos;
        if (!all.slots || fixed || all.slots->server_of(slot) == on.number) {
            return name;
        }
    }
}

}  // namespace holdfast::cli
