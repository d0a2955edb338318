#include "simulation/arena.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::sim {

namespace {

// A search that never ends is a violation, too: nobody needs that many steps.
constexpr std::uint64_t most_steps = 2'000'000;

// The run id is kept behind the prefix, too.
std::vector<std::string> keys_of_locks(chosen_database const& data) {
    auto keys = data.lock_keys();
    std::erase_if(keys, [](std::string const& key) {
        return key.find("holdfast_server") != key.npos;
    });
    return keys;
}

}  // namespace

arena::arena(std::uint64_t seed, bool traced, double server_rate, deployment at)
    : world_{seed, traced},
      server_{world_, server_rate},
      oracle_{world_, server_},
      quorums_{world_, server_, oracle_},
      all_{world_, server_, oracle_, quorums_} {
    all_.at = at;
    all_.client.host = "simulated";
    all_.client.log = [this](log_level, std::string_view message) {
        if (world_.traced()) {
            world_.trace(world_.running(), fmt::format("log: {}", message));
        }
        if (message.find("does not belong to its request") != std::string_view::npos) {
            oracle_.reached(sometimes::wrong_answer);
        } else if (message.find("no answer for two time-outs") != std::string_view::npos) {
            oracle_.reached(sometimes::silence);
        }
    };
}

arena::~arena() = default;

void arena::replicate(bool by_name) {
    // The first machine has been there from the beginning.
    server_.machine_at(0).host = by_name ? "first" : "simulated";
    server_.add("second", 6379, false);
    server_.replicate();
    for (std::size_t i = 0; i < sentinels; ++i) {
        auto& made = server_.add(fmt::format("sentinel-{}", i), 26379, true);
        made.data.set_watched({primary_name, server_.primary().host, 6379, 1});
        if (!by_name) {
            all_.client.sentinels.push_back({made.host, made.port});
        }
    }
    if (!by_name) {
        all_.client.primary_name = primary_name;
    }
    all_.by_name = by_name;
}

void arena::make_cluster() {
    auto& dice = world_.dice();
    auto truth = server_.add_nodes();
    std::uint8_t const last = cluster_nodes - 1;
    for (auto const& lock : all_.locks) {
        truth.owners[detail::slot_of(lock)] = dice.chance(50) ? std::uint8_t{0} : last;
    }
    for (auto const& one : truth.nodes) {
        if (all_.client.cluster_nodes.empty() || dice.chance(50)) {
            all_.client.cluster_nodes.push_back({one.host, one.port});
        }
    }
    if (dice.chance(25)) {
        all_.client.cluster_channels = cluster_channel_kind::plain;
    }
    server_.make_cluster(std::move(truth));
}

void arena::spread(std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i) {
        auto const& host = all_.hosts.emplace_back(fmt::format("node-{}", i));
        if (i == 0) {
            // It has been there from the beginning.
            server_.machine_at(0).host = host;
        } else {
            server_.add(host, 6379, false);
        }
    }
    server_.tell_apart();
    quorums_.begin();
}

void arena::set_database(int number) {
    all_.client.database = number;
    server_.choose_database(number);
}

void arena::set_lock_delay(std::chrono::milliseconds delay) {
    all_.client.lock_delay = delay;
    oracle_.set_lock_delay(delay);
    oracle_.set_slowest_wake_up(12s + nanos{all_.lease} / 100 + nanos{delay});
}

void arena::wait_for_replicas(std::chrono::milliseconds timeout) {
    all_.client.replicas = {.count = 1, .timeout = timeout};
    // A short lease leaves no time for it.
    all_.client.learned_lease_min = 0ms;
    oracle_.set_replicated();
}

void arena::set_lease(std::chrono::milliseconds lease) {
    all_.lease = lease;
    all_.client.lease = lease;
    // New connections, their checks and time-outs after the worst; and clocks that differ.
    oracle_.set_slowest_wake_up(12s + nanos{lease} / 100);
    oracle_.set_lease(lease);
}

void arena::set_patience(std::chrono::milliseconds patience) {
    all_.client.waiter_patience = patience;
    oracle_.queue().set_patience(patience);
}

bool arena::is_of_a_queue(std::string_view key) {
    constexpr std::string_view beginnings[] = {
        "holdfast_queue:",
        "holdfast_fair:",
        "holdfast_semaphore_queue:",
        "holdfast_semaphore_heard:",
        "holdfast_rwlock_queue:",
        "holdfast_rwlock_heard:",
        "redisson_lock_queue:",
        "redisson_lock_timeout:",
    };
    return server_.data().pttl(std::string{key}) >= 0 &&
           std::any_of(std::begin(beginnings), std::end(beginnings), [&](std::string_view one) {
               return key.starts_with(one);
           });
}

node& arena::add_node(double rate) {
    auto const number = static_cast<std::uint32_t>(nodes_.size() + 1);
    return *nodes_.emplace_back(std::make_shared<node>(all_, number, rate));
}

void arena::check_steps() {
    if (world_.steps() > most_steps) {
        world_.violation("too many steps: something goes round in circles");
    }
}

bool arena::working() const {
    return std::any_of(nodes_.begin(), nodes_.end(), [](auto const& one) {
        return one->working();
    });
}

