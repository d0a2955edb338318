// How a lock ends whose holder dies, is late, or loses it to somebody.

#include "interop/checks.hpp"
#include "support/child_process.hpp"

#include <optional>

namespace holdfast::test {

namespace {

// For keys that somebody deletes: long enough to see that nobody asks before it is over.
constexpr milliseconds short_lease = 4s;

// Two clocks and a busy machine.
constexpr milliseconds early = 300ms;

// The other side waits while the lock is held by a process that is about to die.
task succeed_a_killed_holder(
    situation& in,
    std::uint64_t token,
    milliseconds lease,
    std::function<void()> kill
) {
    auto& waiter = in.waiter();
    auto const waiting = in.start(waiter.acquire(long_lease));
    co_await in.until_parked();
    co_await sleep_for(lease);
    in.expect(!waiting->done, "the lock of a living process was granted to another one");
    kill();
    auto const killed = steady_clock::now();
    milliseconds const left{in.probe.pttl(in.key)};
    in.expect(left > 0s && left <= lease, "a killed holder left a lock with a wrong expiry");
    in.expect(co_await in.granted(waiting, lease + soon), "a killed holder has no successor");
    in.expect(
        waiting->at - killed > left - early,
        "a lease was not over when it was granted again"
    );
    in.expect(in.grew(token, waiting->value), "the successor's token is not greater");
    if (waiting->done) {
        co_await waiter.release();
    }
}

task a_killed_holder_is_succeeded(situation& in) {
    if (in.holds == party::java) {
        java_peer victim{
            {.version = in.version, .port = in.server.tcp_port(), .watchdog = renewed_lease}
        };
        co_await victim.ready();
        auto const holder = in.kind.java(victim, in.key);
        auto const token = co_await holder->acquire_renewed();
        std::function<void()> const kill = [&] { victim.kill(); };
        co_await succeed_a_killed_holder(in, token, renewed_lease, kill);
        co_return;
    }
    std::vector<std::string> words{HOLDFAST_TEST_HOLDER, in.server.tcp_url(), in.key};
    if (!in.kind.holder_word.empty()) {
        words.push_back(in.kind.holder_word);
    }
    child_process victim{words};
    auto const held = [&] { return in.probe.exists(in.key); };
    if (in.expect(co_await co_eventually(soon, held), "the holder did not start")) {
        auto const token = std::stoull(victim.read_line().value_or("token 0").substr(6));
        std::function<void()> const kill = [&] { victim.kill(); };
        co_await succeed_a_killed_holder(in, token, 1s, kill);
    }
}

task a_lease_that_is_not_renewed_ends(situation& in) {
    constexpr milliseconds lease = 1500ms;
    auto& holder = in.holder();
    auto& waiter = in.waiter();
    auto const granted = steady_clock::now();
    co_await holder.acquire(lease);
    auto const waiting = in.start(waiter.acquire(long_lease));
    in.expect(co_await in.granted(waiting, lease + soon), "the end of a lease freed nothing");
    in.expect(
        waiting->at - granted > lease - early,
        "a lease was not over when it was granted again"
    );
    in.expect(!co_await holder.holds(), "a holder does not know that its lease is over");
    in.expect(!co_await holder.release(), "a release after the end of the lease succeeded");
    in.expect(co_await waiter.holds(), "a late release took the lock from its next holder");
    in.expect(co_await waiter.release(), "the next holder could not release");
}

task a_renewed_lock_stays_its_holders(situation& in) {
    auto& holder = in.holder();
    auto& waiter = in.waiter();
    auto const token = co_await holder.acquire_renewed();
    auto const waiting = in.start(waiter.acquire(long_lease));
    auto const end = steady_clock::now() + 3 * renewed_lease + renewed_lease / 2;
    bool had_expiry = true;
    while (steady_clock::now() < end) {
        milliseconds const left{in.probe.pttl(in.key)};
        had_expiry = had_expiry && left > 0s && left <= renewed_lease;
        co_await sleep_for(100ms);
    }
    in.expect(had_expiry, "the lock was gone, or had a wrong expiry");
    in.expect(!waiting->done, "a lock that is renewed was granted to another one");
    in.expect(co_await holder.holds(), "the holder lost what it renews");
    in.expect(co_await holder.release(), "the holder could not release");
    in.expect(co_await in.granted(waiting), "the release woke nobody");
    in.expect(in.grew(token, waiting->value), "the token did not grow");
    if (waiting->done) {
        // Nobody goes on renewing what is the other one's.
        in.expect(milliseconds{in.probe.pttl(in.key)} > renewed_lease, "the next lease was cut");
        co_await waiter.release();
    }
    co_await sleep_for(renewed_lease / 2);
    in.expect(!in.probe.exists(in.key), "a lock came back after its release");
}

task who_loses_it_by_force_is_told(situation& in) {
    auto& holder = in.holder();
    auto& waiter = in.waiter();
    auto& by_force = in.waiter();
    auto const token = co_await holder.acquire_renewed();
    auto const waiting = in.start(waiter.acquire(long_lease));
    co_await in.until_parked();
    in.expect(co_await by_force.force(), "a lock that is held looked free to whoever forced it");
    in.expect(co_await in.granted(waiting), "a forced release woke nobody");
    in.expect(in.grew(token, waiting->value), "the token did not grow");
    bool told = false;
    for (auto const end = steady_clock::now() + soon; !told && steady_clock::now() < end;) {
        told = !co_await holder.holds();
        co_await sleep_for(50ms);
    }
    in.expect(told, "the former holder does not learn that the lock was taken");
    in.expect(!co_await holder.release(), "the former holder's release succeeded");
    in.expect(
        co_await waiter.holds(),
        "the former holder's release took the lock from its next holder"
    );
    in.expect(co_await waiter.release(), "the next holder could not release");
    in.expect(!co_await by_force.force(), "a free lock looked held to whoever forced it");
}

// Nobody is told, so the waiter comes when the lease that it was refused for would have ended.
task somebody_takes_the_key_away(situation& in, std::function<void()> take_away) {
    auto& holder = in.holder();
    auto& waiter = in.waiter();
    auto const token = co_await holder.acquire(short_lease);
    auto const waiting = in.start(waiter.acquire(long_lease));
    co_await in.until_parked();
    take_away();
    auto const is_gone = [&] { return !in.probe.exists(in.key); };
    in.expect(
        co_await co_eventually(short_lease / 4, is_gone),
        "the key stays, so this shows nothing"
    );
    in.expect(co_await in.granted(waiting, short_lease + soon), "a key that is gone freed nothing");
    in.expect(in.grew(token, waiting->value), "the token did not grow");
    in.expect(!co_await holder.release(), "the release of a lock that was gone succeeded");
    in.expect(co_await waiter.release(), "the next holder could not release");
}

task a_key_that_is_deleted_frees_the_lock(situation& in) {
    std::function<void()> const take_away = [&] { in.probe.del(in.key); };
    co_await somebody_takes_the_key_away(in, take_away);
}

task a_key_that_expires_early_frees_the_lock(situation& in) {
    std::function<void()> const take_away = [&] { in.probe.cmd("PEXPIRE", in.key, 100); };
    co_await somebody_takes_the_key_away(in, take_away);
}

task a_holder_learns_that_its_key_is_gone(situation& in) {
    auto& holder = in.holder();
    co_await holder.acquire_renewed();
    in.probe.del(in.key);
    bool told = false;
    for (auto const end = steady_clock::now() + soon; !told && steady_clock::now() < end;) {
        told = !co_await holder.holds();
        co_await sleep_for(50ms);
    }
    in.expect(told, "the holder does not learn that its key is gone");
    in.expect(!in.probe.exists(in.key), "a renewal brought a lock back that was gone");
    // Redisson's fair lock is content if nobody has it.
    bool const content = co_await holder.release();
    bool const may_be_content =
        (in.kind.is_fair || in.kind.content_if_gone) && in.holds == party::java;
    in.expect(!content || may_be_content, "the release of a lock that was gone succeeded");
}

}  // namespace

std::vector<check> lock_loss_checks() {
    return {
        {"a_killed_holder_is_succeeded", begins::both, &a_killed_holder_is_succeeded},
        {"a_lease_that_is_not_renewed_ends", begins::both, &a_lease_that_is_not_renewed_ends},
        {"a_renewed_lock_stays_its_holders", begins::both, &a_renewed_lock_stays_its_holders},
        {"who_loses_it_by_force_is_told", begins::both, &who_loses_it_by_force_is_told},
        {"a_key_that_is_deleted_frees_the_lock", begins::both, &a_key_that_is_deleted_frees_the_lock
        },
        {"a_key_that_expires_early_frees_the_lock",
         begins::both,
         &a_key_that_expires_early_frees_the_lock},
        {"a_holder_learns_that_its_key_is_gone", begins::both, &a_holder_learns_that_its_key_is_gone
        },
    };
}

}  // namespace holdfast::test
