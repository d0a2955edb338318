// `holdfast doctor` on servers that are well and on servers that are not: it names each fault.

#include "support/child_process.hpp"
#include "support/one_server.hpp"
#include "support/redis_cluster.hpp"
#include "support/replica_set.hpp"
#include "support/tcp_proxy.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

constexpr auto long_enough = 60s;

struct ended {
    int code = 0;
    std::string output;
};

ended examine(std::string const& url, std::vector<std::string> options = {}) {
    std::vector<std::string> all{"env", "HOLDFAST_URL=" + url, HOLDFAST_TEST_PROGRAM};
    all.insert(all.end(), {"--json", "doctor"});
    all.insert(all.end(), options.begin(), options.end());
    child_process program{all, {.standard_error = child_output::pipe}};
    ended result;
    result.output = program.read_all(long_enough);
    result.code = program.wait(long_enough);
    return result;
}

bool has(ended const& of, std::string const& part) {
    return of.output.find(part) != std::string::npos;
}

std::size_t count(ended const& of, std::string const& part) {
    std::size_t found = 0;
    for (auto at = of.output.find(part); at != std::string::npos;
         at = of.output.find(part, at + 1)) {
        ++found;
    }
    return found;
}

std::string finding(std::string const& check, std::string const& severity) {
    return R"("check":")" + check + R"(","severity":")" + severity + R"(")";
}

// This fault and no other.
void check_fault(std::string const& url, std::string const& check) {
    auto const seen = examine(url);
    BOOST_TEST(seen.code == 1, seen.output);
    BOOST_TEST(has(seen, finding(check, "fault")), seen.output);
    BOOST_TEST(count(seen, R"("severity":"fault")") == 1U, seen.output);
    BOOST_TEST(has(seen, R"("hint":)"), seen.output);
}

// Every right of the server's, but these rules.
std::string alice_with(std::string const& rules) {
    return "alice on >secret ~* &* +@all " + rules;
}

std::string url_of_alice(redis_server const& server) {
    return "unix://alice:secret@" + server.unix_socket();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_server_that_is_well_has_no_finding_and_keeps_nothing) {
    redis_server server{{.appendonly = true}};
    auto const seen = examine(server.url());
    BOOST_TEST(seen.code == 0, seen.output);
    BOOST_TEST(seen.output.starts_with(R"({"worst":"ok")"), seen.output);
    for (std::string const check :
         {"version",
          "role",
          "eviction",
          "persistence",
          "clock",
          "latency",
          "rights",
          "writes",
          "hand-over"}) {
        BOOST_TEST(has(seen, finding(check, "ok")), check << ": " << seen.output);
    }
    BOOST_TEST(server.probe().keys().empty());
}

BOOST_AUTO_TEST_CASE(a_server_that_forgets_is_a_warning_and_no_failure) {
    redis_server server;
    auto const seen = examine(server.url());
    BOOST_TEST(seen.code == 0, seen.output);
    BOOST_TEST(seen.output.starts_with(R"({"worst":"warning")"), seen.output);
    BOOST_TEST(has(seen, finding("persistence", "warning")), seen.output);
    BOOST_TEST(has(seen, "nothing is written to disk"), seen.output);
}

BOOST_AUTO_TEST_CASE(a_server_that_evicts_is_a_fault) {
    redis_server server{{.extra = {"maxmemory 100mb", "maxmemory-policy allkeys-lru"}}};
    check_fault(server.url(), "eviction");
}

BOOST_AUTO_TEST_CASE(a_server_without_memory_is_a_fault) {
    redis_server server;
    server.probe().cmd("CONFIG", "SET", "maxmemory", "1");
    check_fault(server.url(), "memory");
}

BOOST_AUTO_TEST_CASE(a_user_without_scripts_is_a_fault_that_names_the_rights) {
    redis_server server{{.users = {alice_with("-@scripting")}}};
    check_fault(url_of_alice(server), "rights");
    auto const seen = examine(url_of_alice(server));
    BOOST_TEST(has(seen, "ACL SETUSER alice +eval +evalsha\""), seen.output);
    BOOST_TEST(!has(seen, "secret"), seen.output);
}

BOOST_AUTO_TEST_CASE(a_user_without_channels_is_a_fault_that_names_the_rights) {
    redis_server server{{.users = {alice_with("resetchannels")}}};
    check_fault(url_of_alice(server), "rights");
    auto const seen = examine(url_of_alice(server));
    BOOST_TEST(has(seen, "&redisson_lock__channel:{*"), seen.output);
}

BOOST_AUTO_TEST_CASE(a_user_without_subscriptions_is_a_fault) {
    redis_server server{{.users = {alice_with("-subscribe")}}};
    check_fault(url_of_alice(server), "rights");
}

BOOST_AUTO_TEST_CASE(a_user_who_may_not_queue_is_a_warning) {
    redis_server server{{.users = {alice_with("-zcount")}, .appendonly = true}};
    auto const seen = examine(url_of_alice(server));
    BOOST_TEST(seen.code == 0, seen.output);
    BOOST_TEST(has(seen, finding("rights", "warning")), seen.output);
    BOOST_TEST(has(seen, "hand-over is off"), seen.output);
    BOOST_TEST(has(seen, finding("hand-over", "ok")), seen.output);
}

