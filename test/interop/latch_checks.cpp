// A latch beside Redisson's RCountDownLatch. Who "holds" sets it and counts down; the other waits.

#include "interop/checks.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

namespace {

/// One who uses the latch: a task of ours, or a thread of Redisson's.
class side {
public:
    side(situation& in, party who, std::string name)
        : in_{in},
          ours_{who == party::ours},
          thread_{in.java.new_thread()},
          name_{std::move(name)} {}
    side(situation& in, party who) : side{in, who, in.key} {}

    asio::awaitable<bool> set(std::int64_t count) {
        if (ours_) {
            co_return co_await in_.ours.latch(name_).try_set(count, asio::use_awaitable);
        }
        co_return co_await tell("set", std::to_string(count)) == "true";
    }
    asio::awaitable<bool> down() {
        if (ours_) {
            co_await in_.ours.latch(name_).count_down(asio::use_awaitable);
        } else {
            co_await tell("down");
        }
        co_return true;
    }
    asio::awaitable<std::int64_t> count() {
        if (ours_) {
            co_return co_await in_.ours.latch(name_).count(asio::use_awaitable);
        }
        co_return std::stoll(co_await tell("count"));
    }
    asio::awaitable<bool> wait() {
        if (ours_) {
            co_await in_.ours.latch(name_).wait(asio::use_awaitable);
        } else {
            co_await tell("wait");
        }
        co_return true;
    }

private:
    asio::awaitable<std::string> tell(std::string command, std::string words = {}) {
        return in_.java.tell(thread_, "latch." + command + " " + name_ + " " + words);
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

asio::awaitable<bool> wait_at(std::shared_ptr<side> who) {
    co_return co_await who->wait();
}

task until_listening(situation& in, std::string name) {
    auto const channel = "redisson_countdownlatch__channel__{" + name + "}";
    auto const listens = [&] { return in.probe.pubsub_numsub(channel) > 0; };
    in.expect(co_await co_eventually(soon, listens), "nobody waits for the message of the latch");
    co_await sleep_for(300ms);
}

task it_is_set_once_and_both_see_it(situation& in) {
    auto const one = make(in, in.holds);
    auto const other = make(in, in.waits());
    in.expect(co_await one->count() == 0, "there is a count before it was set");
    in.expect(co_await one->set(3), "it could not be set");
    in.expect(!co_await other->set(5), "it was set twice");
    in.expect(co_await one->count() == 3, "the one who set it sees another count");
    in.expect(co_await other->count() == 3, "the other one sees another count");
    co_await other->down();
    in.expect(co_await one->count() == 2, "a count-down of the other one is not seen");
    in.expect(in.probe.pttl(in.key) == -1, "it has an expiry");
}

task the_last_count_down_lets_the_other_pass(situation& in) {
    auto const one = make(in, in.holds);
    co_await one->set(2);
    auto const waiting = in.start(wait_at(make(in, in.waits())));
    co_await until_listening(in, in.key);
    co_await one->down();
    co_await sleep_for(300ms);
    in.expect(!waiting->done, "it opened too early");
    co_await one->down();
    in.expect(co_await in.granted(waiting), "the waiter did not pass");
    in.expect(!in.probe.exists(in.key), "a latch that is open is left");
}

task all_who_wait_on_both_sides_pass(situation& in) {
    auto const one = make(in, in.holds);
    co_await one->set(1);
    std::vector<std::shared_ptr<outcome<bool>>> waiting;
    for (int i = 0; i < 6; ++i) {
        auto const who = i % 2 ? party::ours : party::java;
        waiting.push_back(in.start(wait_at(make(in, who))));
    }
    co_await until_listening(in, in.key);
    co_await one->down();
    for (auto const& each : waiting) {
        in.expect(co_await in.granted(each), "a waiter did not pass");
    }
}

task one_that_is_not_set_is_open(situation& in) {
    auto const one = make(in, in.holds);
    co_await one->down();
    in.expect(!in.probe.exists(in.key), "counting down an open latch leaves something");
    auto const waiting = in.start(wait_at(make(in, in.waits())));
    in.expect(co_await in.granted(waiting), "it is not open");
}

task it_can_be_set_again(situation& in) {
    auto const one = make(in, in.holds);
    for (int i = 0; i < 3; ++i) {
        in.expect(co_await one->set(1), "it could not be set again");
        auto const waiting = in.start(wait_at(make(in, in.waits())));
        co_await until_listening(in, in.key);
        in.expect(!waiting->done, "it was open before it was counted down");
        co_await one->down();
        in.expect(co_await in.granted(waiting), "the waiter did not pass");
    }
}

task set_to_zero_it_is_open_and_set(situation& in) {
    auto const one = make(in, in.holds);
    auto const other = make(in, in.waits());
    in.expect(co_await one->set(0), "it could not be set to zero");
    auto const waiting = in.start(wait_at(other));
    in.expect(co_await in.granted(waiting), "it is not open");
    in.expect(!co_await other->set(2), "it was set twice");
    co_await other->down();
    in.expect(co_await one->set(2), "it could not be set after it was counted down");
}

task both_sides_count(situation& in) {
    auto const one = make(in, in.holds);
    auto const other = make(in, in.waits());
    co_await one->set(20);
    auto const waiting = in.start(wait_at(make(in, in.waits())));
    for (int i = 0; i < 10; ++i) {
        in.expect(!waiting->done, "it opened too early");
        co_await one->down();
        co_await other->down();
    }
    in.expect(co_await in.granted(waiting), "the waiter did not pass");
}

task a_name_with_braces(situation& in) {
    auto const name = "a{" + in.key + "}";
    auto const one = std::make_shared<side>(in, in.holds, name);
    co_await one->set(1);
    auto const waiting = in.start(wait_at(std::make_shared<side>(in, in.waits(), name)));
    co_await until_listening(in, name);
    co_await one->down();
    in.expect(co_await in.granted(waiting), "the waiter did not pass");
}

// Redisson's own waiters are not woken by that.
task one_that_java_deletes_is_open(situation& in) {
    auto const one = make(in, party::java);
    co_await one->set(1);
    auto const waiting = in.start(wait_at(make(in, party::ours)));
    co_await until_listening(in, in.key);
    auto const said = co_await in.java.tell(in.java.new_thread(), "latch.delete " + in.key);
    in.expect(said == "true", "it could not be deleted");
    in.expect(co_await in.granted(waiting), "the waiter did not pass");
}

task several_at_once_open_it_for_java(situation& in) {
    auto const one = make(in, party::ours);
    co_await one->set(5);
    auto const waiting = in.start(wait_at(make(in, party::java)));
    co_await until_listening(in, in.key);
    co_await in.ours.latch(in.key).count_down(3, asio::use_awaitable);
    in.expect(co_await one->count() == 2, "three at once are not three");
    co_await in.ours.latch(in.key).count_down(7, asio::use_awaitable);
    in.expect(co_await in.granted(waiting), "the waiter did not pass");
}

}  // namespace

primitive latch_primitive() {
    return {
        .name = "latch",
        .has_tokens = false,
        .ours = {},
        .java = {},
        .inspect = {},
        .checks =
            {{"it_is_set_once_and_both_see_it", begins::both, &it_is_set_once_and_both_see_it},
             {"the_last_count_down_lets_the_other_pass",
              begins::both,
              &the_last_count_down_lets_the_other_pass},
             {"all_who_wait_on_both_sides_pass", begins::both, &all_who_wait_on_both_sides_pass},
             {"one_that_is_not_set_is_open", begins::both, &one_that_is_not_set_is_open},
             {"it_can_be_set_again", begins::both, &it_can_be_set_again},
             {"set_to_zero_it_is_open_and_set", begins::both, &set_to_zero_it_is_open_and_set},
             {"both_sides_count", begins::both, &both_sides_count},
             {"a_name_with_braces", begins::both, &a_name_with_braces},
             {"one_that_java_deletes_is_open", begins::java, &one_that_java_deletes_is_open},
             {"several_at_once_open_it_for_java", begins::ours, &several_at_once_open_it_for_java}},
    };
}

}  // namespace holdfast::test
