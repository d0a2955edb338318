#include "soak/nemesis.hpp"

#include "soak/account.hpp"
#include "soak/draws.hpp"
#include "soak/hand_overs.hpp"
#include "soak/settings.hpp"
#include "support/redis_probe.hpp"

#include <fmt/format.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::soak {

using namespace std::chrono_literals;

namespace {

// Of a lease, in ms.
int part_of_lease(std::mt19937_64& random, double from, double to) {
    auto const part = std::uniform_real_distribution{from, to}(random);
    return static_cast<int>(part * static_cast<double>(lease_time.count()));
}

void must(test::redis_probe& probe, std::vector<std::string> const& words) {
    if (auto const reply = probe.command(words); reply.is_error()) {
        throw std::runtime_error{words.at(0) + ": " + reply.text};
    }
}

void let_be(cell& where, std::mt19937_64& random) {
    where.note({.what = happening::calm});
    // Long enough to lose a lease that is not renewed.
    sleep_ms(part_of_lease(random, 2.0, 4.0));
}

// The server

// Half of them are back at once, the others after so long that leases may be lost.
int down_time(std::mt19937_64& random) {
    return one_in(random, 2) ? 0 : part_of_lease(random, 0.0, 1.5);
}

// So that holders find out what has happened to their locks.
void let_renew(std::mt19937_64& random) {
    sleep_ms(part_of_lease(random, 0.3, 0.8));
}

void kill_server(cell& where, std::mt19937_64& random) {
    where.server().kill();
    sleep_ms(down_time(random));
    where.server().restart(true);
}

void restart_empty(cell& where, std::mt19937_64& random) {
    auto const since = now();
    where.server().kill();
    sleep_ms(down_time(random));
    where.server().restart(false);
    where.note({.what = happening::data_lost, .since = since});
    let_renew(random);
}

void pause_server(cell& where, std::mt19937_64& random) {
    where.server().pause();
    sleep_ms(part_of_lease(random, 0.5, 3.0));
    where.server().resume();
}

void flush_data(cell& where, std::mt19937_64& random) {
    auto probe = where.server().probe();
    auto const since = now();
    probe.flushall();
    where.note({.what = happening::data_lost, .since = since});
    let_renew(random);
}

void flush_scripts(cell& where, std::mt19937_64& random) {
    auto probe = where.server().probe();
    for (int i = draw(random, 1, 5); i > 0; --i) {
        probe.script_flush();
        sleep_ms(draw(random, 0, 50));
    }
}

void fill_memory(cell& where, std::mt19937_64& random) {
    auto probe = where.server().probe();
    must(probe, {"CONFIG", "SET", "maxmemory-policy", "noeviction"});
    must(probe, {"CONFIG", "SET", "maxmemory", "1"});
    sleep_ms(part_of_lease(random, 0.2, 1.5));
    must(probe, {"CONFIG", "SET", "maxmemory", "0"});
}

// Connections

void kill_clients(cell& where, std::mt19937_64& random, std::string const& type) {
    auto probe = where.server().probe();
    std::int64_t killed = 0;
    for (int i = draw(random, 1, 4); i > 0; --i) {
        killed += probe.client_kill_type(type);
        sleep_ms(draw(random, 0, 200));
    }
    if (killed == 0) {
        throw std::runtime_error{"there is no connection of type " + type};
    }
}

void kill_commands(cell& where, std::mt19937_64& random) {
    kill_clients(where, random, "normal");
}

// What is left of it after a moment would be a waiter whom nobody wakes.
void kill_notifications(cell& where, std::mt19937_64& random) {
    kill_clients(where, random, "pubsub");
    sleep_ms(500);
    let_be(where, random);
}

// While everything is paused, so is the command that would end it.
void pause_clients(cell& where, std::mt19937_64& random, std::string const& which) {
    auto const duration = part_of_lease(random, 0.3, 1.8);
    auto probe = where.server().probe();
    must(probe, {"CLIENT", "PAUSE", std::to_string(duration), which});
    sleep_ms(duration);
}

void pause_writes(cell& where, std::mt19937_64& random) {
    pause_clients(where, random, "WRITE");
}

void pause_all(cell& where, std::mt19937_64& random) {
    pause_clients(where, random, "ALL");
}

// Rights

void set_user(test::redis_probe& probe, std::string const& rules) {
    std::vector<std::string> words{"ACL", "SETUSER", user_name};
    std::istringstream in{rules};
    for (std::string word; in >> word;) {
        words.push_back(word);
    }
    must(probe, words);
}

void restore_user(cell& where, test::redis_probe& probe) {
    set_user(probe, "reset " + user_rules_for(where.shared()));
}

void deny(cell& where, std::mt19937_64& random) {
    auto probe = where.server().probe();
    char const* const rights[] = {
        "-evalsha -eval",
        "-publish",
        "-subscribe",
        "resetkeys",
        "resetchannels",
        "-incr",
        "-pexpire",
        "-hdel"
    };
    set_user(probe, rights[draw(random, 0, 7)]);
    sleep_ms(part_of_lease(random, 0.1, 1.2));
    restore_user(where, probe);
}

void delete_user(cell& where, std::mt19937_64& random) {
    auto probe = where.server().probe();
    must(probe, {"ACL", "DELUSER", user_name});
    sleep_ms(part_of_lease(random, 0.0, 1.2));
    restore_user(where, probe);
}

void rotate_password(cell& where, std::mt19937_64& random) {
    auto probe = where.server().probe();
    set_user(probe, "resetpass >another");
    must(probe, {"CLIENT", "KILL", "USER", user_name});
    sleep_ms(part_of_lease(random, 0.0, 1.2));
    restore_user(where, probe);
}

// Workers

worker_handle& any_worker(cell& where, std::mt19937_64& random) {
    auto& all = where.workers();
    return all[static_cast<std::size_t>(draw(random, 0, static_cast<int>(all.size()) - 1))];
}

void stop_for_long(cell& where, std::mt19937_64& random, worker_handle& victim) {
    auto const since = now();
    victim.child().pause();
    sleep_ms(part_of_lease(random, 0.5, 3.0));
    victim.child().resume();
    where.note({.what = happening::paused, .process = victim.number(), .since = since});
}

void kill(cell& where, worker_handle& victim) {
    victim.child().kill();
    where.note({.what = happening::killed, .process = victim.number()});
}

// Also short ones, which make answers late and lose no lease.
void pause_worker(cell& where, std::mt19937_64& random) {
    auto& victim = any_worker(where, random);
    for (int i = one_in(random, 3) ? draw(random, 1, 10) : 0; i > 0; --i) {
        auto const since = now();
        victim.child().pause();
        sleep_ms(part_of_lease(random, 0.02, 0.2));
        victim.child().resume();
        where.note({.what = happening::paused, .process = victim.number(), .since = since});
        sleep_ms(draw(random, 1, 60));
    }
    stop_for_long(where, random, victim);
}

void kill_worker(cell& where, std::mt19937_64& random) {
    auto& victim = any_worker(where, random);
    kill(where, victim);
    where.replace(victim);
}

// Permits and leaders

// The set of the permits that are taken is deleted now and then, and workers are killed: those
// permits are missing for a while, and then they are there again.
void lose_permits(cell& where, std::mt19937_64& random) {
    auto probe = where.server().probe();
    for (int i = draw(random, 3, 6); i > 0; --i) {
        if (one_in(random, 2)) {
            auto const since = now();
            probe.del(fmt::format("{{{}0}}:timeout", key_prefix));
            where.note({.what = happening::data_lost, .since = since, .word = "permits"});
        }
        sleep_ms(draw(random, 100, 600));
        kill_worker(where, random);
    }
}

// Who leads, when it is another one than before.
std::string await_leader(test::redis_probe& probe, std::string const& before) {
    auto const until = std::chrono::steady_clock::now() + 30s;
    while (std::chrono::steady_clock::now() < until) {
        auto const holders = probe.hgetall(fmt::format("{}0", key_prefix));
        if (!holders.empty() && holders.begin()->first != before) {
            return holders.begin()->first;
        }
        sleep_ms(5);
    }
    throw std::runtime_error{"nobody leads"};
}

// Nothing else is in the way: another one has to lead when the leader's lease has ended.
void kill_leaders(cell& where, std::mt19937_64& random) {
    where.note({.what = happening::calm});
    auto probe = where.server().probe();
    std::string leader;
    bool any = false;
    for (int i = draw(random, 2, 4); i > 0; --i) {
        leader = await_leader(probe, leader);
        sleep_ms(draw(random, 0, 150));
        if (auto* const victim = where.worker_of(client_of(leader))) {
            kill(where, *victim);
            where.replace(*victim);
            any = true;
        }
    }
    if (!any) {
        throw std::runtime_error{"no worker leads"};
    }
    await_leader(probe, leader);
    // Long enough for observers to see who leads.
    sleep_ms(part_of_lease(random, 1.5, 2.5));
}

// Failovers

// Until a Sentinel names another primary, which takes writes by then.
instant await_switch(cell& where, std::size_t from) {
    using who = test::sentinel_group::who;
    if (!where.group().wait_for_switch(from, 30s, who::first)) {
        throw std::runtime_error{"the Sentinels do not switch"};
    }
    return now();
}

// Who has not heard of the switch yet is granted locks by the old primary until that is a replica.
instant await_demotion(cell& where, std::size_t of) {
    auto const until = std::chrono::steady_clock::now() + 30s;
    while (std::chrono::steady_clock::now() < until) {
        try {
            if (where.group().server(of).probe().info("replication").at("role") == "slave") {
                return now();
            }
        } catch (std::runtime_error const&) {
            // The Sentinels close all its connections.
        }
        sleep_ms(5);
    }
    throw std::runtime_error{"the old primary does not become a replica"};
}

void kill_primary(cell& where, std::mt19937_64&) {
    auto const from = where.group().primary();
    auto const since = now();
    where.group().server(from).kill();
    auto const dead = now();
    auto const switched = await_switch(where, from);
    where.note_change({.since = since, .to = switched, .last_lost = dead});
}

// Half of them wake up soon, and take themselves for the primary still.
void pause_primary(cell& where, std::mt19937_64& random) {
    auto const from = where.group().primary();
    auto const since = now();
    where.group().server(from).pause();
    auto last_grant = now();
    auto const switched = await_switch(where, from);
    if (one_in(random, 2)) {
        sleep_ms(draw(random, 0, 300));
        where.group().server(from).resume();
        last_grant = await_demotion(where, from);
    }
    where.note_change({.since = since, .to = switched, .last_lost = last_grant});
}

void fail_over(cell& where, std::mt19937_64& random) {
    auto const from = where.group().primary();
    auto const asked = static_cast<std::size_t>(draw(random, 0, 2));
    auto const since = now();
    where.group().fail_over(asked);
    auto const switched = await_switch(where, from);
    auto const demoted = await_demotion(where, from);
    where.note_change({.since = since, .to = switched, .last_lost = demoted});
}

// Hand-overs

using part = worker_handle* hand_overs::parts::*;

// The victim of the next hand-over in which somebody has this part.
worker_handle& await_part(hand_overs& heard, part which) {
    constexpr auto patience = 10s;
    auto const until = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < until) {
        if (auto const one = heard.wait(1s); one && (*one).*which != nullptr) {
            return *((*one).*which);
        }
    }
    throw std::runtime_error{"no lock is handed over"};
}

