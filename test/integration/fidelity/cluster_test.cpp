// The models of the nodes of a cluster against the nodes themselves, while a slot is moved.

#include "fidelity/server_link.hpp"
#include "memory_server/redis_model.hpp"
#include "support/redis_cluster.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using holdfast::memory::cluster_view;
using holdfast::memory::moving_slot;
using holdfast::memory::redis_model;
using holdfast::memory::value;
using holdfast::test::redis_cluster;
using holdfast::test::server_link;

namespace {

using command = std::vector<std::string>;

constexpr std::size_t nodes = 3;

/// A cluster and the models of its nodes, which are told the same.
struct cluster_twin {
    cluster_twin() {
        for (std::size_t i = 0; i < nodes; ++i) {
            links.push_back(std::make_unique<server_link>(real.node(i).unix_socket()));
            links.back()->ask({"HELLO", "3"});
            truth.nodes.push_back({"127.0.0.1", real.node(i).tcp_port()});
            sessions.push_back(models[i].connect([this, i](value push) {
                pushes[i].push_back(std::move(push));
            }));
            models[i].execute(sessions[i], {"HELLO", "3"});
            models[i].share_data(models[0]);
        }
        for (auto const& range : links[0]->ask({"CLUSTER", "SLOTS"}).elements) {
            auto const port = range.elements[2].elements[1].number;
            auto const owner = std::find_if(truth.nodes.begin(), truth.nodes.end(), [&](auto& one) {
                return one.port == port;
            });
            std::fill(
                truth.owners.begin() + range.elements[0].number,
                truth.owners.begin() + range.elements[1].number + 1,
                static_cast<std::uint8_t>(owner - truth.nodes.begin())
            );
        }
        for (std::size_t i = 0; i < nodes; ++i) {
            tell(i);
        }
    }

    void tell(std::size_t node) {
        auto view = truth;
        view.self = node;
        models[node].set_cluster(std::move(view));
    }

    /// Both nodes of this number answer alike.
    void compare(std::size_t node, command const& words) {
        std::vector<std::string_view> const views{words.begin(), words.end()};
        links[node]->add(words);
        auto const said = links[node]->exchange();
        auto const modelled = models[node].execute(sessions[node], views);
        BOOST_REQUIRE(said.size() == 1U);
        BOOST_REQUIRE(modelled.has_value());
        BOOST_TEST(
            (said[0] == *modelled),
            words.front() + " at node " + std::to_string(node) + ": " + said[0].describe() +
                " and " + modelled->describe()
        );
    }

    redis_cluster real{};
    std::vector<std::unique_ptr<server_link>> links{};
    std::vector<redis_model> models = std::vector<redis_model>(nodes);
    std::vector<redis_model::session_id> sessions{};
    std::vector<std::vector<value>> pushes = std::vector<std::vector<value>>(nodes);
    cluster_view truth{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(fidelity_cluster)

BOOST_AUTO_TEST_CASE(nodes_and_their_models_answer_alike_while_a_slot_is_moved) {
    cluster_twin all;
    auto const key = all.real.name_on(0, "key:");
    auto const second = "{" + key + "}:second";
    auto const third = "{" + key + "}:third";
    auto const far = all.real.name_on(1, "far:");
    auto const slot = redis_cluster::slot_of(key);
    auto const at = [&](std::size_t node, command const& words) { all.compare(node, words); };
    command const script{"EVAL", "return redis.call('GET', KEYS[1])", "2", key, second};

    at(0, {"SET", key, "1"});
    at(0, {"GET", far});
    at(1, {"GET", key});
    at(2, {"GET", key});
    at(0, {"DEL", key, far});
    at(0, {"EVAL", "return 1", "0"});
    at(1, {"EVAL", "return 1", "1", key});
    at(0, {"EVAL", "return 1", "2", key, far});
    at(1, {"SPUBLISH", key, "x"});
    at(0, {"SPUBLISH", key, "x"});
    at(1, {"PUBLISH", key, "x"});
    at(1, {"SSUBSCRIBE", key});
    at(0, {"PUBSUB", "SHARDNUMSUB", key});

    all.real.begin_move(slot, 0, 1);
    auto const moving = std::make_shared<moving_slot>(moving_slot{slot, 0, 1});
    all.models[0].set_moving(moving);
    all.models[1].set_moving(moving);
    at(0, {"GET", key});
    at(0, {"GET", second});
    at(0, {"SET", second, "1"});
    at(1, {"SET", second, "1"});
    at(2, {"GET", second});
    at(0, script);
    at(1, {"ASKING"});
    at(1, {"SET", second, "2"});
    at(1, {"GET", second});
    at(1, {"ASKING"});
    at(1, {"GET", second});
    at(1, {"ASKING"});
    at(1, script);
    at(0, {"SPUBLISH", key, "x"});
    at(1, {"SPUBLISH", key, "x"});

    all.real.move_keys(slot, 0, 1);
    moving->arrived.insert(key);
    at(0, {"GET", key});
    at(0, script);
    at(1, {"GET", key});
    at(1, {"ASKING"});
    at(1, script);
    at(1, {"ASKING"});
    at(1, {"DEL", key, third});

    all.real.end_move(slot, 0, 1);
    all.truth.owners[slot] = 1;
    all.tell(1);
    all.tell(0);
    at(0, {"GET", key});
    at(1, {"GET", key});
    at(1, script);
    at(1, {"DEL", key, second, third});
    at(0, {"SPUBLISH", key, "x"});
    at(1, {"SPUBLISH", key, "x"});
}

BOOST_AUTO_TEST_CASE(a_sharded_channel_is_withdrawn_with_its_slot) {
    cluster_twin all;
    auto const channel = all.real.name_on(0, "channel:");
    auto const slot = redis_cluster::slot_of(channel);
    auto& link = *all.links[0];
    link.add({"SSUBSCRIBE", channel});
    link.send();
    auto const confirmed = link.receive();
    all.models[0].execute(all.sessions[0], {"SSUBSCRIBE", channel});
    BOOST_REQUIRE(all.pushes[0].size() == 1U);
    BOOST_TEST((confirmed == all.pushes[0][0]));
    all.real.move(slot, 1);
    all.truth.owners[slot] = 1;
    all.tell(0);
    BOOST_REQUIRE(all.pushes[0].size() == 2U);
    auto const withdrawn = link.receive();
    BOOST_TEST((withdrawn == all.pushes[0][1]), withdrawn.describe());
}

BOOST_AUTO_TEST_SUITE_END()
