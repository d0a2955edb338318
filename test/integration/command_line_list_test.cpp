// `holdfast list`: every kind of lock with its holder, who that is, and how many wait; and nothing
// that is no lock.

#include "support/child_process.hpp"
#include "support/one_server.hpp"
#include "support/redis_cluster.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::test;

namespace {

constexpr auto long_enough = 60s;

struct ended {
    int code = 0;
    std::vector<std::string> lines;

    // The line that begins so: a lock of this name.
    [[nodiscard]] std::string of(std::string const& name) const {
        for (auto const& line : lines) {
            if (line.starts_with(R"({"name":")" + name + "\"")) {
                return line;
            }
        }
        return {};
    }
};

ended list(std::string const& url, std::vector<std::string> options = {}) {
    std::vector<std::string> all{"env", "HOLDFAST_URL=" + url, HOLDFAST_TEST_PROGRAM, "--json"};
    all.insert(all.end(), options.begin(), options.end());
    if (std::find(options.begin(), options.end(), "list") == options.end()) {
        all.emplace_back("list");
    }
    child_process program{all, {.standard_error = child_output::pipe}};
    ended result;
    std::istringstream text{program.read_all(long_enough)};
    for (std::string line; std::getline(text, line);) {
        result.lines.push_back(line);
    }
    result.code = program.wait(long_enough);
    return result;
}

bool has(std::string const& line, std::string const& part) {
    return line.find(part) != std::string::npos;
}

holdfast::config named(redis_server const& server, std::string name) {
    auto settings = holdfast::parse_url(server.url());
    settings.client_name = std::move(name);
    return settings;
}

// Waits until they wait: their queues and channels are on the server.
task until_waiting(
    redis_server& server,
    std::vector<std::string> const& keys,
    std::size_t channels
) {
    auto const there = [&] {
        auto probe = server.probe();
        for (auto const& key : keys) {
            if (!probe.exists(key)) {
                return false;
            }
        }
        return probe.pubsub_channels("redisson_sc:*").size() +
                   probe.pubsub_channels("redisson_countdownlatch*").size() ==
               channels;
    };
    BOOST_TEST(co_await co_eventually(20s, there));
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_kind_is_shown_with_its_holders_and_who_waits) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client shop{executor, named(server, "shop")};
        holdfast::client billing{executor, named(server, "billing")};
        auto const nothing = [](auto&&...) {};

        auto lock = co_await shop.lock("stock:7").acquire();
        billing.lock("stock:7").acquire(nothing);
        auto fair = co_await shop.fair_lock("fair").acquire();
        billing.fair_lock("fair").acquire(nothing);
        auto const read_write = billing.read_write_lock("rw");
        auto first = co_await shop.read_write_lock("rw").read().acquire();
        auto second = co_await read_write.read().acquire();
        read_write.write().acquire(nothing);
        auto written = co_await shop.read_write_lock("written").write().acquire();
        auto semaphore = shop.semaphore("sem");
        co_await semaphore.try_set_permits(3);
        auto permits = co_await semaphore.permits(2).acquire();
        auto latch = shop.latch("latch");
        co_await latch.try_set(2);
        billing.latch("latch").wait(nothing);
        auto counting = shop.counting_semaphore("cs");
        co_await counting.try_set_permits(0);
        billing.counting_semaphore("cs").acquire(nothing);
        std::vector<std::string> const queues{
            "holdfast_queue:{stock:7}",
            "redisson_lock_queue:{fair}",
            "holdfast_rwlock_queue:{rw}",
        };
        co_await until_waiting(server, queues, 2);

        auto const seen = list(server.url());
        BOOST_TEST(seen.code == 0);
        BOOST_TEST(seen.lines.size() == 7U);

        auto const stock = seen.of("stock:7");
        BOOST_TEST(has(stock, R"("kind":"lock")"), stock);
        BOOST_TEST(
            has(stock, R"("client":{"name":"shop","address":")" + server.unix_socket() + "\""),
            stock
        );
        BOOST_TEST(has(stock, R"("last_token":)" + std::to_string(lock.token().value)), stock);
        BOOST_TEST(has(stock, R"("age_ms":)"), stock);
        BOOST_TEST(has(stock, R"("remaining_ms":)"), stock);
        BOOST_TEST(has(stock, R"("waiting":1)"), stock);

        auto const of_fair = seen.of("fair");
        BOOST_TEST(has(of_fair, R"("kind":"fair_lock")"), of_fair);
        BOOST_TEST(has(of_fair, R"("waiting":1)"), of_fair);

        auto const of_rw = seen.of("rw");
        BOOST_TEST(has(of_rw, R"("kind":"read_write_lock")"), of_rw);
        BOOST_TEST(has(of_rw, R"("client":{"name":")"), of_rw);
        BOOST_TEST(has(of_rw, R"("readers":2)"), of_rw);
        BOOST_TEST(has(of_rw, R"("waiting":1)"), of_rw);
        BOOST_TEST(has(seen.of("written"), R"("held":true)"), seen.of("written"));
        BOOST_TEST(has(seen.of("written"), R"("readers":0)"), seen.of("written"));

        auto const of_semaphore = seen.of("sem");
        BOOST_TEST(has(of_semaphore, R"("kind":"semaphore")"), of_semaphore);
        BOOST_TEST(has(of_semaphore, R"("available":1,"acquired":2)"), of_semaphore);

        BOOST_TEST(has(seen.of("latch"), R"("kind":"latch")"), seen.of("latch"));
        BOOST_TEST(has(seen.of("latch"), R"("number":2)"), seen.of("latch"));
        BOOST_TEST(has(seen.of("latch"), R"("waiting":1)"), seen.of("latch"));
        BOOST_TEST(has(seen.of("cs"), R"("kind":"counting_semaphore")"), seen.of("cs"));

        BOOST_TEST(list(server.url(), {"list", "stock:*"}).lines.size() == 1U);
        BOOST_TEST(list(server.url(), {"--key-prefix", "sto", "list", "ck:?"}).lines.size() == 1U);
    });
}

