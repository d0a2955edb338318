// Tokens, which grow whoever is granted the lock.

#include "interop/checks.hpp"

#include <algorithm>

namespace holdfast::test {

namespace {

task tokens_grow_over_one_another(situation& in) {
    auto& holder = in.holder();
    auto& waiter = in.waiter();
    std::uint64_t last = 0;
    auto const take = [&](std::uint64_t token) {
        in.expect(token > last, "a token is not greater than the one before");
        last = token;
    };
    for (int i = 0; i < 5; ++i) {
        take(co_await holder.acquire(long_lease));
        auto const waiting = in.start(waiter.acquire(long_lease));
        if (i % 2 == 0) {
            co_await sleep_for(50ms);
        }
        co_await holder.release();
        if (!in.expect(co_await in.granted(waiting), "the lock was not handed over")) {
            co_return;
        }
        take(waiting->value);
        co_await waiter.release();
    }
}

// Redisson's delete() takes the counter away with the lock: its own tokens then start at 1.
task tokens_of_ours_grow_when_java_deletes_the_counter(situation& in) {
    auto& ours = in.actor(party::ours, in.key);
    auto& java = in.actor(party::java, in.key);
    std::uint64_t greatest = 0;
    std::string const remove = in.kind.name + ".delete " + in.key;
    auto const counter = "redisson_lock_token:{" + in.key + "}";
    for (int i = 0; i < 3; ++i) {
        if (i != 1) {
            greatest = std::max(greatest, co_await java.acquire(long_lease));
            co_await java.release();
        }
        co_await in.java.tell("delete", remove);
        in.expect(!in.probe.exists(counter), "the counter is still there, so this shows nothing");
        if (i == 2) {
            in.expect(co_await java.acquire(long_lease) == 1, "the counter did not start again");
            co_await java.release();
        }
        auto const token = co_await ours.acquire(long_lease);
        in.expect(token > greatest, "a token of ours is not greater than those before");
        co_await ours.release();
        auto const next = co_await java.acquire(long_lease);
        in.expect(next > token, "a token of Java's is not greater than ours before");
        co_await java.release();
        greatest = next;
    }
}

}  // namespace

std::vector<check> lock_token_checks() {
    return {
        {"tokens_grow_over_one_another", begins::both, &tokens_grow_over_one_another},
        {"tokens_of_ours_grow_when_java_deletes_the_counter",
         begins::java,
         &tokens_of_ours_grow_when_java_deletes_the_counter},
    };
}

}  // namespace holdfast::test
