#include "sentinel_group.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <stdexcept>
#include <thread>
#include <utility>

namespace holdfast::test {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr std::string_view name = sentinel_group::primary_name;

// Sentinels that vote for themselves at the same moment begin anew after twice the failover
// timeout, and may do so more than once. A Sentinel that is told to fail over needs no votes.
constexpr auto patience = 8s;

// A Sentinel that cannot be hurried takes up to a second to connect to a server again, and a server
// that is promoted closes its connections. With less it is taken for dead then, and the next one is
// promoted.
constexpr std::chrono::milliseconds least_of_old{2'500};

std::string monitored(std::string const& what, std::string const& value) {
    return "sentinel " + what + " " + std::string{name} + " " + value;
}

// A short-lived connection: whoever answers late is asked again.
redis_probe brief_probe(redis_server const& of) {
    auto probe = of.probe();
    probe.set_timeout(1s);
    return probe;
}

std::map<std::string, std::string> fields_of(redis_value const& reply) {
    std::map<std::string, std::string> fields;
    for (std::size_t i = 0; i + 1 < reply.elements.size(); i += 2) {
        fields[reply.elements[i].as_string()] = reply.elements[i + 1].as_string();
    }
    return fields;
}

// What a Sentinel says of the primary.
std::map<std::string, std::string> ask(redis_server const& sentinel) {
    return fields_of(brief_probe(sentinel).cmd("SENTINEL", "MASTER", name));
}

server_place place_of(std::vector<server_place> const& places, std::size_t number) {
    return places.empty() ? server_place{} : places.at(number);
}

// Whether a Sentinel has heard that each replica it knows follows the primary.
bool sees_all_follow(redis_server const& sentinel) {
    auto const all = brief_probe(sentinel).cmd("SENTINEL", "REPLICAS", name);
    return std::ranges::all_of(all.elements, [](redis_value const& one) {
        auto const says = fields_of(one);
        return says.at("flags") == "slave" && says.at("master-link-status") == "ok";
    });
}

bool within(std::chrono::milliseconds limit, auto const& holds) {
    auto const deadline = steady_clock::now() + limit;
    while (true) {
        try {
            if (holds()) {
                return true;
            }
        } catch (std::exception const&) {
            // one that is down, or paused
        }
        if (steady_clock::now() >= deadline) {
            return false;
        }
        std::this_thread::sleep_for(10ms);
    }
}

}  // namespace

sentinel_group::sentinel_group(group_options options) : options_{std::move(options)} {
    start_servers();
    start_sentinels();
    if (!within(usual_limit, [this] { return set_pace(); }) || !wait_until_whole()) {
        throw std::runtime_error{"the Sentinels do not find each other, or the replicas"};
    }
}

void sentinel_group::start_servers() {
    for (std::size_t i = 0; i <= options_.replicas; ++i) {
        server_options made{
            .tcp = true,
            .password = options_.password,
            .users = options_.users,
            .extra = {"repl-diskless-sync-delay 0", "repl-ping-replica-period 1"},
            .program = options_.program,
            .place = place_of(options_.server_places, i),
        };
        if (!options_.password.empty()) {
            made.extra.push_back("masterauth " + options_.password);
        }
        if (i > 0) {
            made.extra.push_back(
                "replicaof " + servers_.front()->address() + " " +
                std::to_string(servers_.front()->tcp_port())
            );
        }
        servers_.push_back(std::make_unique<redis_server>(std::move(made)));
    }
}

void sentinel_group::start_sentinels() {
    auto const quorum = options_.sentinels / 2 + 1;
    for (std::size_t i = 0; i < options_.sentinels; ++i) {
        server_options made{
            .tcp = true,
            .tls = options_.sentinel_tls,
            .password = options_.sentinel_password,
            .extra =
                {
                    monitored(
                        "monitor",
                        servers_.front()->address() + " " +
                            std::to_string(servers_.front()->tcp_port()) + " " +
                            std::to_string(quorum)
                    ),
                    monitored(
                        "down-after-milliseconds",
                        std::to_string(options_.down_after.count())
                    ),
                    monitored(
                        "failover-timeout",
                        std::to_string(options_.failover_timeout.count())
                    ),
                    monitored("parallel-syncs", "8"),
                },
            .program = options_.program,
            .sentinel = true,
            .place = place_of(options_.sentinel_places, i),
        };
        if (!options_.password.empty()) {
            made.extra.push_back(monitored("auth-pass", options_.password));
        }
        if (!options_.sentinel_password.empty()) {
            made.extra.push_back("sentinel sentinel-pass " + options_.sentinel_password);
        }
        sentinels_.push_back(std::make_unique<redis_server>(std::move(made)));
    }
}

bool sentinel_group::set_pace() {
    return std::ranges::all_of(sentinels_, [this](auto const& each) {
        return hurry(*each) || options_.down_after >= least_of_old ||
               !brief_probe(*each)
                    .cmd("SENTINEL", "SET", name, "down-after-milliseconds", least_of_old.count())
                    .is_error();
    });
}

// What a Sentinel last heard of a replica must be younger than five times PING-PERIOD where the
// primary is down, else than three times INFO-PERIOD: it promotes no other one. During a failover,
// and while a replica is cut off, it asks each second, whatever it is told.
bool sentinel_group::hurry(redis_server& sentinel) {
    auto const reply = brief_probe(sentinel).cmd(
        "SENTINEL",
        "DEBUG",
        "INFO-PERIOD",
        300,
        "PING-PERIOD",
        400,
        "ASK-PERIOD",
        100,
        "PUBLISH-PERIOD",
        500,
        "MIN-LINK-RECONNECT-PERIOD",
        200
    );
    return !reply.is_error();
}

std::string sentinel_group::url_of(
    std::vector<std::size_t> const& sentinels,
    std::string const& query
) const {
    std::string hosts;
    for (auto const number : sentinels) {
        auto const& one = *sentinels_.at(number);
        hosts += hosts.empty() ? "" : ",";
        hosts += options_.sentinel_tls ? "localhost:" + std::to_string(one.tls_port())
                                       : one.address() + ":" + std::to_string(one.tcp_port());
    }
    auto const login = options_.password.empty() ? "" : ":" + options_.password + "@";
    return "redis-sentinel://" + login + hosts + "/" + std::string{name} + query;
}

std::string sentinel_group::url(std::string const& query) const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < sentinels_.size(); ++i) {
        all.push_back(i);
    }
    return url_of(all, query);
}