void kill_at_a_hand_over(cell& where, std::mt19937_64& random, part which) {
    for (int i = draw(random, 1, 5); i > 0; --i) {
        hand_overs heard{where};
        auto& victim = await_part(heard, which);
        kill(where, victim);
        where.replace(victim);
    }
}

void stop_at_a_hand_over(cell& where, std::mt19937_64& random, part which) {
    for (int i = draw(random, 1, 3); i > 0; --i) {
        hand_overs heard{where};
        stop_for_long(where, random, await_part(heard, which));
    }
}

void kill_releaser(cell& where, std::mt19937_64& random) {
    kill_at_a_hand_over(where, random, &hand_overs::parts::releaser);
}

void kill_receiver(cell& where, std::mt19937_64& random) {
    kill_at_a_hand_over(where, random, &hand_overs::parts::receiver);
}

void kill_next(cell& where, std::mt19937_64& random) {
    kill_at_a_hand_over(where, random, &hand_overs::parts::next);
}

void kill_releaser_and_receiver(cell& where, std::mt19937_64&) {
    hand_overs heard{where};
    for (;;) {
        auto const one = heard.wait(10s);
        if (!one) {
            throw std::runtime_error{"no lock is handed over"};
        }
        if (one->releaser && one->receiver && one->releaser != one->receiver) {
            kill(where, *one->releaser);
            kill(where, *one->receiver);
            where.replace(*one->releaser);
            where.replace(*one->receiver);
            return;
        }
    }
}

