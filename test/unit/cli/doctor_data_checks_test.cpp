#include "cli/doctor_checks.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace holdfast::cli;
using holdfast::config;

namespace {

server_facts primary_with(fields info, fields settings = {}) {
    return {
        .hello = {.version = "7.0.15", .major = 7, .mode = "standalone", .role = "master"},
        .info = std::move(info),
        .settings = std::move(settings),
    };
}

// The checks and their severities, as `eviction fault, memory ok`.
std::string summary(std::vector<finding> const& all) {
    std::string text;
    for (auto const& one : all) {
        text += text.empty() ? "" : ", ";
        text += one.check + (one.what == severity::ok        ? " ok"
                             : one.what == severity::warning ? " warning"
                                                             : " fault");
        BOOST_TEST((one.what == severity::ok || !one.hint.empty()), one.text);
    }
    return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_server_that_evicts_is_a_fault_if_its_memory_has_a_limit) {
    auto const memory = [](char const* limit, char const* policy, char const* used) {
        return summary(check_memory(primary_with(
            {{"maxmemory", limit}, {"maxmemory_policy", policy}, {"used_memory", used}}
        )));
    };
    BOOST_TEST(memory("0", "allkeys-lru", "1000") == "eviction ok");
    BOOST_TEST(memory("1000000", "allkeys-lru", "1000") == "eviction fault, memory ok");
    BOOST_TEST(memory("1000000", "volatile-ttl", "1000") == "eviction fault, memory ok");
    BOOST_TEST(memory("1000000", "noeviction", "899999") == "eviction ok, memory ok");
    BOOST_TEST(memory("1000000", "noeviction", "900000") == "eviction ok, memory warning");
    BOOST_TEST(memory("1000000", "noeviction", "1000000") == "eviction ok, memory fault");
    BOOST_TEST(check_memory(primary_with({})).empty());
}

BOOST_AUTO_TEST_CASE(what_a_crash_forgets_is_a_warning) {
    auto const kept = [](char const* appends, fields settings) {
        return summary(
            check_persistence(primary_with({{"aof_enabled", appends}}, std::move(settings)))
        );
    };
    BOOST_TEST(kept("1", {{"appendfsync", "everysec"}}) == "persistence ok");
    BOOST_TEST(kept("1", {{"appendfsync", "always"}}) == "persistence ok");
    BOOST_TEST(kept("1", {{"appendfsync", "no"}}) == "persistence warning");
    BOOST_TEST(kept("1", {}) == "persistence ok");
    BOOST_TEST(kept("0", {{"save", "900 1"}}) == "persistence warning");
    BOOST_TEST(kept("0", {{"save", ""}}) == "persistence warning");
    BOOST_TEST(kept("0", {}) == "persistence warning");
    auto const none = check_persistence(primary_with({{"aof_enabled", "0"}}, {{"save", ""}}));
    BOOST_TEST(none[0].text.starts_with("nothing is written to disk"));
}

BOOST_AUTO_TEST_CASE(a_server_that_cannot_save_refuses_writes) {
    BOOST_TEST(
        summary(check_persistence(primary_with({{"rdb_last_bgsave_status", "err"}}))) ==
        "persistence fault"
    );
    BOOST_TEST(
        summary(check_persistence(primary_with(
            {{"rdb_last_bgsave_status", "err"}},
            {{"stop-writes-on-bgsave-error", "no"}}
        ))) == "persistence warning"
    );
    BOOST_TEST(
        summary(check_persistence(
            primary_with({{"aof_enabled", "1"}, {"aof_last_write_status", "err"}})
        )) == "persistence fault"
    );
    BOOST_TEST(summary(check_persistence(primary_with({{"loading", "1"}}))) == "persistence fault");
}

BOOST_AUTO_TEST_CASE(replicas_that_have_to_be_there_and_are_not_are_a_fault) {
    config two;
    two.replicas.count = 2;
    auto const with = [](char const* there, char const* needed) {
        return primary_with({{"connected_slaves", there}}, {{"min-replicas-to-write", needed}});
    };
    BOOST_TEST(summary(check_replicas(with("0", "0"), {})).empty());
    BOOST_TEST(summary(check_replicas(with("1", "0"), {})) == "replicas ok");
    BOOST_TEST(summary(check_replicas(with("1", "0"), two)) == "replicas fault");
    BOOST_TEST(summary(check_replicas(with("2", "0"), two)) == "replicas ok");
    BOOST_TEST(summary(check_replicas(with("1", "2"), {})) == "replicas fault");
    // One that is late does not count.
    auto late = with("2", "2");
    late.info["min_slaves_good_slaves"] = "1";
    BOOST_TEST(summary(check_replicas(late, {})) == "replicas fault");
}
