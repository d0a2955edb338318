// A counting semaphore beside Redisson's RSemaphore. Who "holds" has the permits first.

#include "interop/checks.hpp"

#include <boost/asio/cancel_after.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

namespace {

/// One who uses the semaphore: a task of ours, or a thread of Redisson's.
class side {
public:
    side(situation& in, party who, std::string name)
        : in_{in},
          ours_{who == party::ours},
          thread_{in.java.new_thread()},
          name_{std::move(name)} {}
    side(situation& in, party who) : side{in, who, in.key} {}

    asio::awaitable<bool> set(std::int64_t permits) {
        if (ours_) {
            co_return co_await here().try_set_permits(permits, asio::use_awaitable);
        }
        co_return co_await tell("set", permits) == "true";
    }
    asio::awaitable<bool> acquire(std::int64_t permits) {
        if (ours_) {
            co_await here().acquire(permits, asio::use_awaitable);
        } else {
            co_await tell("acquire", permits);
        }
        co_return true;
    }
    asio::awaitable<bool> try_acquire(std::int64_t permits) {
        if (ours_) {
            co_return co_await here().try_acquire(permits, asio::use_awaitable);
        }
        co_return co_await tell("try", permits) == "true";
    }
    asio::awaitable<bool> release(std::int64_t permits) {
        if (ours_) {
            co_await here().release(permits, asio::use_awaitable);
        } else {
            co_await tell("release", permits);
        }
        co_return true;
    }
    asio::awaitable<bool> add(std::int64_t permits) {
        if (ours_) {
            co_await here().add_permits(permits, asio::use_awaitable);
        } else {
            co_await tell("add", permits);
        }
        co_return true;
    }
    asio::awaitable<std::int64_t> drain() {
        if (ours_) {
            co_return co_await here().drain(asio::use_awaitable);
        }
        co_return std::stoll(co_await tell("drain", 0));
    }
    asio::awaitable<std::int64_t> available() {
        if (ours_) {
            co_return co_await here().available(asio::use_awaitable);
        }
        co_return std::stoll(co_await tell("available", 0));
    }

private:
    counting_semaphore here() const { return in_.ours.counting_semaphore(name_); }
    asio::awaitable<std::string> tell(std::string command, std::int64_t number) {
        auto words = "semaphore." + command + " " + name_ + " " + std::to_string(number);
        return in_.java.tell(thread_, std::move(words));
    }

