// Readers and writers of both sides under one read/write lock.

#include "interop/checks.hpp"
#include "support/child_process.hpp"

#include <algorithm>
#include <functional>

namespace holdfast::test {

namespace {

lock_actor& writer(situation& in, party of) {
    in.actors.push_back(
        of == party::ours ? our_write_lock_actor(in.ours, in.key)
                          : java_lock_actor(in.java, "write_lock", in.key, false)
    );
    return *in.actors.back();
}

task both_read_and_neither_writes(situation& in) {
    auto& first = in.holder();
    auto& second = in.waiter();
    auto& one = writer(in, in.holds);
    auto& other = writer(in, in.waits());
    co_await first.acquire(long_lease);
    in.expect(co_await second.try_acquire(), "a reader was refused beside another one");
    in.expect(!co_await one.try_acquire(), "a writer was granted beside readers of its own side");
    in.expect(!co_await other.try_acquire(), "a writer was granted beside readers");
    in.expect(co_await first.release(), "the first reader could not release");
    in.expect(!co_await one.try_acquire(), "a writer was granted beside a reader");
    in.expect(co_await second.release(), "the second reader could not release");
    in.expect(!in.probe.exists(in.key), "the lock is held by nobody, and not free");
    in.expect(co_await other.try_acquire(), "a writer was refused by nobody");
    in.expect(!co_await first.try_acquire(), "a reader was granted beside a writer");
    in.expect(co_await other.release(), "the writer could not release");
    in.expect(!in.probe.exists(in.key), "the lock is held by nobody, and not free");
}

task a_writer_is_told_when_the_last_reader_has_gone(situation& in) {
    auto& first = in.holder();
    auto& second = in.waiter();
    auto& waiter = writer(in, in.waits());
    co_await first.acquire(long_lease);
    co_await second.acquire(long_lease);
    auto const waiting = in.start(waiter.acquire(long_lease));
    co_await in.until_parked();
    co_await second.release();
    co_await sleep_for(300ms);
    in.expect(!waiting->done, "a writer was granted beside a reader");
    co_await first.release();
    auto const released = steady_clock::now();
    if (in.expect(co_await in.granted(waiting), "the last release woke nobody")) {
        in.expect(waiting->at - released < 10s, "it was not woken by the message");
        co_await waiter.release();
    }
}

task readers_are_told_when_the_writer_has_gone(situation& in) {
    auto& holder = writer(in, in.holds);
    co_await holder.acquire(long_lease);
    std::vector<lock_actor*> readers;
    std::vector<std::shared_ptr<outcome<std::uint64_t>>> waiting;
    for (int i = 0; i < 4; ++i) {
        readers.push_back(i % 2 == 0 ? &in.waiter() : &in.holder());
        waiting.push_back(in.start(readers.back()->acquire(long_lease)));
    }
    co_await in.until_parked();
    auto const done = [](auto const& one) { return one->done; };
    in.expect(std::ranges::none_of(waiting, done), "a reader was granted beside a writer");
    co_await holder.release();
    // All at a time: none of them has released.
    auto const all_done = [&] { return std::ranges::all_of(waiting, done); };
    if (in.expect(co_await co_eventually(10s, all_done), "not all readers were granted together")) {
        for (auto* const reader : readers) {
            in.expect(co_await reader->release(), "a reader could not release");
        }
        in.expect(!in.probe.exists(in.key), "the lock is held by nobody, and not free");
    }
}

task a_re_entrant_reader_is_waited_for(situation& in) {
    auto& holder = in.holder();
    auto& waiter = writer(in, in.waits());
    constexpr int holds = 3;
    for (int i = 0; i < holds; ++i) {
        co_await holder.acquire(long_lease);
    }
    auto const waiting = in.start(waiter.acquire(long_lease));
    co_await in.until_parked();
    for (int i = 1; i < holds; ++i) {
        in.expect(co_await holder.release(), "a hold could not be given back");
        co_await sleep_for(100ms);
        in.expect(!waiting->done, "a release that was not the last one freed the lock");
    }
    in.expect(co_await holder.release(), "the last hold could not be given back");
    if (in.expect(co_await in.granted(waiting), "the last release did not free the lock")) {
        co_await waiter.release();
    }
}

// One that writes goes on as a reader, and the other side reads beside it.
task step_down(
    situation& in,
    std::function<task()> take_both,
    std::function<task()> release_writer,
    std::function<task()> release_reader
) {
    auto& reader = in.usual_actor(in.waits());
    auto& other_writer = writer(in, in.waits());
    co_await take_both();
    in.expect(!co_await reader.try_acquire(), "a reader was granted beside a writer");
    auto const waiting = in.start(reader.acquire(long_lease));
    co_await in.until_parked();
    in.expect(!waiting->done, "a reader was granted beside a writer");
    co_await release_writer();
    // Redisson tells nobody: ours ask.
    if (in.expect(co_await in.granted(waiting), "readers did not follow a writer who reads on")) {
        in.expect(!co_await other_writer.try_acquire(), "a writer was granted beside readers");
        in.expect(co_await reader.release(), "the other reader could not release");
    }
    in.expect(!co_await other_writer.try_acquire(), "a writer was granted beside a reader");
    co_await release_reader();
    in.expect(co_await other_writer.try_acquire(), "the lock was not free in the end");
    co_await other_writer.release();
}

task a_writer_goes_on_as_a_reader(situation& in) {
    if (in.holds == party::java) {
        auto const thread = in.java.new_thread();
        auto const tell = [&in, thread](std::string command) -> task {
            co_await in.java.tell(thread, command + " " + in.key);
        };
        std::function<task()> const take_both = [&]() -> task {
            co_await tell("write_lock.lock");
            co_await tell("read_lock.lock");
        };
        std::function<task()> const release_writer = [&] { return tell("write_lock.unlock"); };
        std::function<task()> const release_reader = [&] { return tell("read_lock.unlock"); };
        co_await step_down(in, take_both, release_writer, release_reader);
        co_return;
    }
    auto const lock = in.ours.read_write_lock(in.key);
    acquire_options const mine{.lease = renewed_lease, .owner = owner::make()};
    lease written;
    lease read;
    std::function<task()> const take_both = [&]() -> task {
        written = co_await lock.write().acquire(mine);
        read = co_await lock.read().acquire(mine);
    };
    std::function<task()> const release_writer = [&]() -> task { co_await written.release(); };
    std::function<task()> const release_reader = [&]() -> task { co_await read.release(); };
    co_await step_down(in, take_both, release_writer, release_reader);
}

// The other side reads on, renewed, while a process dies that read too.
task outlive(situation& in, std::function<void()> kill) {
    auto& survivor = in.waiter();
    auto& waiter = writer(in, in.holds);
    co_await survivor.acquire_renewed();
    auto const waiting = in.start(waiter.acquire(long_lease));
    co_await in.until_parked();
    kill();
    co_await sleep_for(2 * renewed_lease + renewed_lease / 2);
    in.expect(co_await survivor.holds(), "a reader lost its lease with another one that died");
    in.expect(!waiting->done, "a writer was granted beside a reader");
    in.expect(in.probe.hgetall(in.key).size() >= 2, "the hold of a living reader is gone");
    in.expect(co_await survivor.release(), "a reader could not release");
    if (in.expect(co_await in.granted(waiting), "a reader that died is waited for")) {
        co_await waiter.release();
    }
}

task a_reader_that_dies_ends_by_itself(situation& in) {
    if (in.holds == party::java) {
        java_peer victim{
            {.version = in.version, .port = in.server.tcp_port(), .watchdog = renewed_lease}
        };
        co_await victim.ready();
        auto const reader = in.kind.java(victim, in.key);
        co_await reader->acquire_renewed();
        std::function<void()> const kill = [&] { victim.kill(); };
        co_await outlive(in, kill);
        co_return;
    }
    child_process victim{{HOLDFAST_TEST_HOLDER, in.server.tcp_url(), in.key, in.kind.holder_word}};
    auto const held = [&] { return in.probe.exists(in.key); };
    if (in.expect(co_await co_eventually(soon, held), "the reader did not start")) {
        std::function<void()> const kill = [&] { victim.kill(); };
        co_await outlive(in, kill);
    }
}

task both_renew_what_they_read(situation& in) {
    auto& first = in.holder();
    auto& second = in.waiter();
    co_await first.acquire_renewed();
    co_await second.acquire_renewed();
    bool had_expiry = true;
    auto const end = steady_clock::now() + 3 * renewed_lease + renewed_lease / 2;
    while (steady_clock::now() < end) {
        milliseconds const left{in.probe.pttl(in.key)};
        had_expiry = had_expiry && left > 0s && left <= renewed_lease;
        co_await sleep_for(100ms);
    }
    in.expect(had_expiry, "the lock was gone, or had a wrong expiry");
    in.expect(co_await first.holds(), "the first reader lost what it renews");
    in.expect(co_await second.holds(), "the second reader lost what it renews");
    in.expect(co_await first.release(), "the first reader could not release");
    in.expect(co_await second.release(), "the second reader could not release");
    co_await sleep_for(renewed_lease / 2);
    in.expect(!in.probe.exists(in.key), "a lock came back after its release");
}

task readers_that_lose_it_by_force_are_told(situation& in) {
    auto& reader = in.holder();
    auto& by_force = in.waiter();
    auto& waiter = writer(in, in.waits());
    co_await reader.acquire_renewed();
    auto const waiting = in.start(waiter.acquire(long_lease));
    co_await in.until_parked();
    in.expect(co_await by_force.force(), "a lock that is read looked free to whoever forced it");
    in.expect(co_await in.granted(waiting), "a forced release woke nobody");
    bool told = false;
    for (auto const end = steady_clock::now() + soon; !told && steady_clock::now() < end;) {
        told = !co_await reader.holds();
        co_await sleep_for(50ms);
    }
    in.expect(told, "the former reader does not learn that the lock was taken");
    in.expect(!co_await reader.release(), "the former reader's release succeeded");
    in.expect(!co_await by_force.force(), "a lock that is written looked read");
    in.expect(co_await waiter.release(), "the writer could not release");
}

task each_sees_who_reads(situation& in) {
    auto& reader = in.holder();
    auto& other = in.waiter();
    in.expect(!(co_await other.look()).held, "a free lock looks read");
    co_await reader.acquire(long_lease);
    auto const seen = co_await other.look();
    in.expect(seen.held, "a lock that is read looks free");
    in.expect(seen.remaining > long_lease - soon, "the remaining time is too short");
    in.expect(seen.remaining <= long_lease, "the remaining time is too long");
    auto const lock = in.ours.read_write_lock(in.key);
    auto const info = co_await lock.write().inspect();
    in.expect(!info.held, "a lock that is read looks written");
    in.expect(info.readers == 1, "the readers are not counted");
    co_await reader.release();
    in.expect(!(co_await other.look()).held, "a lock that was given back looks read");
}

}  // namespace

std::vector<check> reading_checks() {
    return {
        {"both_read_and_neither_writes", begins::both, &both_read_and_neither_writes},
        {"a_writer_is_told_when_the_last_reader_has_gone",
         begins::both,
         &a_writer_is_told_when_the_last_reader_has_gone},
        {"readers_are_told_when_the_writer_has_gone",
         begins::both,
         &readers_are_told_when_the_writer_has_gone},
        {"a_re_entrant_reader_is_waited_for", begins::both, &a_re_entrant_reader_is_waited_for},
        {"a_writer_goes_on_as_a_reader", begins::both, &a_writer_goes_on_as_a_reader},
        {"a_reader_that_dies_ends_by_itself", begins::both, &a_reader_that_dies_ends_by_itself},
        {"both_renew_what_they_read", begins::both, &both_renew_what_they_read},
        {"readers_that_lose_it_by_force_are_told",
         begins::both,
         &readers_that_lose_it_by_force_are_told},
        {"each_sees_who_reads", begins::both, &each_sees_who_reads},
    };
}

}  // namespace holdfast::test
