#include "soak/cluster_group.hpp"

#include "soak/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <thread>
#include <utility>

namespace holdfast::soak {

using namespace std::chrono_literals;

namespace {

// With the right to see which server it is, and what is for a cluster.
test::cluster_options options_of_cluster(cell_options const& options) {
    test::cluster_options made;
    made.replicas = made.primaries;
    made.program = options.server_program;
    made.users = {fmt::format("{} {} {}", user_name, user_rules, user_rules_of_cluster)};
    made.extra = {"repl-diskless-sync-delay 0", "repl-ping-replica-period 1"};
    return made;
}

bool within(millis limit, auto const& holds) {
    auto const deadline = std::chrono::steady_clock::now() + limit;
    while (true) {
        try {
            if (holds()) {
                return true;
            }
        } catch (std::exception const&) {
            // One that has gone just now.
        }
        if (std::chrono::steady_clock::now() >= deadline) {
            return false;
        }
        std::this_thread::sleep_for(10ms);
    }
}

}  // namespace

cluster_group::cluster_group(cell_options const& options) : nodes_{options_of_cluster(options)} {}

std::string cluster_group::url() const {
    return nodes_.url_as(fmt::format("{}:{}", user_name, user_password));
}

void cluster_group::pause(std::size_t number) {
    node(number).pause();
    stopped_.insert(number);
}

void cluster_group::resume(std::size_t number) {
    node(number).resume();
    stopped_.erase(number);
}

void cluster_group::raise_all() {
    for (std::size_t i = 0; i < size(); ++i) {
        if (node(i).pid() < 0) {
            node(i).restart(true);
        } else {
            resume(i);
        }
    }
}

test::redis_probe cluster_group::probe(std::size_t number) {
    auto made = node(number).probe();
    made.set_timeout(1s);
    return made;
}

std::size_t cluster_group::number_of(std::int64_t port) {
    for (std::size_t i = 0; i < size(); ++i) {
        if (node(i).tcp_port() == port) {
            return i;
        }
    }
    throw std::runtime_error{fmt::format("no node of the cluster has the port {}", port)};
}

std::vector<cluster_group::shard> cluster_group::shards(std::size_t asked) {
    auto const said = probe(asked).cmd("CLUSTER", "SLOTS");
    std::vector<shard> all;
    for (auto const& range : said.as_array()) {
        auto const& words = range.as_array();
        auto& one = all.emplace_back();
        one.first = static_cast<std::uint16_t>(words.at(0).as_integer());
        one.last = static_cast<std::uint16_t>(words.at(1).as_integer());
        one.primary = number_of(words.at(2).as_array().at(1).as_integer());
        for (std::size_t i = 3; i < words.size(); ++i) {
            one.replicas.push_back(number_of(words[i].as_array().at(1).as_integer()));
        }
    }
    return all;
}

std::vector<cluster_group::shard> cluster_group::shards() {
    for (std::size_t i = 0; i < size(); ++i) {
        if (answers(i)) {
            return shards(i);
        }
    }
    throw std::runtime_error{"no node of the cluster answers"};
}

std::uint16_t cluster_group::slot_of(std::int64_t lock) {
    return test::redis_cluster::slot_of(fmt::format("{}{}", key_prefix, lock));
}

std::size_t cluster_group::owner_of(std::int64_t lock) {
    auto const slot = slot_of(lock);
    for (auto const& each : shards()) {
        if (each.first <= slot && slot <= each.last) {
            return each.primary;
        }
    }
    throw std::runtime_error{fmt::format("nobody has the slot of lock {}", lock)};
}

std::int64_t cluster_group::locks_of(std::size_t primary) {
    std::int64_t found = 0;
    auto const all = shards();
    for (int lock = 0; lock < all_locks; ++lock) {
        auto const slot = slot_of(lock);
        bool const has = std::any_of(all.begin(), all.end(), [&](shard const& each) {
            return each.primary == primary && each.first <= slot && slot <= each.last;
        });
        found |= has ? bit_of(lock) : 0;
    }
    return found;
}

std::vector<std::size_t> cluster_group::primaries() {
    std::set<std::size_t> found;
    for (auto const& each : shards()) {
        found.insert(each.primary);
    }
    return {found.begin(), found.end()};
}

std::size_t cluster_group::replica_of(std::size_t primary) {
    for (auto const& each : shards()) {
        if (each.primary == primary && !each.replicas.empty()) {
            return each.replicas.front();
        }
    }
    throw std::runtime_error{fmt::format("node {} has no replica", primary)};
}

std::string cluster_group::key_on(std::size_t primary) {
    auto const all = shards();
    for (int i = 0;; ++i) {
        auto const key = fmt::format("replicates:{}", i);
        auto const slot = test::redis_cluster::slot_of(key);
        for (auto const& each : all) {
            if (each.primary == primary && each.first <= slot && slot <= each.last) {
                return key;
            }
        }
    }
}

bool cluster_group::wait_for_takeover(std::size_t from, millis limit) {
    return within(limit, [&] {
        for (std::size_t i = 0; i < size(); ++i) {
            if (i == from || !answers(i)) {
                continue;
            }
            // The successor is the first to know.
            auto const all = shards(i);
            bool const has_some = std::any_of(all.begin(), all.end(), [i](shard const& each) {
                return each.primary == i;
            });
            bool const nothing_left = std::none_of(all.begin(), all.end(), [&](shard const& each) {
                return each.primary == from;
            });
            if (has_some && nothing_left) {
                return true;
            }
        }
        return false;
    });
}

bool cluster_group::wait_for_demotion(std::size_t of, millis limit) {
    return within(limit, [&] { return probe(of).info("replication").at("role") == "slave"; });
}

// Replicas may be behind, and are listed in any order.
bool cluster_group::agree() {
    std::vector<std::vector<shard>> said;
    for (std::size_t i = 0; i < size(); ++i) {
        if (answers(i)) {
            auto& all = said.emplace_back(shards(i));
            for (auto& each : all) {
                each.replicas.clear();
            }
            std::sort(all.begin(), all.end(), [](shard const& a, shard const& b) {
                return a.first < b.first;
            });
            if (probe(i).cmd("CLUSTER", "INFO").as_string().find("cluster_state:ok") ==
                std::string::npos) {
                return false;
            }
        }
    }
    return std::all_of(said.begin(), said.end(), [&](auto const& each) {
        return each == said.front();
    });
}

bool cluster_group::is_whole() {
    for (std::size_t i = 0; i < size(); ++i) {
        if (!answers(i)) {
            return false;
        }
    }
    auto const all = primaries();
    if (all.size() * 2 != size() || !agree()) {
        return false;
    }
    for (auto const each : all) {
        auto at = probe(each);
        auto const copies = at.info("replication");
        // A replica may say that it is up before it is sent what is written.
        if (copies.at("role") != "master" || copies.at("connected_slaves") != "1" ||
            copies.at("slave0").find("state=online") == std::string::npos) {
            return false;
        }
        // All others know it, too.
        static_cast<void>(replica_of(each));
        auto const key = key_on(each);
        at.set(key, "?");
        at.del(key);
        if (at.cmd("WAIT", 1, 500).number != 1) {
            return false;
        }
    }
    return true;
}

bool cluster_group::wait_until_agreed(millis limit) {
    return within(limit, [this] { return agree(); });
}

bool cluster_group::wait_until_whole(millis limit) {
    return within(limit, [this] { return is_whole(); });
}

std::map<std::size_t, std::int64_t> cluster_group::redirections() {
    std::map<std::size_t, std::int64_t> found;
    for (std::size_t i = 0; i < size(); ++i) {
        if (answers(i)) {
            found[i] = nodes_.errors(i, "MOVED");
        }
    }
    return found;
}

}  // namespace holdfast::soak
