#include "cli/primaries.hpp"

#include "protocol/scripts.hpp"
#include "protocol/slot.hpp"
#include "redis/deployment/sentinels.hpp"
#include "redis/endpoint.hpp"
#include "redis/tls.hpp"

#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <utility>

namespace holdfast::cli {

namespace asio = boost::asio;

namespace {

using settings_ptr = std::shared_ptr<config const>;

settings_ptr settings_of_node(config const& settings, config::address const& at) {
    auto made = settings;
    made.host = at.host;
    made.port = at.port;
    made.cluster_nodes.clear();
    return std::make_shared<config const>(std::move(made));
}

asio::awaitable<primary> open_one(settings_ptr settings, std::shared_ptr<detail::tls_trust> trust) {
    auto const executor = co_await asio::this_coro::executor;
    auto opening = server_session::open(executor, settings, trust);
    auto opened = co_await std::move(opening);
    co_return primary{
        .settings = settings,
        .address = detail::describe_endpoint(*settings),
        .session = std::move(opened.session),
        .cause = opened.cause,
        .why = std::move(opened.why),
    };
}

asio::awaitable<primaries> open_named(config const& settings) {
    auto const executor = co_await asio::this_coro::executor;
    // What is said of each Sentinel that does not answer as it should.
    std::string remarks;
    auto asking = settings;
    asking.log = [&remarks](log_level level, std::string_view line) {
        if (level != log_level::info) {
            remarks.append(remarks.empty() ? "" : "; ").append(line);
        }
    };
    primaries found;
    auto const source =
        std::make_shared<detail::sentinels>(executor, std::make_shared<config const>(asking));
    auto finding = source->find();
    auto const there = co_await std::move(finding);
    source->stop();
    if (!there.settings) {
        found.cause = there.cause;
        found.why = remarks.empty() ? there.cause.message() : remarks;
        co_return found;
    }
    auto named = *there.settings;
    named.log = settings.log;
    auto opening = open_one(
        std::make_shared<config const>(std::move(named)),
        std::make_shared<detail::tls_trust>(settings.tls)
    );
    found.all.push_back(co_await std::move(opening));
    co_return found;
}

/// Whether the node knew the slots. Says why not.
asio::awaitable<bool> learn_slots(primary const& from, primaries& to) {
    boost::redis::request ask;
    ask.push("EVAL", detail::scripts::cluster_slots.text, "0", "0");
    try {
        auto asking = from.session->ask(ask);
        auto replies = co_await std::move(asking);
        if (replies.front().is_error) {
            to.cause = detail::classify(replies.front().error).error;
            to.why = detail::loggable(replies.front().error);
            co_return false;
        }
        detail::script_reply const slots{detail::text_reply::of(replies.front()).text};
        auto map = std::make_shared<detail::slot_map>();
        auto const number = map->number_of({from.settings->host, from.settings->port});
        auto const no_other_asked = [](std::uint32_t) { return false; };
        if (map->on_answer(number, slots, no_other_asked) && map->any_primary()) {
            to.slots = std::move(map);
            to.cause = {};
            to.why.clear();
            co_return true;
        }
        to.cause = errc::unsupported_server;
        to.why = "the node knows of no slots";
    } catch (boost::system::system_error const& e) {
        to.cause = errc::unreachable;
        to.why = e.code().message();
    }
    co_return false;
}

asio::awaitable<primaries> open_cluster(config const& settings) {
    primaries found;
    auto const trust = std::make_shared<detail::tls_trust>(settings.tls);
    for (auto const& at : settings.cluster_nodes) {
        auto opening = open_one(settings_of_node(settings, at), trust);
        auto const seed = co_await std::move(opening);
        if (!seed.session) {
            found.cause = seed.cause;
            found.why = seed.address + ": " + seed.why;
            continue;
        }
        auto learning = learn_slots(seed, found);
        if (co_await std::move(learning)) {
            break;
        }
        found.why = seed.address + ": " + found.why;
    }
    if (!found.slots) {
        co_return found;
    }
    for (auto const number : found.slots->servers()) {
        if (found.slots->is_primary(number)) {
            auto opening =
                open_one(settings_of_node(settings, found.slots->address(number)), trust);
            auto node = co_await std::move(opening);
            node.number = number;
            found.all.push_back(std::move(node));
        }
    }
    co_return found;
}

}  // namespace

primary const* primaries::of_name(std::string_view name) const noexcept {
    for (auto const& one : all) {
        if (!slots || slots->server_of(detail::slot_of(name)) == one.number) {
            return one.session ? &one : nullptr;
        }
    }
    return nullptr;
}

asio::awaitable<primaries> open_primaries(config const& settings) {
    if (!settings.sentinels.empty()) {
        auto opening = open_named(settings);
        co_return co_await std::move(opening);
    }
    if (!settings.cluster_nodes.empty()) {
        auto opening = open_cluster(settings);
        co_return co_await std::move(opening);
    }
    primaries found;
    auto opening = open_one(
        std::make_shared<config const>(settings),
        std::make_shared<detail::tls_trust>(settings.tls)
    );
    found.all.push_back(co_await std::move(opening));
    co_return found;
}

}  // namespace holdfast::cli
