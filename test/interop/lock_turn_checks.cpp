// How a lock goes from one side to the other while nothing goes wrong.

#include "interop/checks.hpp"

#include <algorithm>
#include <vector>

namespace holdfast::test {

namespace {

task exclusion(situation& in) {
    auto& holder = in.holder();
    auto& waiter = in.waiter();
    for (int turn = 0; turn < 2; ++turn) {
        auto& first = turn == 0 ? holder : waiter;
        auto& second = turn == 0 ? waiter : holder;
        co_await first.acquire(long_lease);
        in.expect(!co_await second.try_acquire(), "the other one got a lock that is held");
        auto const waiting = in.start(second.acquire(long_lease));
        co_await in.until_parked();
        in.expect(!waiting->done, "the other one did not wait for the release");
        in.expect(co_await first.holds(), "the holder does not know that it is");
        in.expect(co_await first.release(), "the holder could not release");
        if (!in.expect(
                co_await in.granted(waiting),
                "the other one got nothing after the release"
            )) {
            co_return;
        }
        in.expect(!co_await first.holds(), "a former holder thinks that it holds the lock");
        in.expect(co_await second.release(), "the next holder could not release");
        in.expect(!in.probe.exists(in.key), "the lock is held by nobody, and not free");
    }
}

task wake_up_by_message(situation& in) {
    constexpr milliseconds told = 10s;
    auto& holder = in.holder();
    auto& waiter = in.waiter();
    co_await holder.acquire(long_lease);
    auto const waiting = in.start(waiter.acquire(long_lease));
    co_await in.until_parked();
    co_await holder.release();
    auto const released = steady_clock::now();
    in.expect(co_await in.granted(waiting), "the release woke nobody");
    in.expect(waiting->at - released < told, "it was not woken by the message");
    co_await waiter.release();
}

asio::awaitable<bool> take_once(lock_actor& who, milliseconds lease) {
    co_await who.acquire(lease);
    co_return co_await who.release();
}

task each_who_waits_is_served(situation& in) {
    constexpr int of_each = 3;
    auto& holder = in.holder();
    co_await holder.acquire(long_lease);
    std::vector<std::shared_ptr<outcome<bool>>> turns;
    for (int i = 0; i < of_each; ++i) {
        for (auto const which : {party::ours, party::java}) {
            auto const lease = which == party::java ? in.kind.java_lease : long_lease;
            turns.push_back(in.start(take_once(in.actor(which, in.key), lease)));
        }
    }
    co_await in.until_parked();
    auto const served = [](auto const& one) { return one->done && one->value; };
    in.expect(std::ranges::none_of(turns, served), "somebody was served while the lock was held");
    co_await holder.release();
    auto const all_served = [&] { return std::ranges::all_of(turns, served); };
    if (!in.expect(co_await co_eventually(soon, all_served), "not all who waited were served")) {
        for (std::size_t i = 0; i < turns.size(); ++i) {
            auto const whose = i % 2 == 0 ? "one of ours" : "one of Java's";
            in.expect(served(turns[i]), whose + std::string{" was not"});
        }
    }
}

task the_last_release_of_a_re_entrant_holder_frees_it(situation& in) {
    auto& holder = in.holder();
    auto& waiter = in.waiter();
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
        in.expect(co_await holder.holds(), "the holder lost its other holds");
    }
    in.expect(co_await holder.release(), "the last hold could not be given back");
    in.expect(co_await in.granted(waiting), "the last release did not free the lock");
    co_await waiter.release();
}

task names_with_braces(situation& in) {
    auto const plain = in.key;
    for (auto const& name : {plain + "{b}c", "{" + plain + "}c", plain + "{b", plain + "}b{c}"}) {
        auto& holder = in.actor(in.holds, name);
        auto& waiter = in.actor(in.waits(), name);
        auto const token = co_await holder.acquire(long_lease);
        bool const got_it = co_await waiter.try_acquire();
        in.expect(!got_it, name + ": no exclusion");
        auto const waiting = in.start(waiter.acquire(long_lease));
        co_await in.until_parked(name);
        co_await holder.release();
        bool const woken = co_await in.granted(waiting);
        if (in.expect(woken, name + ": the release woke nobody")) {
            in.expect(in.grew(token, waiting->value), name + ": the token did not grow");
            co_await waiter.release();
        }
    }
}

task a_busy_lock_is_refused_at_once(situation& in) {
    auto& holder = in.holder();
    auto& waiter = in.waiter();
    in.expect(co_await holder.try_acquire(), "a free lock was refused");
    auto const asked = steady_clock::now();
    in.expect(!co_await waiter.try_acquire(), "a lock that is held was granted");
    in.expect(steady_clock::now() - asked < soon, "the answer took long");
    in.expect(!co_await waiter.holds(), "who was refused thinks that it holds the lock");
    co_await holder.release();
    in.expect(co_await waiter.try_acquire(), "a lock that was given back was refused");
    in.expect(!co_await holder.try_acquire(), "the lock was granted twice");
    co_await waiter.release();
}

task waiting_has_a_limit(situation& in) {
    constexpr milliseconds wait = 700ms;
    auto& holder = in.holder();
    auto& waiter = in.waiter();
    co_await holder.acquire(long_lease);
    auto const asked = steady_clock::now();
    in.expect(!co_await waiter.try_acquire_for(wait), "a lock that is held was granted");
    auto const took = steady_clock::now() - asked;
    in.expect(took >= wait - 50ms, "it gave up too early");
    in.expect(took < wait + soon, "it waited for too long");
    auto const patient = in.start(waiter.try_acquire_for(2 * soon));
    co_await in.until_parked();
    co_await holder.release();
    in.expect(co_await in.granted(patient) && patient->value, "who still waited got nothing");
    // Who gave up has left nothing behind that would be served.
    if (patient->done && patient->value) {
        co_await waiter.release();
    }
    in.expect(co_await holder.try_acquire_for(soon), "the lock went to one who gave up");
    co_await holder.release();
}

task each_sees_the_others_holder(situation& in) {
    auto& holder = in.holder();
    auto& waiter = in.waiter();
    in.expect(!(co_await waiter.look()).held, "a free lock looks held");
    auto const token = co_await holder.acquire(long_lease);
    auto const seen = co_await waiter.look();
    in.expect(seen.held, "a lock that is held looks free");
    in.expect(seen.remaining > long_lease - soon, "the remaining time is too short");
    in.expect(seen.remaining <= long_lease, "the remaining time is too long");
    if (in.holds == party::java) {
        co_await holder.acquire(long_lease);
        auto const info = co_await in.kind.inspect(in.ours, in.key);
        in.expect(info.hold_count == 2, "the holds of a Java thread are not counted");
        bool const seen_token = info.last_token.value == token + 1 || !in.kind.has_tokens;
        in.expect(seen_token, "the token of a Java thread is not seen");
        auto const field = info.holder + in.kind.field_end;
        in.expect(in.probe.hgetall(in.key).contains(field), "the holder is named wrongly");
        co_await holder.release();
    }
    co_await holder.release();
    in.expect(!(co_await waiter.look()).held, "a lock that was given back looks held");
}

}  // namespace

std::vector<check> lock_turn_checks() {
    return {
        {"exclusion", begins::both, &exclusion},
        {"wake_up_by_message", begins::both, &wake_up_by_message},
        {"each_who_waits_is_served", begins::both, &each_who_waits_is_served},
        {"the_last_release_of_a_re_entrant_holder_frees_it",
         begins::both,
         &the_last_release_of_a_re_entrant_holder_frees_it},
        {"names_with_braces", begins::both, &names_with_braces},
        {"a_busy_lock_is_refused_at_once", begins::both, &a_busy_lock_is_refused_at_once},
        {"waiting_has_a_limit", begins::both, &waiting_has_a_limit},
        {"each_sees_the_others_holder", begins::both, &each_sees_the_others_holder},
    };
}

}  // namespace holdfast::test