BOOST_AUTO_TEST_CASE(the_age_is_the_time_since_the_grant) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto lease = co_await client.lock("a").acquire();
        auto const granted = server.probe().time();
        co_await sleep_for(300ms);
        auto const line = list(server.url()).of("a");
        auto const least = 300;
        auto const most = static_cast<std::int64_t>(server.probe().time() - granted) / 1000 + 2'000;
        auto const at = line.find("age_ms\":") + 8;
        BOOST_REQUIRE(at > 8U);
        auto const age = std::stoll(line.substr(at));
        BOOST_TEST(age >= least);
        BOOST_TEST(age <= most);
    });
}

BOOST_AUTO_TEST_CASE(foreign_data_is_not_shown) {
    redis_server server;
    auto probe = server.probe();
    probe.cmd("HSET", "page", "views", "3");
    probe.cmd("HSET", "session", "user:42", "1");
    probe.cmd("HSET", "settings", "mode", "read", "colour", "blue");
    probe.cmd("ZADD", "{job}:timeout", "17", "job-1");
    probe.cmd("SET", "job", "3");
    probe.cmd("SET", "visits", "17");
    probe.cmd("SET", "title", "seventeen");
    probe.cmd("RPUSH", "list", "a");
    auto const seen = list(server.url());
    BOOST_TEST(seen.code == 0);
    BOOST_TEST(seen.lines.empty());
}

BOOST_AUTO_TEST_CASE(a_lock_without_an_end_is_shown) {
    redis_server server;
    auto probe = server.probe();
    probe.cmd("HSET", "stuck", "8766556d-3dc3-4c66-bafa-c88ac2e160f9:17", "1");
    auto const line = list(server.url()).of("stuck");
    BOOST_TEST(has(line, R"("remaining_ms":null)"), line);
    BOOST_TEST(!has(line, "address"), line);
}

