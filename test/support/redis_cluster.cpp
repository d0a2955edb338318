#include "redis_cluster.hpp"

#include "protocol/slot.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

namespace holdfast::test {

namespace {

using namespace std::chrono_literals;

constexpr auto form_limit = 30s;

void check(redis_value const& reply, std::string const& what) {
    if (reply.is_error()) {
        throw std::runtime_error{what + ": " + reply.text};
    }
}

}  // namespace

redis_cluster::redis_cluster(cluster_options options) {
    for (std::size_t i = 0; i < options.primaries + options.replicas; ++i) {
        server_options node{
            .users = options.users,
            .extra = options.extra,
            .program = options.program,
            .cluster = true,
        };
        node.extra.insert(
            node.extra.end(),
            {
                "cluster-config-file nodes.conf",
                "cluster-node-timeout 1000",
                "cluster-replica-validity-factor 0",
            }
        );
        nodes_.push_back(std::make_unique<redis_server>(std::move(node)));
        ids_.push_back(probe(i).cmd("CLUSTER", "MYID").as_string());
        is_replica_.push_back(i >= options.primaries);
    }
    form(options);
}

void redis_cluster::form(cluster_options const& options) {
    for (std::size_t i = 0; i < size(); ++i) {
        auto at = probe(i);
        // Each has its own from the beginning: nodes with equal epochs argue first.
        check(at.cmd("CLUSTER", "SET-CONFIG-EPOCH", i + 1), "SET-CONFIG-EPOCH");
        if (!is_replica_[i]) {
            auto const share = detail::slot_count / options.primaries;
            auto const first = i * share;
            auto const last =
                i + 1 == options.primaries ? detail::slot_count - 1U : first + share - 1;
            at.add_slots(first, last);
        }
        if (i > 0) {
            check(probe(0).cmd("CLUSTER", "MEET", "127.0.0.1", node(i).tcp_port()), "CLUSTER MEET");
        }
    }
    auto const each_says = [this](std::string const& line) {
        return [this, line] {
            for (std::size_t i = 0; i < size(); ++i) {
                auto const said = probe(i).cmd("CLUSTER", "INFO").as_string();
                if (said.find(line) == std::string::npos) {
                    return false;
                }
            }
            return true;
        };
    };
    auto const everybody = "cluster_known_nodes:" + std::to_string(size()) + "\r\n";
    wait_for("all nodes know each other", each_says(everybody));
    for (std::size_t i = options.primaries; i < size(); ++i) {
        auto const of = (i - options.primaries) % options.primaries;
        wait_for("a replica finds its primary", [&] {
            return !probe(i).cmd("CLUSTER", "REPLICATE", ids_[of]).is_error();
        });
        wait_for("a replica follows its primary", [&] {
            return probe(i).info("replication")["master_link_status"] == "up";
        });
    }
    wait_for("the cluster is up", each_says("cluster_state:ok"));
}

void redis_cluster::wait_for(std::string const& what, std::function<bool()> const& holds) {
    auto const limit = std::chrono::steady_clock::now() + form_limit;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > limit) {
            throw std::runtime_error{"redis_cluster: not yet: " + what};
        }
        std::this_thread::sleep_for(20ms);
    }
}

std::string redis_cluster::url_as(std::string const& login) const {
    std::string text = "redis-cluster://" + login + (login.empty() ? "" : "@");
    for (auto const& one : nodes_) {
        text += one == nodes_.front() ? "" : ",";
        text += "127.0.0.1:" + std::to_string(one->tcp_port());
    }
    return text;
}

std::string redis_cluster::url_of(std::size_t number) const {
    return "redis-cluster://127.0.0.1:" + std::to_string(nodes_.at(number)->tcp_port());
}

std::uint16_t redis_cluster::slot_of(std::string_view key) {
    return detail::slot_of(key);
}

std::size_t redis_cluster::owner_of(std::uint16_t slot, std::size_t asked) {
    auto const said = probe(asked).cmd("CLUSTER", "SLOTS");
    for (auto const& range : said.as_array()) {
        auto const& words = range.as_array();
        if (words.at(0).as_integer() <= slot && slot <= words.at(1).as_integer()) {
            auto const& id = words.at(2).as_array().at(2).as_string();
            auto const at = std::find(ids_.begin(), ids_.end(), id);
            return static_cast<std::size_t>(at - ids_.begin());
        }
    }
    throw std::runtime_error{"redis_cluster: nobody has the slot"};
}

std::string redis_cluster::name_on(std::size_t number, std::string const& beginning) {
    for (int i = 0;; ++i) {
        auto const name = beginning + std::to_string(i);
        if (owner_of(name) == number) {
            return name;
        }
    }
}

void redis_cluster::begin_move(std::uint16_t slot, std::size_t from, std::size_t to) {
    check(probe(to).cmd("CLUSTER", "SETSLOT", slot, "IMPORTING", ids_[from]), "IMPORTING");
    check(probe(from).cmd("CLUSTER", "SETSLOT", slot, "MIGRATING", ids_[to]), "MIGRATING");
}

void redis_cluster::move_keys(std::uint16_t slot, std::size_t from, std::size_t to) {
    auto at = probe(from);
    for (;;) {
        auto const keys = at.cmd("CLUSTER", "GETKEYSINSLOT", slot, 100).as_array();
        if (keys.empty()) {
            return;
        }
        std::vector<std::string> words{
            "MIGRATE",
            "127.0.0.1",
            std::to_string(node(to).tcp_port()),
            "",
            "0",
            "5000",
            "KEYS"
        };
        for (auto const& key : keys) {
            words.push_back(key.as_string());
        }
        check(at.command(words), "MIGRATE");
    }
}

void redis_cluster::end_move(std::uint16_t slot, std::size_t from, std::size_t to) {
    check(probe(to).cmd("CLUSTER", "SETSLOT", slot, "NODE", ids_[to]), "SETSLOT NODE");
    check(probe(from).cmd("CLUSTER", "SETSLOT", slot, "NODE", ids_[to]), "SETSLOT NODE");
}

void redis_cluster::move(std::uint16_t slot, std::size_t to) {
    auto const from = owner_of(slot);
    begin_move(slot, from, to);
    move_keys(slot, from, to);
    end_move(slot, from, to);
    // The others learn of it by themselves; what a test asks next is asked of all.
    wait_for("all nodes know who has the slot", [&] {
        for (std::size_t i = 0; i < size(); ++i) {
            if (nodes_[i]->pid() > 0 && owner_of(slot, i) != to) {
                return false;
            }
        }
        return true;
    });
}

std::int64_t redis_cluster::errors(std::size_t number, std::string const& code) {
    auto const all = probe(number).info("errorstats");
    auto const at = all.find("errorstat_" + code);
    return at == all.end() ? 0 : std::stoll(at->second.substr(at->second.find('=') + 1));
}

std::int64_t redis_cluster::errors(std::string const& code) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < size(); ++i) {
        sum += nodes_[i]->pid() > 0 ? errors(i, code) : 0;
    }
    return sum;
}

void redis_cluster::flush() {
    for (std::size_t i = 0; i < size(); ++i) {
        if (nodes_[i]->pid() > 0 && !is_replica_[i]) {
            probe(i).flushall();
        }
    }
}

}  // namespace holdfast::test
