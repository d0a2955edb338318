#include "cli/doctor_checks.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace holdfast::cli {

std::vector<finding> check_memory(server_facts const& of) {
    if (of.info.empty()) {
        return {};
    }
    std::vector<finding> found;
    auto const limit = count_of(of.info, "maxmemory");
    auto const policy = text_in(of.info, "maxmemory_policy", "noeviction");
    auto const evicted = count_of(of.info, "evicted_keys");
    if (limit == 0) {
        found.push_back(good("eviction", "no key is evicted: maxmemory is not set"));
        return found;
    }
    if (policy != "noeviction") {
        found.push_back(fault(
            "eviction",
            fmt::format(
                "maxmemory-policy is {}: when the memory is full, locks are removed while they are "
                "held, and two may have one{}",
                policy,
                evicted > 0 ? fmt::format(" ({} keys were evicted already)", evicted) : ""
            ),
            "CONFIG SET maxmemory-policy noeviction, and CONFIG REWRITE; or keep locks on a server "
            "of their own"
        ));
    } else {
        found.push_back(good("eviction", "no key is evicted: maxmemory-policy is noeviction"));
    }
    auto const used = count_of(of.info, "used_memory");
    auto const text = fmt::format("{} of {} MiB are used", used >> 20U, limit >> 20U);
    constexpr std::uint64_t percent_that_warns = 90;
    if (used >= limit) {
        found.push_back(fault(
            "memory",
            fmt::format("the memory is full: {}, and new locks are refused", text),
            "raise maxmemory, or find what fills it with MEMORY STATS and redis-cli --bigkeys"
        ));
    } else if (used * 100 >= limit * percent_that_warns) {
        found.push_back(warning(
            "memory",
            fmt::format("the memory is nearly full: {}", text),
            "raise maxmemory before new locks are refused"
        ));
    } else {
        found.push_back(good("memory", text));
    }
    return found;
}

std::vector<finding> check_persistence(server_facts const& of) {
    if (of.info.empty()) {
        return {};
    }
    std::vector<finding> found;
    auto const* const check = "persistence";
    if (text_in(of.info, "loading") == "1") {
        found.push_back(fault(
            check,
            "the server is still loading its data",
            "wait until it has; INFO persistence tells how long that takes"
        ));
    }
    bool const appends = text_in(of.info, "aof_enabled") == "1";
    if (appends && text_in(of.info, "aof_last_write_status") == "err") {
        found.push_back(fault(
            check,
            "the server cannot write its append-only file, and refuses writes",
            "look at the server's log: the disk may be full"
        ));
    }
    if (text_in(of.info, "rdb_last_bgsave_status") == "err") {
        bool const stops = text_in(of.settings, "stop-writes-on-bgsave-error", "yes") == "yes";
        found.push_back(
            stops ? fault(
                        check,
                        "the last snapshot failed, and the server refuses writes",
                        "look at the server's log: the disk may be full, or memory may be short "
                        "(vm.overcommit_memory = 1)"
                    )
                  : warning(
                        check,
                        "the last snapshot failed",
                        "look at the server's log: the disk may be full"
                    )
        );
    }
    if (!found.empty()) {
        return found;
    }
    auto const often = text_in(of.settings, "appendfsync");
    auto const snapshots = text_in(of.settings, "save");
    if (appends && often == "no") {
        found.push_back(warning(
            check,
            "appendonly is on, and the system decides when it is on disk: a crash of the machine "
            "forgets many seconds of locks",
            "set appendfsync everysec, or always"
        ));
    } else if (appends) {
        found.push_back(good(
            check,
            often.empty()         ? "appendonly is on"
            : often == "everysec" ? "appendonly is on: a crash of the machine forgets a second at "
                                    "most"
                                  : fmt::format("appendonly is on, appendfsync is {}", often)
        ));
    } else if (!of.settings.empty() && snapshots.empty()) {
        found.push_back(warning(
            check,
            "nothing is written to disk: a restart forgets all locks, and they are granted again "
            "while their holders still work",
            "set appendonly yes; or have config::lock_delay wait for the leases to end"
        ));
    } else {
        found.push_back(warning(
            check,
            of.settings.empty()
                ? "appendonly is off: a restart forgets the locks since the last snapshot, if "
                  "there is one"
                : "there are snapshots only: a restart forgets the locks since the last one",
            "set appendonly yes; or have config::lock_delay wait for the leases to end"
        ));
    }
    return found;
}

std::vector<finding> check_replicas(server_facts const& of, config const& settings) {
    if (of.info.empty() || of.hello.is_replica()) {
        return {};
    }
    std::vector<finding> found;
    auto const there = count_of(of.info, "connected_slaves");
    auto const needed = count_of(of.settings, "min-replicas-to-write");
    // The server counts those that are not late, and only where it needs some.
    auto const in_time = number_in<std::uint64_t>(of.info, "min_slaves_good_slaves");
    if (needed > 0 && in_time.value_or(there) < needed) {
        found.push_back(fault(
            "replicas",
            fmt::format(
                "min-replicas-to-write is {}, and {} replicas are in time: writes are refused",
                needed,
                in_time.value_or(there)
            ),
            "bring the replicas back, or lower min-replicas-to-write"
        ));
    }
    if (settings.replicas.count > there) {
        found.push_back(fault(
            "replicas",
            fmt::format(
                "config::replicas asks for {}, and the server has {}: no lock is granted",
                settings.replicas.count,
                there
            ),
            "bring the replicas back, or ask for fewer"
        ));
    }
    if (found.empty() && (there > 0 || needed > 0)) {
        found.push_back(good("replicas", fmt::format("{} connected", there)));
    }
    return found;
}

}  // namespace holdfast::cli
