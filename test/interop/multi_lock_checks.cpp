// Two locks at once, beside programs of the other side that want both, or one of them.

#include "interop/checks.hpp"

#include <algorithm>
#include <array>

namespace holdfast::test {

namespace {

// One who wants a single one of the locks.
lock_actor& single(situation& in, party of, std::string const& name) {
    in.actors.push_back(
        of == party::ours ? our_lock_actor(in.ours, name)
                          : java_lock_actor(in.java, "plain_lock", name, false)
    );
    return *in.actors.back();
}

task all_or_none(situation& in) {
    auto& holder = in.holder();
    auto& waiter = in.waiter();
    std::array const members{in.key, second_of(in.key)};
    co_await holder.acquire(long_lease);
    for (auto const& name : members) {
        in.expect(in.probe.exists(name), "a member is not held");
        auto& other = single(in, in.waits(), name);
        in.expect(!co_await other.try_acquire(), "a member was granted to another one");
    }
    in.expect(!co_await waiter.try_acquire(), "all were granted twice");
    in.expect(co_await holder.release(), "the holder could not release");
    for (auto const& name : members) {
        in.expect(!in.probe.exists(name), "a member was not given back");
    }
    in.expect(co_await waiter.try_acquire(), "what was given back was refused");
    in.expect(!co_await holder.try_acquire(), "all were granted twice");
    in.expect(co_await waiter.release(), "the next holder could not release");
}

task a_member_that_is_busy_leaves_the_others_free(situation& in) {
    for (auto const& busy : {in.key, second_of(in.key)}) {
        auto& holder = single(in, in.holds, busy);
        auto& waiter = in.waiter();
        co_await holder.acquire(long_lease);
        in.expect(!co_await waiter.try_acquire(), "a member that is held was granted");
        auto const free = busy == in.key ? second_of(in.key) : in.key;
        // Ours are given back in the background.
        auto const is_free = [&] { return !in.probe.exists(free); };
        in.expect(co_await co_eventually(soon, is_free), "one who was refused kept a member");
        in.expect(in.probe.exists(busy), "one who was refused released what is not its own");
        in.expect(!co_await waiter.try_acquire_for(500ms), "a member that is held was granted");
        in.expect(co_await co_eventually(soon, is_free), "one who gave up kept a member");
        in.expect(co_await holder.release(), "the holder of a member could not release");
    }
}

// The waiter wants the lock of this name, and finds it held.
task waiter_follows_holder(
    situation& in,
    lock_actor& holder,
    lock_actor& waiter,
    std::string const& name
) {
    co_await holder.acquire(long_lease);
    auto const waiting = in.start(waiter.acquire(long_lease));
    co_await in.until_parked(name);
    in.expect(!waiting->done, name + ": the waiter did not wait");
    in.expect(co_await holder.release(), name + ": the holder could not release");
    if (in.expect(co_await in.granted(waiting), name + ": the release woke nobody")) {
        in.expect(co_await waiter.release(), name + ": the waiter could not release");
    }
}

task one_who_wants_all_waits_for_a_member(situation& in) {
    for (auto const& busy : {in.key, second_of(in.key)}) {
        co_await waiter_follows_holder(in, single(in, in.holds, busy), in.waiter(), busy);
    }
}

task one_who_wants_a_member_waits_for_all(situation& in) {
    for (auto const& wanted : {in.key, second_of(in.key)}) {
        co_await waiter_follows_holder(in, in.holder(), single(in, in.waits(), wanted), wanted);
    }
}

task leases_that_are_not_renewed_end(situation& in) {
    auto& holder = in.holder();
    auto& waiter = in.usual_actor(in.waits());
    co_await holder.acquire(1500ms);
    auto const waiting = in.start(waiter.acquire(long_lease));
    in.expect(co_await in.granted(waiting), "the leases ended, and nobody got the locks");
    in.expect(!co_await holder.release(), "a former holder gave back what it had lost");
    in.expect(in.probe.exists(in.key) && in.probe.exists(second_of(in.key)), "it was cut short");
    in.expect(co_await waiter.release(), "the next holder could not release");
}

task renewed_leases_stay_their_holders(situation& in) {
    auto& holder = in.usual_actor(in.holds);
    co_await holder.acquire_renewed();
    co_await sleep_for(2 * renewed_lease);
    for (auto const& name : {in.key, second_of(in.key)}) {
        auto& other = single(in, in.waits(), name);
        in.expect(!co_await other.try_acquire(), "a renewed member was granted to another one");
    }
    in.expect(co_await holder.release(), "the holder of renewed locks lost them");
}

}  // namespace

primitive multi_lock_primitive() {
    primitive made{
        .name = "multi_lock",
        .has_tokens = false,
        .ours = &our_multi_lock_actor,
        .java = [](java_peer& by, std::string const& name
                ) { return java_lock_actor(by, "multi_lock", name, false); },
        .checks =
            {
                {"all_or_none", begins::both, &all_or_none},
                {"a_member_that_is_busy_leaves_the_others_free",
                 begins::both,
                 &a_member_that_is_busy_leaves_the_others_free},
                {"one_who_wants_all_waits_for_a_member",
                 begins::both,
                 &one_who_wants_all_waits_for_a_member},
                {"one_who_wants_a_member_waits_for_all",
                 begins::both,
                 &one_who_wants_a_member_waits_for_all},
                {"leases_that_are_not_renewed_end", begins::both, &leases_that_are_not_renewed_end},
                {"renewed_leases_stay_their_holders",
                 begins::both,
                 &renewed_leases_stay_their_holders},
            },
    };
    // These do not ask a Java object of several locks who holds them, which it cannot tell.
    for (auto const& one : lock_turn_checks()) {
        if (one.name == "wake_up_by_message" || one.name == "each_who_waits_is_served" ||
            one.name == "waiting_has_a_limit") {
            made.checks.push_back(one);
        }
    }
    return made;
}

}  // namespace holdfast::test