// What the page on the Redis user asks for: the least that is needed.
BOOST_AUTO_TEST_CASE(a_user_with_the_least_rights_is_no_fault_and_what_it_may_not_ask_is_said) {
    redis_server server{
        {.users =
             {"app on >secret resetchannels ~app:* ~redisson_lock_token:{app:* "
              "~redisson_lock__channel:{app:* ~holdfast_queue:{app:* ~holdfast_hold:{app:* "
              "&redisson_lock__channel:{app:* &holdfast_waiters:{app:* &holdfast_client:* "
              "+ping +time +evalsha +eval +subscribe +unsubscribe +pttl +hkeys +hgetall +hexists "
              "+hset +hdel +set +get +incr +incrby +pexpire +pexpireat +exists +del +publish +zadd "
              "+zrem +zrange +zrank +zscore +zcount +pubsub|numsub"}}
    };
    std::vector<std::string> const all{
        "env",
        "HOLDFAST_URL=unix://app:secret@" + server.unix_socket(),
        HOLDFAST_TEST_PROGRAM,
        "--key-prefix",
        "app:",
        "doctor",
    };
    child_process program{all, {.standard_error = child_output::pipe}};
    ended seen;
    seen.output = program.read_all(long_enough);
    seen.code = program.wait(long_enough);
    BOOST_TEST(seen.code == 0, seen.output);
    BOOST_TEST(has(seen, "0 faults"), seen.output);
    BOOST_TEST(has(seen, "INFO         the user may not use it"), seen.output);
    BOOST_TEST(has(seen, "CONFIG       the user may not use it"), seen.output);
    BOOST_TEST(has(seen, "has not all rights for learned leases, fair locks"), seen.output);
    BOOST_TEST(has(seen, "from release to grant"), seen.output);
    BOOST_TEST(server.probe().keys().empty());
}

BOOST_AUTO_TEST_CASE(a_replica_is_a_fault_that_names_its_primary) {
    replica_set all{1};
    check_fault(all.replica().url(), "role");
    BOOST_TEST(has(examine(all.replica().url()), "this is a replica of 127.0.0.1:"));
    auto const primary = examine(all.primary().url());
    BOOST_TEST(primary.code == 0, primary.output);
    BOOST_TEST(has(primary, finding("replicas", "ok")), primary.output);
}

BOOST_AUTO_TEST_CASE(replicas_that_have_to_be_there_and_are_not_are_a_fault) {
    redis_server server{{.extra = {"min-replicas-to-write 1"}}};
    check_fault(server.url(), "replicas");
}

BOOST_AUTO_TEST_CASE(a_server_that_is_stopped_is_a_fault) {
    redis_server server;
    server.pause();
    check_fault(server.url(), "connection");
    server.resume();
}

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_is_a_fault) {
    check_fault("unix:///nowhere/redis.sock", "connection");
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_a_fault_and_is_not_told) {
    redis_server server{{.password = "right"}};
    auto const url = "unix://:wr0ng@" + server.unix_socket();
    check_fault(url, "login");
    BOOST_TEST(!has(examine(url), "wr0ng"));
    check_fault(server.url(), "login");
}

BOOST_AUTO_TEST_CASE(a_server_in_protected_mode_is_a_fault) {
    tcp_proxy const server{last_words{"-DENIED Redis is running in protected mode\r\n"}};
    check_fault(server.url(), "connection");
    BOOST_TEST(has(examine(server.url()), "protected-mode no"));
}

// A server of version 5 knows neither HELLO nor RESP3.
BOOST_AUTO_TEST_CASE(an_old_server_is_a_fault) {
    tcp_proxy const server{
        last_words{"-ERR unknown command `HELLO`, with args beginning with: `3`, \r\n"}
    };
    check_fault(server.url(), "version");
}

// As twemproxy does, which knows no HELLO.
BOOST_AUTO_TEST_CASE(a_peer_that_closes_the_connection_upon_hello_is_a_fault_that_says_so) {
    tcp_proxy const server{last_words{""}};
    check_fault(server.url(), "connection");
    auto const seen = examine(server.url());
    BOOST_TEST(has(seen, "closed the connection upon HELLO"), seen.output);
    BOOST_TEST(has(seen, "twemproxy"), seen.output);
}

BOOST_AUTO_TEST_CASE(connections_that_the_server_closes_early_are_a_warning) {
    redis_server server{{.appendonly = true, .extra = {"timeout 2"}}};
    auto const seen = examine(server.url());
    BOOST_TEST(seen.code == 0, seen.output);
    BOOST_TEST(has(seen, finding("timeout", "warning")), seen.output);
}

BOOST_AUTO_TEST_CASE(each_primary_of_a_cluster_is_examined) {
    redis_cluster cluster;
    auto const seen = examine(cluster.url());
    BOOST_TEST(seen.code == 0, seen.output);
    BOOST_TEST(count(seen, finding("cluster", "ok")) == 3U, seen.output);
    BOOST_TEST(count(seen, finding("rights", "ok")) == 3U, seen.output);
    BOOST_TEST(count(seen, finding("hand-over", "ok")) == 1U, seen.output);
    for (std::size_t i = 0; i < cluster.size(); ++i) {
        BOOST_TEST(cluster.probe(i).keys().empty());
    }
    // One of them as if it were alone.
    check_fault(cluster.node(0).tcp_url(), "kind");
}

BOOST_AUTO_TEST_CASE(a_report_for_people_is_short) {
    redis_server server{{.appendonly = true}};
    std::vector<std::string> const all{
        "env",
        "HOLDFAST_URL=" + server.url(),
        HOLDFAST_TEST_PROGRAM,
        "doctor",
        "--quiet",
    };
    child_process program{all, {.standard_error = child_output::pipe}};
    BOOST_TEST(program.read_all(long_enough) == server.unix_socket() + "\nno fault found\n");
    BOOST_TEST(program.wait(long_enough) == 0);
}