BOOST_AUTO_TEST_CASE(many_keys_are_looked_through_without_a_command_that_blocks) {
    redis_server server;
    auto probe = server.probe();
    probe.cmd("EVAL", "for i = 1, 3000 do redis.call('HSET', 'h' .. i, 'f', i) end", "0");
    for (int i = 0; i < 450; ++i) {
        auto const number = std::to_string(i);
        probe.cmd("HSET", "lock:" + number, "8766556d-3dc3-4c66-bafa-c88ac2e160f9:" + number, "1");
    }
    auto const seen = list(server.url());
    BOOST_TEST(seen.code == 0);
    BOOST_TEST(seen.lines.size() == 450U);
    auto const commands = probe.commandstats();
    BOOST_TEST(!commands.contains("keys"));
    BOOST_TEST(commands.contains("scan"));
    // Each lock is inspected as a lock and as a fair lock; of the other hashes no script is asked.
    BOOST_TEST(commands.at("evalsha") < 3'000);
}

BOOST_AUTO_TEST_CASE(a_user_who_may_not_scan_is_told_so) {
    redis_server server{
        {.users = {"alice on >secret ~* &* +@all -scan", "bob on >secret ~* &* +@all -client"}}
    };
    server.probe().cmd("HSET", "a", "8766556d-3dc3-4c66-bafa-c88ac2e160f9:17", "1");
    auto const refused = list("unix://alice:secret@" + server.unix_socket());
    BOOST_TEST(refused.code == 77);
    BOOST_REQUIRE(refused.lines.size() == 1U);
    BOOST_TEST(has(refused.lines[0], "scan"), refused.lines[0]);
    // Who it is cannot be told, and that is no failure.
    auto const nameless = list("unix://bob:secret@" + server.unix_socket());
    BOOST_TEST(nameless.code == 0);
    BOOST_TEST(!nameless.of("a").empty());
    BOOST_TEST(has(nameless.lines.back(), "CLIENT LIST"), nameless.lines.back());
}

BOOST_AUTO_TEST_CASE(the_locks_of_all_primaries_of_a_cluster_are_shown) {
    redis_cluster cluster;
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, cluster.url()};
        std::vector<holdfast::lease> held;
        for (std::size_t node = 0; node < cluster.size(); ++node) {
            auto const name = cluster.name_on(node, "lock-" + std::to_string(node) + "-");
            auto lease = co_await client.lock(name).acquire();
            held.push_back(std::move(lease));
        }
        auto const seen = list(cluster.url());
        BOOST_TEST(seen.code == 0);
        BOOST_TEST(seen.lines.size() == cluster.size());
        for (std::size_t node = 0; node < cluster.size(); ++node) {
            BOOST_TEST(has(seen.lines[node], "lock-" + std::to_string(node)));
            BOOST_TEST(has(seen.lines[node], ":" + std::to_string(cluster.node(node).tcp_port())));
            BOOST_TEST(has(seen.lines[node], R"("client":{"name":"holdfast")"));
        }
    });
}

// Others have keys on the server, too, and locks of kinds that this user does not use.
BOOST_AUTO_TEST_CASE(a_user_of_plain_locks_with_a_prefix_sees_them) {
    redis_server server;
    auto probe = server.probe();
    probe.cmd("HSET", "app:a", "8766556d-3dc3-4c66-bafa-c88ac2e160f9:17", "1");
    probe.cmd("ZADD", "{theirs}:timeout", "17", "0123456789abcdef");
    probe.cmd(
        "ACL",
        "SETUSER",
        "alice",
        "on",
        ">secret",
        "resetchannels",
        "~app:*",
        "~redisson_lock_token:{app:*",
        "~redisson_lock__channel:{app:*",
        "~holdfast_queue:{app:*",
        "&redisson_lock__channel:{app:*",
        "+ping",
        "+hello",
        "+time",
        "+evalsha",
        "+eval",
        "+subscribe",
        "+unsubscribe",
        "+pttl",
        "+hkeys",
        "+hgetall",
        "+hexists",
        "+get",
        "+exists",
        "+zcard",
        "+zcount",
        "+zrange",
        "+zscore",
        "+role",
        "+info",
        "+scan",
        "+hlen",
        "+hget",
        "+client|list",
        "+client|setname",
        "+pubsub"
    );
    auto const url = "unix://alice:secret@" + server.unix_socket();
    auto const seen = list(url, {"--key-prefix", "app:"});
    BOOST_TEST(seen.code == 0);
    BOOST_TEST(seen.lines.size() == 1U);
    BOOST_TEST(has(seen.of("a"), R"("kind":"lock")"));
}