void stop_releaser(cell& where, std::mt19937_64& random) {
    stop_at_a_hand_over(where, random, &hand_overs::parts::releaser);
}

void stop_receiver(cell& where, std::mt19937_64& random) {
    stop_at_a_hand_over(where, random, &hand_overs::parts::receiver);
}

void stop_next(cell& where, std::mt19937_64& random) {
    stop_at_a_hand_over(where, random, &hand_overs::parts::next);
}

// Those that fall upon a server and its workers, whatever they share.
std::vector<fault> without_hand_overs(fault const& first) {
    std::vector<fault> found{first};
    for (auto const& each : all_faults()) {
        bool const needs_one = each.name.starts_with("releaser-") ||
                               each.name.starts_with("receiver-") ||
                               each.name.starts_with("next-") || each.name.starts_with("both-");
        if (!needs_one) {
            found.push_back(each);
        }
    }
    return found;
}

}  // namespace

std::vector<fault> const& permit_faults() {
    static auto const all = without_hand_overs(
        {"permits", "which permits are taken is lost, and workers are killed", lose_permits}
    );
    return all;
}

std::vector<fault> const& leader_faults() {
    static auto const all =
        without_hand_overs({"leader-kill", "one leader after the other is killed", kill_leaders});
    return all;
}

std::vector<fault> const& pair_faults() {
    static std::vector<fault> const all{
        {"worker-kill", "a worker is killed, another takes its place", kill_worker},
    };
    return all;
}