void arena::settle() {
    all_.healed = true;
    oracle_.counting().heal(all_.denials);
    auto const all = static_cast<std::int64_t>(nodes_.size() * 12);
    run_while([&] { return working(); }, all * (3 * nanos{all_.lease} + 60s));
    if (!world_.failed() && working()) {
        world_.violation("somebody waits for ever");
    }
    auto& counting = oracle_.counting();
    run_while([&] { return !counting.settled(); }, 20s);
    counting.on_settled();
    if (all_.quiet && !world_.failed()) {
        world_.run_until(world_.now() + 2s);
        for (auto const& key : keys_of_locks(server_.data())) {
            // A queue remembers the turns of those that do not queue until it expires.
            if (key.starts_with("holdfast_queue:") && server_.data().pttl(key) >= 0) {
                continue;
            }
            // An attempt that was withdrawn is remembered.
            if (key.starts_with("holdfast_done:") && server_.data().get(key) == "0") {
                continue;
            }
            if (oracle_.permits().may_stay(key)) {
                continue;
            }
            world_.violation("nobody has " + key + ", but it is held on the server");
        }
    }
    run_while([] { return true; }, 3s + nanos{all_.lease} / 2);
    for (auto const& one : nodes_) {
        if (!one->killed() && !one->closed()) {
            check_empty(*one);
        }
    }
}

void arena::check_empty(node& one) {
    for (auto const& client : one.clients()) {
        auto const now = client->stats();
        if (now.waiters_now != 0 || now.leases_now != 0 || now.subscriptions_now != 0) {
            world_.violation(fmt::format(
                "p{} has {} waiters, {} leases and {} subscriptions left",
                one.number(),
                now.waiters_now,
                now.leases_now,
                now.subscriptions_now
            ));
        }
    }
}

// A server may have granted the lock to a late attempt that nobody waits for. Its lease has ended
// before this is called.
void arena::check_nodes() {
    for (std::size_t i = 0; i < all_.hosts.size(); ++i) {
        auto& at = server_.machine_at(i);
        auto const& data = server_.data_of(at);
        for (auto const& key : keys_of_locks(data)) {
            world_.violation(fmt::format("{} is left on {}", key, all_.hosts[i]));
        }
        if (data.subscriptions() != 0 && !server::has_half_open(at)) {
            world_.violation("subscriptions are left on " + all_.hosts[i]);
        }
    }
}

void arena::part() {
    // The place in a queue of a client that was killed, was closed while the server refused it, or
    // lost its rights or its login, or whose attempt ran late, or whose withdrawal was given up,
    // goes when the next one in the queue comes, or in the end. A client whose waiters share a
    // place passes on a lock that it is given for nobody.
    bool const places_may_stay = all_.denials || all_.bad_passwords || all_.two_versions ||
                                 all_.long_faults ||
                                 std::any_of(nodes_.begin(), nodes_.end(), [](auto const& one) {
                                     return one->killed() || one->closed();
                                 });
    for (auto const& one : nodes_) {
        if (!one->killed() && !one->closed()) {
            one->close(world_.dice().chance(50));
        }
    }
    bool const kept_places_may_stay = places_may_stay || oracle_.queue().placed_late();
    auto const longest = 10s + 2 * nanos{all_.lease};
    run_while([] { return true; }, 20s);
    for (auto const& one : nodes_) {
        if (!one->killed() && !world_.failed()) {
            check_ended(*one);
        }
    }
    run_while([] { return true; }, longest);
    if (!world_.failed()) {
        world_.run_until(world_.now() + longest);
    }
    if (all_.at == deployment::quorum) {
        check_nodes();
        nodes_.clear();
        return;
    }
    // Of a request that was answered, and whose client could not say so. It expires, maybe within
    // this millisecond.
    auto const is_mark = [&](std::string const& key) {
        return key.starts_with("holdfast_done:") && server_.data().pttl(key) >= 0;
    };
    for (auto const& key : keys_of_locks(server_.data())) {
        bool const shared = key.starts_with("holdfast_queue:");
        bool const may_stay = shared ? places_may_stay : kept_places_may_stay;
        // A late request may make it again.
        bool const counted = key == counting_judge::semaphore;
        if (counted || is_mark(key) || (is_of_a_queue(key) && may_stay) ||
            oracle_.permits().may_stay(key)) {
            continue;
        }
        world_.violation(
            fmt::format("{} is left on the server, for {} ms", key, server_.data().pttl(key))
        );
    }
    if (!world_.failed()) {
        world_.run_until(world_.now() + 61s + oracle_.queue().patience());
    }
    // A failover may bring back the place of one who has gone: it goes when the next one comes.
    bool const may_come_back = fails_over(all_.at);
    for (auto const& key : keys_of_locks(server_.data())) {
        bool const counted = key == counting_judge::semaphore;
        if (counted || is_mark(key) || (may_come_back && is_of_a_queue(key)) ||
            oracle_.permits().may_stay(key)) {
            continue;
        }
        world_.violation(fmt::format(
            "{} is left on the server after a minute, for {} ms",
            key,
            server_.data().pttl(key)
        ));
    }
    if (server_.subscriptions_are_left()) {
        world_.violation("subscriptions are left on the server");
    }
    nodes_.clear();
}

void arena::check_ended(node& one) {
    if (one.of().timers() != 0 || !one.of().idle()) {
        world_.violation(fmt::format(
            "p{} has {} timers left after its client is gone",
            one.number(),
            one.of().timers()
        ));
    }
    if (one.of().outstanding_work() != 0) {
        world_.violation(fmt::format(
            "p{} is kept running by {} pieces of work after its client is gone",
            one.number(),
            one.of().outstanding_work()
        ));
    }
    for (auto const& each : one.observers()) {
        each->check_ended();
    }
}

outcome arena::result() const {
    outcome result;
    result.hash = world_.hash();
    result.steps = world_.steps();
    result.grants = all_.grants;
    result.reached = oracle_.reached();
    result.violation = world_.first_violation();
    return result;
}

}  // namespace holdfast::sim
