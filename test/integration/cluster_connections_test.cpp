// Which nodes of a Redis Cluster a client connects to, and what its user needs there.

#include "protocol/scripts.hpp"
#include "redis/deployment/cluster.hpp"
#include "runtime/counters.hpp"
#include "runtime/strand.hpp"
#include "support/one_cluster.hpp"

#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::test;

namespace {

struct nobody final : holdfast::detail::backend_events {
    void on_up(holdfast::detail::connection_id) override {}
    void on_down(holdfast::detail::connection_id) override {}
    void on_failure(holdfast::detail::connection_id, error_code) override {}
};

std::size_t clients_of(redis_cluster& cluster, std::size_t node, std::string const& name) {
    std::size_t count = 0;
    for (auto& each : cluster.probe(node).client_list()) {
        count += each["name"].starts_with(name) ? 1U : 0U;
    }
    return count;
}

// Of all nodes. It has no other rights.
void allow_alice(redis_cluster& cluster, std::string const& rights) {
    std::vector<std::string> words{"ACL", "SETUSER", "alice", "reset", "on", ">secret"};
    std::istringstream each{rights};
    for (std::string word; each >> word;) {
        words.push_back(word);
    }
    for (std::size_t i = 0; i < cluster.size(); ++i) {
        auto const reply = cluster.probe(i).command(words);
        BOOST_TEST(!reply.is_error(), reply.text);
    }
}

holdfast::config settings_of_alice(redis_cluster& cluster) {
    return holdfast::parse_url(cluster.url_as("alice:secret"));
}

}  // namespace

BOOST_AUTO_TEST_CASE(only_servers_in_use_are_connected_to) {
    with_cluster([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(cluster.url_of(0));
        settings.client_name = "only-one";
        holdfast::client client{executor, settings};
        co_await client.ready();
        BOOST_TEST(clients_of(cluster, 0, "only-one") == 2U);
        BOOST_TEST(clients_of(cluster, 1, "only-one") == 0U);
        auto lease = co_await client.lock(cluster.name_on(1, "used:")).acquire();
        BOOST_TEST(clients_of(cluster, 1, "only-one") == 2U);
        BOOST_TEST(clients_of(cluster, 2, "only-one") == 0U);
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(a_server_that_nobody_needs_is_left_and_connected_to_again) {
    with_cluster([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        namespace detail = holdfast::detail;
        using purpose = detail::connection_id::purpose;
        auto settings = std::make_shared<holdfast::config>(holdfast::parse_url(cluster.url_of(0)));
        settings->client_name = "idle";
        nobody events;
        auto const to = detail::make_cluster_that_idles(
            detail::strand{executor},
            settings,
            std::make_shared<detail::counters>(),
            400ms
        );
        to->start(events);
        auto const is_up = [&] {
            return to->up(purpose::commands) && to->up(purpose::subscriptions);
        };
        BOOST_TEST(co_await co_eventually(5s, is_up));
        auto const name = cluster.name_on(1, "idle:");
        auto const all = [&] {
            return clients_of(cluster, 0, "idle") + clients_of(cluster, 1, "idle");
        };
        // To ask whether it can be reached is to need it: its two connections need not be up at the
        // same moment as the answer.
        auto const both_are_connected_to = [&] {
            return to->reach(detail::slot_of(name)) && clients_of(cluster, 1, "idle") == 2U &&
                   all() == 4U;
        };
        BOOST_TEST(co_await co_eventually(5s, both_are_connected_to));
        // The last one stays: the cluster can be asked for its slots.
        BOOST_TEST(co_await co_eventually(5s, [&] { return all() == 2U; }));
        co_await sleep_for(1s);
        BOOST_TEST(all() == 2U);
        for (std::size_t i = 0; i < 2; ++i) {
            std::optional<detail::exec_result> got;
            detail::call look{detail::scripts::lock_inspect, 5s};
            auto const each = cluster.name_on(i, "idle:");
            look.key(each).key("redisson_lock_token:{" + each + "}");
            to->exec(std::move(look), [&](detail::exec_result result) { got = std::move(result); });
            BOOST_TEST(co_await co_eventually(5s, [&] { return got.has_value(); }));
            BOOST_TEST((got->status == detail::exec_status::replied));
        }
        to->stop();
    });
}

HOLDFAST_FOR_CHANNELS(a_user_needs_the_rights_that_the_readme_names_and_no_more) {
    std::string rights =
        "resetchannels ~app:* ~redisson_lock_token:{app:* ~redisson_lock__channel:{app:* "
        "~holdfast_queue:{app:* ~holdfast_hold:{app:* &redisson_lock__channel:{app:* "
        "&holdfast_waiters:{app:* &holdfast_client:* +ping +time +evalsha +eval +subscribe "
        "+unsubscribe +pttl +hkeys +hgetall +hexists +hset +hdel +set +get +incr +incrby +pexpire "
        "+pexpireat +exists +del +publish +zadd +zrem +zrange +zrank +zscore +zcount "
        "+pubsub|numsub +cluster|slots +asking";
    if (kind == holdfast::cluster_channel_kind::sharded) {
        rights += " +spublish +ssubscribe +sunsubscribe +pubsub|shardnumsub";
    }
    log_lines log;
    with_cluster([&](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        allow_alice(cluster, rights);
        auto settings = settings_of_alice(cluster);
        settings.cluster_channels = kind;
        settings.key_prefix = "app:";
        settings.log = log.sink();
        holdfast::client first{executor, settings};
        holdfast::client second{executor, settings};
        for (std::string const name : {"a", "b", "c"}) {
            auto held = co_await first.lock(name).acquire();
            waiting_acquire waiter{executor, second.lock(name)};
            auto probe = cluster.probe_of("app:" + name);
            BOOST_TEST(co_await co_eventually(5s, [&] {
                return probe.cmd("ZCARD", "holdfast_queue:{app:" + name + "}").number == 1;
            }));
            co_await held.release();
            BOOST_TEST(co_await co_eventually(2s, [&] { return waiter.granted(); }));
            co_await waiter.lease().release();
        }
        BOOST_TEST(second.stats().hand_overs_by.other_client == 3U);
    });
    BOOST_TEST(log.count(log_level::error, "") == 0U, log.all());
    BOOST_TEST(log.count(log_level::warning, "") == 0U, log.all());
}

BOOST_AUTO_TEST_CASE(without_the_right_to_ask_for_the_slots_a_client_says_so) {
    with_cluster([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        allow_alice(cluster, "~* &* +@all -cluster");
        holdfast::client client{executor, settings_of_alice(cluster)};
        auto ready = client.ready(as_result);
        auto [ec] = co_await std::move(ready);
        BOOST_TEST((ec == errc::no_permission), ec.message());
    });
}