std::vector<fault> const& failover_faults() {
    static std::vector<fault> const all{
        {"primary-kill", "the primary is killed", kill_primary},
        {"primary-pause", "the primary is stopped, and wakes up some time", pause_primary},
        {"failover", "SENTINEL FAILOVER", fail_over},
    };
    return all;
}

std::vector<fault> const& all_faults() {
    static std::vector<fault> const all{
        {"none", "nothing at all: locks are handed over at once", let_be},
        {"kill", "the server is killed and restarted with its data", kill_server},
        {"empty", "the server is killed and restarted without its data", restart_empty},
        {"pause", "the server is stopped for 0.5 to 3 leases", pause_server},
        {"worker-pause", "a worker is stopped for 0.5 to 3 leases", pause_worker},
        {"worker-kill", "a worker is killed, another takes its place", kill_worker},
        {"releaser-kill", "who hands a lock over is killed", kill_releaser},
        {"receiver-kill", "who is handed a lock is killed", kill_receiver},
        {"next-kill", "who is behind the receiver is killed", kill_next},
        {"both-kill", "who hands a lock over and who is handed it", kill_releaser_and_receiver},
        {"releaser-pause", "who hands a lock over is stopped for 0.5 to 3 leases", stop_releaser},
        {"receiver-pause", "who is handed a lock is stopped for 0.5 to 3 leases", stop_receiver},
        {"next-pause", "who is behind the receiver is stopped for 0.5 to 3 leases", stop_next},
        {"client-kill", "the server closes the command connections", kill_commands},
        {"notification-kill", "the server closes the notification connections", kill_notifications},
        {"client-pause", "CLIENT PAUSE ALL", pause_all},
        {"write-pause", "CLIENT PAUSE WRITE", pause_writes},
        {"scripts", "SCRIPT FLUSH", flush_scripts},
        {"flush", "FLUSHALL", flush_data},
        {"memory", "the server has no memory left, and evicts nothing", fill_memory},
        {"deny", "the user may not do something any more", deny},
        {"delete-user", "the user is deleted", delete_user},
        {"password", "the password is changed and the connections are closed", rotate_password},
    };
    return all;
}

}  // namespace holdfast::soak
