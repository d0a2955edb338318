// The model of the server against servers: the same calls, the same answers, the same data.

#include "fidelity/comparison.hpp"
#include "fidelity/random_calls.hpp"
#include "support/redis_server.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
using holdfast::test::comparison;
using holdfast::test::redis_server;

namespace {

std::uint64_t number_from_environment(char const* name, std::uint64_t otherwise) {
    auto const* const text = std::getenv(name);
    return text ? std::stoull(text) : otherwise;
}

// Calls that never get where the scripts do their work would prove nothing.
void check_coverage(std::map<std::string, std::size_t> const& seen) {
    constexpr std::string_view answers[] = {
        "lock.acquire: line [1, integer]",
        "lock.acquire: line [0, integer]",
        "lock.acquire: line [0, -1]",
        "lock.acquire: line [0, integer, ",
        "lock.renew: line [1, ",
        "lock.acquire: line [2]",
        "lock.acquire: error WRONGTYPE",
        "lock.acquire: error ERR value is not an integer or out of range",
        "lock.acquire: error ERR invalid expire time in",
        "lock.acquire: error NOSCRIPT",
        "multi_lock.acquire: line [1, integer, integer",
        "multi_lock.acquire: line [0, 0]",
        "multi_lock.acquire: line [0, 1]",
        "multi_lock.acquire: line [2, ",
        "multi_lock.acquire: error WRONGTYPE",
        "quorum_lock.acquire: line [1, integer, ",
        "quorum_lock.acquire: line [0, ",
        "quorum_lock.acquire: line [2]",
        "quorum_lock.acquire: error WRONGTYPE",
        "quorum_lock.raise_token: line [1]",
        "quorum_lock.raise_token: line [0]",
        "quorum_lock.raise_token: line [2]",
        "lock.renew: line [1]",
        "lock.renew: line [0, 0]",
        "lock.renew: line [0, 1]",
        "lock.renew: error WRONGTYPE",
        "lock.renew_many: line [1]",
        "lock.renew_many: line [0]",
        "lock.renew_many: line [2]",
        "lock.renew_many: line [integer]",
        "lock.renew_many: error WRONGTYPE",
        "lock.release: line [1, 1]",
        "lock.release: line [0, 0]",
        "lock.release: line [0, 1]",
        "lock.release: error WRONGTYPE",
        "lock.force_release: line [1, 1]",
        "lock.force_release: line [0]",
        "lock.force_release: line [2]",
        "lock.inspect: line [integer, ",
        "lock.inspect: line [-1, ",
        "lock.inspect: line [-2, ",
        "lock.inspect: line [-3]",
        "election.proclaim: line [1, 1]",
        "election.proclaim: line [0, 0]",
        "election.proclaim: line [0, 1]",
        "election.look: line [-1, integer, ",
        "election.look: line [-1]",
        "election.look: line [-2]",
    };
    for (auto const answer : answers) {
        auto const at = seen.lower_bound(std::string{answer});
        BOOST_TEST((at != seen.end() && at->first.starts_with(answer)), answer << " never came");
    }
    constexpr std::size_t fewest = 70;
    for (auto const* const one : holdfast::test::library_scripts()) {
        std::size_t sum = 0;
        for (auto const& [text, count] : seen) {
            auto const begins = std::string{one->name} + ": ";
            sum += text.starts_with(begins) && !text.starts_with(begins + "error") ? count : 0;
        }
        BOOST_TEST(sum >= fewest, one->name << " was hardly tried: " << sum);
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(random_calls_are_answered_as_by_the_server) {
#ifdef HOLDFAST_TEST_SANITIZER
    constexpr std::uint64_t usual = 30'000;
#else
    constexpr std::uint64_t usual = 100'000;
#endif
    constexpr std::uint64_t enough_to_meet_everything = 100'000;
    auto const seed = number_from_environment("HOLDFAST_SEED", std::random_device{}());
    auto const calls = number_from_environment("HOLDFAST_FIDELITY_CALLS", usual);
    redis_server const server;
    comparison compared{server, seed};
    auto const start = std::chrono::steady_clock::now();
    bool const alike = compared.run(calls);
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
    std::cout << compared.calls() << " calls, " << compared.shapes() << " shapes of replies, "
              << compared.messages() << " messages, " << compared.dumps() << " dumps, seed " << seed
              << ", " << took.count() << " s\n";
    if (std::getenv("HOLDFAST_FIDELITY_SHAPES") != nullptr) {
        for (auto const& [text, count] : compared.seen()) {
            std::cout << count << '\t' << text << '\n';
        }
    }
    BOOST_TEST(alike, compared.what_differs());
    if (alike && calls >= enough_to_meet_everything) {
        check_coverage(compared.seen());
    }
}