std::string sentinel_group::url_as(std::string const& login) const {
    constexpr std::string_view scheme = "redis-sentinel://";
    return std::string{scheme} + login + "@" + url().substr(scheme.size());
}

std::size_t sentinel_group::primary(std::size_t asked) const {
    auto const named = ask(*sentinels_.at(asked));
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        auto const& one = *servers_[i];
        if (one.address() == named.at("ip") && std::to_string(one.tcp_port()) == named.at("port")) {
            return i;
        }
    }
    throw std::runtime_error{"the Sentinel names a server that is none of the group's"};
}

void sentinel_group::fail_over(std::size_t asked) {
    redis_value reply;
    bool const begun = within(20s, [&] {
        reply = brief_probe(*sentinels_.at(asked)).cmd("SENTINEL", "FAILOVER", name);
        return !reply.is_error();
    });
    if (!begun) {
        throw std::runtime_error{"SENTINEL FAILOVER: " + reply.describe()};
    }
}

std::optional<std::size_t> sentinel_group::wait_for_switch(
    std::size_t from,
    std::chrono::milliseconds limit,
    who says_so
) const {
    std::optional<std::size_t> found;
    std::size_t forced = 0;
    auto begun = steady_clock::now();
    auto const help = [&] {
        if (from < servers_.size() && steady_clock::now() - begun > patience) {
            begun = steady_clock::now();
            auto const& asked = *sentinels_[forced++ % sentinels_.size()];
            if (asked.pid() >= 0) {
                static_cast<void>(brief_probe(asked).cmd("SENTINEL", "FAILOVER", name));
            }
        }
    };
    auto const switched = [&] {
        std::optional<std::size_t> named;
        bool doubted = false;
        for (std::size_t i = 0; i < sentinels_.size(); ++i) {
            if (sentinels_[i]->pid() < 0) {
                continue;
            }
            auto const says = primary(i);
            doubted = doubted || says == from || (named && *named != says);
            if (says != from) {
                named = says;
            }
        }
        if (!named) {
            help();
            return false;
        }
        if ((doubted && says_so == who::all) ||
            brief_probe(*servers_.at(*named)).info("replication").at("role") != "master") {
            return false;
        }
        found = named;
        return true;
    };
    if (!within(limit, switched)) {
        tell_logs();
    }
    return found;
}

void sentinel_group::tell_logs() const {
    for (auto const& one : sentinels_) {
        auto const text = one->log();
        constexpr std::size_t end = 3'000;
        std::cerr << "the end of a Sentinel's log:\n"
                  << text.substr(text.size() > end ? text.size() - end : 0) << '\n';
    }
}

bool sentinel_group::knows_all(redis_server& sentinel) const {
    auto const says = ask(sentinel);
    return says.at("num-slaves") == std::to_string(options_.replicas) &&
           says.at("num-other-sentinels") == std::to_string(options_.sentinels - 1) &&
           says.at("flags") == "master" && sees_all_follow(sentinel);
}

bool sentinel_group::has_all_data(std::size_t number) const {
    auto const says = brief_probe(*servers_.at(number)).info("replication");
    if (number == primary()) {
        return says.at("role") == "master" &&
               says.at("connected_slaves") == std::to_string(options_.replicas);
    }
    return says.at("role") == "slave" && says.at("master_link_status") == "up" &&
           says.at("master_host") == servers_.at(primary())->address() &&
           says.at("master_port") == std::to_string(servers_.at(primary())->tcp_port());
}

// A replica may say that it is up before it is sent what is written.
bool sentinel_group::replicates() const {
    auto probe = brief_probe(*servers_.at(primary()));
    probe.set("replicates", "?");
    probe.del("replicates");
    return probe.cmd("WAIT", options_.replicas, 500).number ==
           static_cast<std::int64_t>(options_.replicas);
}

bool sentinel_group::wait_until_whole(std::chrono::milliseconds limit) {
    return within(limit, [&] {
        for (auto const& each : sentinels_) {
            static_cast<void>(hurry(*each));
        }
        for (auto const& each : sentinels_) {
            if (!knows_all(*each)) {
                return false;
            }
        }
        for (std::size_t i = 0; i < servers_.size(); ++i) {
            if (!has_all_data(i)) {
                return false;
            }
        }
        return replicates();
    });
}

}  // namespace holdfast::test