    situation& in_;
    bool ours_;
    std::string thread_;
    std::string name_;
};

// A check that failed may leave one waiting.
std::shared_ptr<side> make(situation& in, party who) {
    return std::make_shared<side>(in, who);
}

asio::awaitable<bool> take(std::shared_ptr<side> who, std::int64_t permits) {
    co_return co_await who->acquire(permits);
}

task until_listening(situation& in, std::string channel) {
    auto const listens = [&] { return in.probe.pubsub_numsub(channel) > 0; };
    in.expect(co_await co_eventually(soon, listens), "nobody waits for the message of a release");
    co_await sleep_for(300ms);
}
task until_listening(situation& in) {
    return until_listening(in, "redisson_sc:{" + in.key + "}");
}

task they_are_set_once_and_both_see_them(situation& in) {
    auto const one = make(in, in.holds);
    auto const other = make(in, in.waits());
    in.expect(!co_await other->try_acquire(1), "there are permits before they were set");
    in.expect(co_await one->set(5), "they could not be set");
    in.expect(!co_await other->set(9), "they were set twice");
    in.expect(co_await other->try_acquire(2), "there were not enough");
    in.expect(co_await one->available() == 3, "the one does not see what the other took");
    in.expect(!co_await one->try_acquire(4), "more were taken than there were");
    co_await one->release(2);
    in.expect(co_await other->available() == 5, "the other does not see what was given back");
}

// The message says how many there are then: any number is one to wake up for.
task a_release_wakes_the_other_one(situation& in) {
    auto const one = make(in, in.holds);
    co_await one->set(0);
    for (std::int64_t permits = 1; permits <= 3; ++permits) {
        auto const waiting = in.start(take(make(in, in.waits()), permits));
        co_await until_listening(in);
        in.expect(!waiting->done, "permits were taken that were not there");
        co_await one->release(permits);
        in.expect(co_await in.granted(waiting), "the waiter was not woken");
        in.expect(co_await one->available() == 0, "the waiter has taken another number");
    }
}

task who_wants_several_waits_until_there_are_enough(situation& in) {
    auto const one = make(in, in.holds);
    co_await one->set(1);
    auto const waiting = in.start(take(make(in, in.waits()), 3));
    co_await until_listening(in);
    co_await one->release(1);
    co_await sleep_for(300ms);
    in.expect(!waiting->done, "permits were taken that were not there");
    co_await one->release(1);
    in.expect(co_await in.granted(waiting), "the waiter was not woken");
}

struct counted_pool {
    int inside = 0;
    int most = 0;
};

asio::awaitable<bool> work(std::shared_ptr<side> who, std::shared_ptr<counted_pool> in) {
    for (int i = 0; i < 10; ++i) {
        co_await who->acquire(1);
        in->most = std::max(in->most, ++in->inside);
        co_await sleep_for(2ms);
        --in->inside;
        co_await who->release(1);
    }
    co_return true;
}

task both_share_them(situation& in) {
    auto const one = make(in, in.holds);
    co_await one->set(2);
    auto const pool = std::make_shared<counted_pool>();
    std::vector<std::shared_ptr<outcome<bool>>> all;
    for (int i = 0; i < 8; ++i) {
        all.push_back(in.start(work(make(in, i % 2 ? party::ours : party::java), pool)));
    }
    for (auto const& each : all) {
        in.expect(co_await in.granted(each, 2 * soon), "one did not get its turns");
    }
    in.expect(pool->most <= 2, "more were taken than there were");
    in.expect(co_await one->available() == 2, "not all were given back");
}

task there_may_be_less_than_none(situation& in) {
    auto const one = make(in, in.holds);
    auto const other = make(in, in.waits());
    co_await one->set(1);
    co_await one->add(-3);
    in.expect(co_await other->available() == -2, "the other sees another number");
    in.expect(!co_await other->try_acquire(1), "one was taken of less than none");
    auto const waiting = in.start(take(make(in, in.waits()), 1));
    co_await until_listening(in);
    co_await one->add(2);
    co_await one->add(1);
    in.expect(co_await in.granted(waiting), "the waiter was not woken");
}

task one_takes_all_that_there_are(situation& in) {
    auto const one = make(in, in.holds);
    auto const other = make(in, in.waits());
    co_await one->set(4);
    in.expect(co_await other->drain() == 4, "there were not so many");
    in.expect(!co_await one->try_acquire(1), "some are left");
    in.expect(co_await one->drain() == 0, "some are left");
}

task permits_may_be_given_back_to_one_that_was_not_set(situation& in) {
    auto const one = make(in, in.holds);
    auto const waiting = in.start(take(make(in, in.waits()), 2));
    co_await until_listening(in);
    co_await one->release(2);
    in.expect(co_await in.granted(waiting), "the waiter was not woken");
}

task a_name_with_braces(situation& in) {
    auto const name = "a{" + in.key + "}";
    auto const one = std::make_shared<side>(in, in.holds, name);
    co_await one->set(0);
    auto const waiting = in.start(take(std::make_shared<side>(in, in.waits(), name), 1));
    co_await until_listening(in, "redisson_sc:" + name);
    co_await one->release(1);
    in.expect(co_await in.granted(waiting), "the waiter was not woken");
}

task a_waiter_of_ours_that_gives_up_takes_nothing(situation& in) {
    auto const one = make(in, party::java);
    co_await one->set(1);
    in.expect(co_await one->try_acquire(1), "there was not one");
    auto const [ec] =
        co_await in.ours.counting_semaphore(in.key).acquire(asio::cancel_after(300ms, as_result));
    in.expect(ec == asio::error::operation_aborted, "it did not end when it was cancelled");
    co_await one->release(1);
    co_await sleep_for(300ms);
    in.expect(co_await one->available() == 1, "something was taken");
}

}  // namespace

primitive counting_semaphore_primitive() {
    return {
        .name = "counting_semaphore",
        .has_tokens = false,
        .ours = {},
        .java = {},
        .inspect = {},
        .checks =
            {{"they_are_set_once_and_both_see_them",
              begins::both,
              &they_are_set_once_and_both_see_them},
             {"a_release_wakes_the_other_one", begins::both, &a_release_wakes_the_other_one},
             {"who_wants_several_waits_until_there_are_enough",
              begins::both,
              &who_wants_several_waits_until_there_are_enough},
             {"both_share_them", begins::both, &both_share_them},
             {"there_may_be_less_than_none", begins::both, &there_may_be_less_than_none},
             {"one_takes_all_that_there_are", begins::both, &one_takes_all_that_there_are},
             {"permits_may_be_given_back_to_one_that_was_not_set",
              begins::both,
              &permits_may_be_given_back_to_one_that_was_not_set},
             {"a_name_with_braces", begins::both, &a_name_with_braces},
             {"a_waiter_of_ours_that_gives_up_takes_nothing",
              begins::java,
              &a_waiter_of_ours_that_gives_up_takes_nothing}},
    };
}

}  // namespace holdfast::test
